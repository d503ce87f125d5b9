"""Tensors that are made of others and have no memory of their own, such as DTensor, by torch's protocol for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from .._torch.tensors import is_wrapper as is_wrapper


def parts_of(tensor: Any) -> dict[str, torch.Tensor]:
    """The tensors of the device that a wrapper is made of, by its attributes; of any other tensor, itself."""
    if not is_wrapper(tensor):
        return {"": tensor} if tensor.device.type == "jax" and tensor.layout is torch.strided else {}
    found: dict[str, torch.Tensor] = {}
    for name in tensor.__tensor_flatten__()[0]:
        inner = getattr(tensor, name)
        if isinstance(inner, torch.Tensor):
            found |= {f"{name}.{rest}".rstrip("."): part for rest, part in parts_of(inner).items()}
    return found


def part_at(tensor: Any, path: str, like: Any) -> torch.Tensor:
    """The tensor at a place of a wrapper.

    Raises:
        ValueError: the wrapper is another one than it was.
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
    """The part of a DTensor on this rank, placed as another one is; of any other tensor, itself."""
    if not is_distributed(tensor):
        return tensor
    placed = tensor if tensor.placements == like.placements else tensor.redistribute(placements=like.placements)
    return placed.to_local()


def wrapping(tensor: Any) -> Any:
    """What a wrapper says of its tensors; None of any other tensor."""
    if not is_wrapper(tensor):
        return None
    names, context = tensor.__tensor_flatten__()
    inner = [wrapping(x) if isinstance(x := getattr(tensor, n), torch.Tensor) else x for n in names]
    return type(tensor), context, inner


@dataclass(frozen=True, slots=True)
class Wrapping:
    """How a wrapper is made of its parts."""

    cls: type
    names: tuple[str, ...]
    context: Any
    size: Any
    stride: Any
    requires_grad: bool
    is_parameter: bool

    @staticmethod
    def of(tensor: Any) -> Wrapping:
        """That of a wrapper."""
        names, context = tensor.__tensor_flatten__()
        shape = tensor.size(), tensor.stride()
        parameter = isinstance(tensor, torch.nn.Parameter)
        return Wrapping(type(tensor), tuple(names), context, *shape, tensor.requires_grad, parameter)

    def make(self, parts: dict[str, Any]) -> torch.Tensor:
        """The wrapper of parts."""
        tensor = self.cls.__tensor_unflatten__(parts, self.context, self.size, self.stride)  # type: ignore[attr-defined]
        if self.is_parameter:
            return torch.nn.Parameter(tensor, self.requires_grad)
        return tensor.detach().requires_grad_(self.requires_grad)
