"""Functions whose gradient reads values in torch, which a trace does not know.

The formula of `x.max()` looks whether the maximum is a NaN, that of `x.prod()` counts zeros, and that of
`x.masked_fill(mask, value)` lists the chosen elements. In a trace, functions of torch that record such a gradient are
replaced by ones whose gradients have known shapes.

`torch.cov` and `corrcoef` read whether the degrees of freedom are positive, even without a gradient. Without weights
that number follows from the shape, so a trace needs no value. With weights torch checks their values, and its own code
raises `TraceError`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from .._torch import NAME
from .._torch.dispatcher import BelowAutograd
from ..dispatch.opaque_composite import OpaqueComposite, is_real
from .registry import signature_of


class _Selected(torch.autograd.Function):
    """One element of a tensor, such as its maximum; the gradient is divided among the elements that equal it.

    Source: `evenly_distribute_backward` of torch's `FunctionsManual.cpp`.
    """

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, op: Any) -> torch.Tensor:
        """The result of an overload of one argument."""
        with BelowAutograd():
            value = op(x)
        ctx.save_for_backward(x, value)
        return value

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        """The gradient of `x`."""
        x, value = ctx.saved_tensors
        equal = (x == value) | (x.isnan() & value.isnan())
        return equal * (grad / equal.sum()), None


def _selecting(op: Any) -> Callable[..., Any]:
    def select(input: torch.Tensor, *rest: Any, **options: Any) -> Any:
        if rest or options or not _records(input):
            return NotImplemented
        return _Selected.apply(input, op)

    return select


@cache
def _kernel(name: str) -> OpaqueComposite:
    return OpaqueComposite(signature_of(name))


def _of_lowering(name: str, *args: Any, **options: Any) -> Any:
    """An overload as one function of JAX, whose gradient is `jax.vjp` of the lowering."""
    kernel = _kernel(name)
    return kernel.apply(kernel.signature.bind(args, options))


def _prod(input: torch.Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, **options: Any) -> Any:
    if options or not (dim is None or type(dim) is int) or not _records(input):
        return NotImplemented
    if dim is None:
        return _of_lowering("prod", input, dtype=_dtype(input, dtype))
    return _of_lowering("prod.dim_int", input, dim, keepdim, dtype=_dtype(input, dtype))


def _cumprod(input: torch.Tensor, dim: Any, *, dtype: Any = None, **options: Any) -> Any:
    if options or type(dim) is not int or not _records(input):
        return NotImplemented
    return _of_lowering("cumprod", input, dim, dtype=_dtype(input, dtype))


def _dtype(input: torch.Tensor, dtype: torch.dtype | None) -> torch.dtype | None:
    """The dtype of a call, which autocast sets if it is not given: these functions are called above autocast."""
    narrow = input.is_floating_point() and input.dtype is not torch.float64
    return torch.float32 if dtype is None and narrow and torch.is_autocast_enabled(NAME) else dtype


def _masked_fill(input: torch.Tensor, mask: torch.Tensor, value: Any) -> Any:
    if not _records(value) or not is_real(input) or value.device != input.device:
        return NotImplemented
    return _of_lowering("masked_fill.Tensor", input, mask, value)


def _inplace(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function's in-place form: the result for a clone, which the function may save, is copied into the argument."""

    def replaced(input: torch.Tensor, *args: Any, **options: Any) -> Any:
        made = function(input.clone(), *args, **options)
        return made if made is NotImplemented else input.copy_(made)

    return replaced


def _index_fill(input: torch.Tensor, dim: Any, index: torch.Tensor, value: Any) -> Any:
    if type(dim) is not int or not _records(value) or not is_real(input) or value.device != input.device:
        return NotImplemented
    return _of_lowering("index_fill.int_Tensor", input, dim, index, value)


def _records(x: Any) -> bool:
    """Whether autograd records a call with an ordinary tensor of the device."""
    return isinstance(x, torch.Tensor) and x.requires_grad and torch.is_grad_enabled() and is_real(x)


def cov(
    input: torch.Tensor,
    *,
    correction: int = 1,
    fweights: torch.Tensor | None = None,
    aweights: torch.Tensor | None = None,
) -> Any:
    """`torch.cov`: the covariance of the rows of a matrix; source: torch's `Correlation.cpp`.

    Returns:
        A tensor of shape (rows, rows), or a 0-d one of a vector, in the dtype of a mean; `NotImplemented` with weights
        and for calls that torch refuses.
    """
    refused = input.dim() > 2 or input.dtype is torch.bool
    if refused or fweights is not None or aweights is not None or type(correction) is not int:
        return NotImplemented
    x = input if input.dim() == 2 else input.reshape(1, -1)
    degrees = x.shape[1] - correction
    if degrees <= 0:
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
            stacklevel=2,
        )
    centred = x - (x.sum(1) / x.shape[1]).unsqueeze(1)
    return (centred.mm(centred.t().conj()) / max(degrees, 0)).squeeze()


def corrcoef(input: torch.Tensor) -> Any:
    """`torch.corrcoef`: the correlation of the rows of a matrix; source: torch's `Correlation.cpp`.

    Returns:
        A tensor of the shape and dtype of `cov`; `NotImplemented` for calls that torch refuses.
    """
    c = cov(input)
    if c is NotImplemented or not c.dim():
        return c if c is NotImplemented else c / c
    scale = c.diagonal().real.sqrt() if c.is_complex() else c.diagonal().sqrt()
    c = c / scale.view(-1, 1) / scale.view(1, -1)
    return torch.complex(c.real.clip(-1, 1), c.imag.clip(-1, 1)) if c.is_complex() else c.clip(-1, 1)


_REPLACED: dict[str, Callable[..., Any]] = {
    **{name: _selecting(getattr(torch.ops.aten, name).default) for name in ("max", "min", "median", "nanmedian")},
    "prod": _prod,
    "cumprod": _cumprod,
    "masked_fill": _masked_fill,
    "index_fill": _index_fill,
    "cov": cov,
    "corrcoef": corrcoef,
}

# By function and method: each returns NotImplemented for calls that torch's own code can handle.
IN_TRACES: dict[Any, Callable[..., Any]] = {
    **{getattr(torch, name): function for name, function in _REPLACED.items()},
    **{getattr(torch.Tensor, name): function for name, function in _REPLACED.items()},
    **{
        getattr(torch.Tensor, f"{name}_"): _inplace(_REPLACED[name])
        for name in ("cumprod", "masked_fill", "index_fill")
    },
}
