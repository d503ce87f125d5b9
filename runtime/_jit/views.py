"""Results that share memory with another tensor. Each call makes them views of it, as eager mode does, so that autograd
sees a write to either: they have one version counter, and a differentiable view has its base's history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch.autograd.function import BackwardCFunction

from .._torch.autograd import preserved_versions
from ..storage.spec import TensorSpec


class View(NamedTuple):
    """A result that is a view."""

    base: Any  # the description of the tensor
    spec: TensorSpec
    grad: bool | None  # the grad mode in which it is made; None if it is detached

    def of(self, base: torch.Tensor) -> torch.Tensor:
        """The view of the tensor of one call."""
        with torch.set_grad_enabled(bool(self.grad)):
            return self.spec.viewed(base.detach() if self.grad is None else base)


class Relation(NamedTuple):
    """How a tensor of the traced run came from another on the same storage."""

    base: torch.Tensor
    grad: bool | None  # as in `View`
    repeatable: bool  # whether a view of `base` has the tensor's history


def relation(tensor: torch.Tensor, others: Sequence[torch.Tensor]) -> Relation | None:
    """Find the tensor of which another one is a view; None if none of `others`, tensors on its storage, shares its
    version counter (`.data`)."""
    if tensor.is_inference():
        return None
    root = tensor._base
    if root is not None:
        for base in (x for x in others if x is root or x._base is root):
            made = tensor.grad_fn is not None
            return Relation(base, made or not root.requires_grad, not made or _is_plain_view(tensor, root))
    for base in others:
        if base is not tensor and not base.is_inference() and _share_version(base, tensor):
            return Relation(base, None, tensor.grad_fn is None)
    return None


def _is_plain_view(tensor: torch.Tensor, root: torch.Tensor) -> bool:
    """Whether no function in Python (`autograd.Function`) stands between a view and its base."""
    node: Any = tensor.grad_fn
    while node is not None and node is not root.grad_fn and not hasattr(node, "variable"):
        if isinstance(node, BackwardCFunction) or len(node.next_functions) != 1:
            return False
        node = node.next_functions[0][0]
    return True


def _share_version(a: torch.Tensor, b: torch.Tensor) -> bool:
    before = b._version
    with preserved_versions((a,)):
        torch.autograd.graph.increment_version(a)
        return b._version != before
