"""Fused backward operators, decomposed for double backward and for `torch.vmap` over a backward pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


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


def _fused_rms_norm_backward(
    grad_out: torch.Tensor,
    input: torch.Tensor,
    normalized_shape: Sequence[int],
    rstd: torch.Tensor,
    weight: torch.Tensor | None,
    output_mask: Sequence[bool],
) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    """The gradients of input and weight, by the formulas of `kernels/norm.py`.

    Args:
        grad_out: that of the output, shape (..., *normalized_shape).
        input: of the same shape and dtype.
        normalized_shape: the axes over which the norm is taken.
        rstd: 1 / rms, in float32 for half precision.
        weight: of shape `normalized_shape`.
        output_mask: which of the gradients are needed.
    """
    inner = tuple(range(-len(normalized_shape), 0))
    outer = tuple(range(input.dim() - len(normalized_shape)))
    grad, unit = grad_out.to(rstd.dtype), input.to(rstd.dtype) * rstd
    slope = grad if weight is None else grad * weight.to(rstd.dtype)
    of_input = rstd * (slope - unit * (slope * unit).mean(inner, keepdim=True)) if output_mask[0] else None
    of_weight = None
    if output_mask[1] and weight is not None:
        of_weight = (grad * unit).sum(outer) if outer else grad * unit
        of_weight = of_weight.to(weight.dtype)
    return None if of_input is None else of_input.to(input.dtype), of_weight
