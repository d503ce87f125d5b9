"""Running sums and products, extrema with their positions, and sums of exponentials, along one axis."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels import loops, running
from tenax.words import INT64, Array, DType, axis, cast, is_complex, is_float


def _log_add_exp(a: Array, b: Array) -> Array:
    """log(exp(a) + exp(b)) of complex numbers, whose imaginary part is not wrapped to (-pi, pi]."""
    low, high = jnp.where(a.real < b.real, a, b), jnp.where(a.real < b.real, b, a)
    endless = ~jnp.isfinite(low.real) & (low.real == high.real)
    # Each formula is given zeros where the other applies: what overflows has no derivative.
    (low, at_end), (high, beside) = ((jnp.where(endless, 0, x), jnp.where(endless, x, 0)) for x in (low, high))
    sum_of_endless = jnp.where(at_end.real < 0, at_end, jnp.log(jnp.exp(at_end) + jnp.exp(beside)))
    return jnp.where(endless, sum_of_endless, high + jnp.log1p(jnp.exp(low - high)))


def _sequential_logsumexp(x: Array, dim: int) -> Array:
    # The branch of a complex logarithm depends on the order of the terms, which are added one by one as in torch.
    rows = jnp.moveaxis(x, dim, 0)
    _, rest = loops.scan(lambda total, row: (_log_add_exp(row, total),) * 2, rows[0], rows[1:])
    return jnp.moveaxis(jnp.concatenate([rows[:1], rest]), 0, dim)


def cumsum(self: Array, dim: int, *, dtype: DType | None = None) -> Array:
    """Running sum along `dim` of an array that has been converted to `dtype`."""
    return running.cumsum(self, axis(self, dim)) if self.ndim else self


def cumprod(self: Array, dim: int, *, dtype: DType | None = None) -> Array:
    """Running product along `dim` of an array that has been converted to `dtype`."""
    return running.cumprod(self, axis(self, dim)) if self.ndim else self


def logcumsumexp(self: Array, dim: int) -> Array:
    """Running log(sum(exp(self))) along `dim`, of an array in the compute dtype."""
    if self.ndim == 0:
        return self
    stepwise = is_complex(self) and self.size > 0
    return (_sequential_logsumexp if stepwise else running.cumlogsumexp)(self, axis(self, dim))


def _extremum(scan: Callable[[Array, int], Array], x: Array, dim: int) -> tuple[Array, Array]:
    """(running extremum, int64 index of its latest occurrence), those of the latest NaN after a first NaN."""
    if x.ndim == 0:
        return x, jnp.zeros((), INT64)
    dim = axis(x, dim)
    values = cast(scan(cast(x, np.uint8) if x.dtype == bool else x, dim), x.dtype)
    hit = x == values
    if is_float(x):
        hit |= jnp.isnan(x)
    where = jnp.where(hit, lax.broadcasted_iota(np.int32, x.shape, dim), 0)
    return values, cast(running.cummax(where, dim), INT64)


def cummax(self: Array, dim: int) -> tuple[Array, Array]:
    """(values, indices) of the running maximum along `dim`."""
    return _extremum(running.cummax, self, dim)


def cummin(self: Array, dim: int) -> tuple[Array, Array]:
    """(values, indices) of the running minimum along `dim`."""
    return _extremum(running.cummin, self, dim)
