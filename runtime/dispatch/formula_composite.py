"""Composites kept whole that torch itself can differentiate: `linear` and `matmul`.

For each, torch has one operator that computes all gradients, but it registers that autograd formula only for nested
tensors. For other tensors it decomposes the call above autograd: a linear layer becomes up to four operators, and its
gradients up to ten. Redispatched with the dispatch key of nested tensors, the formula works for any device.

The call is still decomposed where the difference would be visible: gradients that would have other strides, operands
that the parts would not save, dispatch modes and overrides that expect the parts, function transforms, and forward-mode
AD.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .._torch.autograd import in_forward_mode
from .._torch.dispatcher import COMPOSITE_IMPLICIT, DispatchKey, DispatchKeySet, kernel_on
from .._torch.functorch import are_transforms_active
from .._torch.modes import dispatch_mode_count
from .._torch.operators import decomposition_table
from .._torch.tensors import PLAIN_CLASSES

overridden: set[str] = set()  # operators with an override
_BELOW = DispatchKeySet(DispatchKey.PrivateUse1)
_FORMULA = DispatchKeySet(DispatchKey.AutogradNestedTensor) | _BELOW
_DTYPES = {torch.float32, torch.float64, torch.bfloat16, torch.float16}
_aten = torch.ops.aten
# Torch's C++ decompositions; `op.decompose` would call those written in Python.
_decomposed_linear = kernel_on(_aten.linear.default, COMPOSITE_IMPLICIT)
_decomposed_matmul = kernel_on(_aten.matmul.default, COMPOSITE_IMPLICIT)


def _stays_whole(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor | None = None) -> bool:
    """Whether a product may stay whole: of ordinary tensors of one floating dtype, with no observer of its parts."""
    return (
        type(x) in PLAIN_CLASSES
        and type(y) in PLAIN_CLASSES
        and (z is None or (type(z) in PLAIN_CLASSES and not z.is_neg()))
        and x.dtype is y.dtype
        and x.dtype in _DTYPES
        and x.layout is y.layout is torch.strided
        and not (x.is_neg() or y.is_neg())  # a redispatch skips the kernel that resolves the bit
        and not (dispatch_mode_count() or are_transforms_active() or in_forward_mode() or overridden)
    )


def linear(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> Any:
    """The kernel of `linear` above autograd."""
    op, axes = _aten.linear.default, input.dim()
    if not (axes and weight.dim() == 2 and _stays_whole(input, weight, bias)) or (bias is not None and bias.dim() != 1):
        return _decomposed_linear(input, weight, bias)
    saved = input.requires_grad, weight.requires_grad
    if not torch.is_grad_enabled() or not (any(saved) or (bias is not None and bias.requires_grad)):
        return op.redispatch(_BELOW, input, weight, bias)
    # The formula saves both operands; parts save only those that a gradient needs, which may be written meanwhile.
    whole = axes > 1 and all(saved) and weight.is_contiguous() and weight.numel()
    if whole and (axes > 2 or input.is_contiguous()):
        return op.redispatch(_FORMULA, input, weight, bias)
    return _decomposed_linear(input, weight, bias)


def linear_backward(self: torch.Tensor, grad_output: torch.Tensor, weight: torch.Tensor, mask: list[bool]) -> Any:
    """The kernel of `linear_backward` above autograd: decomposed in grad mode, so that it is differentiable itself."""
    if _stays_whole(grad_output, weight, self) and not torch.is_grad_enabled():
        return _aten.linear_backward.default.redispatch(_BELOW, self, grad_output, weight, mask)
    return _linear_backward(self, grad_output, weight, mask)


def matmul(self: torch.Tensor, other: torch.Tensor) -> Any:
    """The kernel of `matmul` above autograd."""
    op, axes = _aten.matmul.default, self.dim()
    if axes < 3 or not _stays_whole(self, other):
        return _decomposed_matmul(self, other)
    saved = self.requires_grad, other.requires_grad
    if not torch.is_grad_enabled() or not any(saved):
        return op.redispatch(_BELOW, self, other)
    batched = other.dim() == axes and self.shape[:-2] == other.shape[:-2]
    if all(saved) and (batched or (other.dim() == 2 and other.is_contiguous())):
        return op.redispatch(_FORMULA, self, other)
    return _decomposed_matmul(self, other)


def matmul_backward(grad: torch.Tensor, self: torch.Tensor, other: torch.Tensor, mask: list[bool]) -> Any:
    """The kernel of `matmul_backward` above autograd: decomposed in grad mode, so that it is differentiable itself."""
    if _stays_whole(grad, other, self) and not torch.is_grad_enabled():
        return _aten.matmul_backward.default.redispatch(_BELOW, grad, self, other, mask)
    return _matmul_backward(grad, self, other, mask)


def _linear_backward(self: torch.Tensor, grad_output: torch.Tensor, weight: torch.Tensor, mask: list[bool]) -> Any:
    """The gradients of input, weight and bias of a linear layer with inputs of at least two axes, or None."""
    rows = grad_output.flatten(0, -2)
    return (
        grad_output.matmul(weight) if mask[0] else None,
        rows.t().matmul(self.flatten(0, -2)) if mask[1] else None,
        rows.sum(0) if mask[2] else None,
    )


def _matmul_backward(grad: torch.Tensor, self: torch.Tensor, other: torch.Tensor, mask: list[bool]) -> Any:
    """The gradients of both factors, or None; `other` is a matrix, or has the batch axes of `self`."""
    left, right = (self, grad) if other.dim() > 2 else (self.flatten(0, -2), grad.flatten(0, -2))
    return (grad.matmul(other.mT) if mask[0] else None, left.mT.matmul(right) if mask[1] else None)


_IN_PARTS = {f.__name__.removeprefix("_"): f for f in (_linear_backward, _matmul_backward)}


def decomposition(name: str) -> Callable[..., Any]:
    """A fused backward operator in parts, for double backward and for `torch.vmap` over a backward pass."""
    return _IN_PARTS.get(name) or decomposition_table[getattr(_aten, name).default]


KERNELS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (linear, linear_backward, matmul, matmul_backward)}
