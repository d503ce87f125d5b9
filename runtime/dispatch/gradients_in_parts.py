"""Fused backward operators, decomposed for double backward and for `torch.vmap` over a backward pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .._torch.exported import decomposition_table


def linear_backward(self: torch.Tensor, grad_output: torch.Tensor, weight: torch.Tensor, mask: Sequence[bool]) -> Any:
    """The gradients of input, weight and bias of a linear layer with inputs of at least two axes, or None."""
    rows = grad_output.flatten(0, -2)
    return (
        grad_output.matmul(weight) if mask[0] else None,
        rows.t().matmul(self.flatten(0, -2)) if mask[1] else None,
        rows.sum(0) if mask[2] else None,
    )


def matmul_backward(grad: torch.Tensor, self: torch.Tensor, other: torch.Tensor, mask: Sequence[bool]) -> Any:
    """The gradients of both factors, or None; `other` is a matrix, or has the batch axes of `self`."""
    left, right = (self, grad) if other.dim() > 2 else (self.flatten(0, -2), grad.flatten(0, -2))
    return (grad.matmul(other.mT) if mask[0] else None, left.mT.matmul(right) if mask[1] else None)


def decomposition(name: str) -> Callable[..., Any]:
    """That of this module, or torch's own."""
    return globals().get(name) or decomposition_table[getattr(torch.ops.aten, name).default]
