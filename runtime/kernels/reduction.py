"""Reductions over whole axes that are longer than one expression: any, all, extrema and their positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.words import INT64, Array, Gradients, axis, cast, is_float, reduce_over, truth, with_derivative

Dims = int | Sequence[int] | None
Fold = Callable[..., Array]


def _truth(fold: Fold, x: Array, dim: Sequence[int] | None, keepdim: bool) -> Array:
    # dim=[] reduces nothing, unlike in sums. The result for uint8 is uint8, which was torch's bool before it had one.
    found = truth(x) if dim is not None and not dim else reduce_over(fold, truth(x), dim, keepdim)
    return cast(found, x.dtype) if x.dtype == np.uint8 else found


def any(self: Array, dim: Sequence[int] | None = None, keepdim: bool = False) -> Array:
    """Whether any element is true: bool, or uint8 for uint8."""
    return _truth(lax.reduce_or, self, dim, keepdim)


def all(self: Array, dim: Sequence[int] | None = None, keepdim: bool = False) -> Array:
    """Whether all elements are true: bool, or uint8 for uint8."""
    return _truth(lax.reduce_and, self, dim, keepdim)


def _extremum(fold: Fold, x: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """(extremum along `dim`, the first int64 index where `x` equals it, which gets its gradient); a NaN counts as one.

    These are two plain reductions, because XLA's CPU backend does not vectorize a variadic one across rows, and
    `lax.argmax` cannot build one for 64-bit values while JAX's default is 32 bits.
    """
    if x.ndim == 0:
        return x, jnp.zeros((), INT64)
    dim = axis(x, dim)

    def value(x: Array) -> tuple[Array, Array]:
        best = reduce_over(fold, x, dim, True)
        hit = x == best
        if is_float(x):
            hit |= jnp.isnan(x)
        where = jnp.where(hit, lax.broadcasted_iota(np.int32, x.shape, dim), x.shape[dim] - 1)
        first = cast(lax.reduce_min(where, (dim,)), INT64)
        return (best, lax.expand_dims(first, (dim,))) if keepdim else (lax.squeeze(best, (dim,)), first)

    def gradients(grad: Any, result: Any, x: Array) -> Gradients:
        def of_x() -> Array:
            slope, first = (y if keepdim else lax.expand_dims(y, (dim,)) for y in (grad[0], result[1]))
            return jnp.where(lax.broadcasted_iota(INT64, x.shape, dim) == first, slope, 0)

        return {"x": of_x}

    return with_derivative(value, gradients, x=x)


def max_dim(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """(values, int64 indices of their first occurrence) along `dim`."""
    return _extremum(lax.reduce_max, self, dim, keepdim)


def min_dim(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """(values, int64 indices of their first occurrence) along `dim`."""
    return _extremum(lax.reduce_min, self, dim, keepdim)


def argmax(self: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """Index (int64) of the first largest element; of the flattened array if `dim` is None."""
    if dim is None:
        return max_dim(self.reshape(-1), 0)[1].reshape((1,) * self.ndim if keepdim else ())
    return max_dim(self, dim, keepdim)[1]


def argmin(self: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """Index (int64) of the first smallest element; of the flattened array if `dim` is None."""
    if dim is None:
        return min_dim(self.reshape(-1), 0)[1].reshape((1,) * self.ndim if keepdim else ())
    return min_dim(self, dim, keepdim)[1]
