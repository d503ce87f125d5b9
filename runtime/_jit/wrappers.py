"""Wrapper tensors, such as DTensor, which consist of other tensors and own no memory; uses torch's flatten protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from .._torch import NAME
from .._torch.tensors import is_wrapper as is_wrapper


def parts_of(tensor: Any) -> dict[str, torch.Tensor]:
    """The device tensors inside a wrapper, by attribute path; for any other device tensor, itself."""
    if not is_wrapper(tensor):
        return {"": tensor} if tensor.device.type == NAME and tensor.layout is torch.strided else {}
    found: dict[str, torch.Tensor] = {}
    for name in tensor.__tensor_flatten__()[0]:
        inner = getattr(tensor, name)
        if isinstance(inner, torch.Tensor):
            found |= {f"{name}.{rest}".rstrip("."): part for rest, part in parts_of(inner).items()}
    return found


def part_at(tensor: Any, path: str, like: Any) -> torch.Tensor:
    """The tensor at an attribute path of a wrapper.

    Raises:
        ValueError: the wrapper's class or layout differs from `like`.
    """
    if wrapping(tensor) != like:
        raise ValueError("a tensor of another class or layout")
    for name in path.split(".") if path else ():
        tensor = getattr(tensor, name)
    return tensor


def is_distributed(tensor: Any) -> bool:
    """Whether a tensor is a DTensor."""
    if not is_wrapper(tensor):
        return False
    from torch.distributed.tensor import DTensor

    return isinstance(tensor, DTensor)


def local_part(tensor: Any, like: Any) -> torch.Tensor:
    """The local part of a DTensor, redistributed to the placements of `like`; any other tensor itself."""
    if not is_distributed(tensor):
        return tensor
    placed = tensor if tensor.placements == like.placements else tensor.redistribute(placements=like.placements)
    return placed.to_local()


def wrapping(tensor: Any) -> Any:
    """The class, context and nested wrapping of a wrapper, for comparison; None for any other tensor."""
    if not is_wrapper(tensor):
        return None
    names, context = tensor.__tensor_flatten__()
    inner = [wrapping(x) if isinstance(x := getattr(tensor, n), torch.Tensor) else x for n in names]
    return type(tensor), context, inner


@dataclass(frozen=True, slots=True)
class Wrapping:
    """How a wrapper is rebuilt from its parts."""

    cls: type
    names: tuple[str, ...]
    context: Any
    size: Any
    stride: Any
    requires_grad: bool
    is_parameter: bool

    @staticmethod
    def of(tensor: Any) -> Wrapping:
        """The wrapping of a wrapper."""
        names, context = tensor.__tensor_flatten__()
        shape = tensor.size(), tensor.stride()
        parameter = isinstance(tensor, torch.nn.Parameter)
        return Wrapping(type(tensor), tuple(names), context, *shape, tensor.requires_grad, parameter)

    def make(self, parts: dict[str, Any]) -> torch.Tensor:
        """Build a wrapper from parts."""
        tensor = self.cls.__tensor_unflatten__(parts, self.context, self.size, self.stride)  # type: ignore[attr-defined]
        if self.is_parameter:
            return torch.nn.Parameter(tensor, self.requires_grad)
        return tensor.detach().requires_grad_(self.requires_grad)
