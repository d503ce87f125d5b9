"""Reductions over whole axes that are longer than one expression: any, all, extrema and their positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.words import INT64, Array, Gradients, axis, cast, is_float, reduce_over, truth, with_derivative

Dims = int | Sequence[int] | None
Fold = Callable[..., Array]


def _truth(self: Array, dim: Sequence[int] | None = None, keepdim: bool = False, *, fold: Fold) -> Array:
    """Whether any element, or all, are true: bool, or uint8 for uint8, which was torch's bool before it had one."""
    # dim=[] reduces nothing, unlike in sums.
    found = truth(self) if dim is not None and not dim else reduce_over(fold, truth(self), dim, keepdim)
    return cast(found, self.dtype) if self.dtype == np.uint8 else found


any = partial(_truth, fold=lax.reduce_or)
all = partial(_truth, fold=lax.reduce_and)


def _extremum(self: Array, dim: int, keepdim: bool = False, *, fold: Fold) -> tuple[Array, Array]:
    """(extremum along `dim`, the first int64 index of an element equal to it, which gets its gradient); a NaN counts as
    one.

    These are two plain reductions, because XLA's CPU backend does not vectorize a variadic one across rows, and
    `lax.argmax` cannot build one for 64-bit values while JAX's default is 32 bits.
    """
    if self.ndim == 0:
        return self, jnp.zeros((), INT64)
    dim = axis(self, dim)

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

    return with_derivative(value, gradients, x=self)


def _place(self: Array, dim: int | None = None, keepdim: bool = False, *, fold: Fold) -> Array:
    """The int64 index of the first extremum; that in the flattened array if `dim` is None."""
    if dim is None:
        return _extremum(self.reshape(-1), 0, fold=fold)[1].reshape((1,) * self.ndim if keepdim else ())
    return _extremum(self, dim, keepdim, fold=fold)[1]


max_dim = partial(_extremum, fold=lax.reduce_max)
min_dim = partial(_extremum, fold=lax.reduce_min)
argmax = partial(_place, fold=lax.reduce_max)
argmin = partial(_place, fold=lax.reduce_min)
