"""Running sums and products, extrema with their positions, and sums of exponentials, along one axis."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels import loops, running
from tenax.words import INT64, Array, DType, axis, cast, is_complex, is_float

Scan = Callable[[Array, int], Array]


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


def _running(self: Array, dim: int, *, dtype: DType | None = None, scan: Scan) -> Array:
    """A running sum or product along `dim` of an array that has been converted to `dtype`."""
    return scan(self, axis(self, dim)) if self.ndim else self


cumsum = partial(_running, scan=running.cumsum)
cumprod = partial(_running, scan=running.cumprod)


def logcumsumexp(self: Array, dim: int) -> Array:
    """Running log(sum(exp(self))) along `dim`, of an array in the compute dtype."""
    if self.ndim == 0:
        return self
    stepwise = is_complex(self) and self.size > 0
    return (_sequential_logsumexp if stepwise else running.cumlogsumexp)(self, axis(self, dim))


def _extremum(self: Array, dim: int, *, scan: Scan) -> tuple[Array, Array]:
    """(running extremum along `dim`, int64 index of its latest occurrence), those of the latest NaN after a first."""
    if self.ndim == 0:
        return self, jnp.zeros((), INT64)
    dim = axis(self, dim)
    values = cast(scan(cast(self, np.uint8) if self.dtype == bool else self, dim), self.dtype)
    hit = self == values
    if is_float(self):
        hit |= jnp.isnan(self)
    where = jnp.where(hit, lax.broadcasted_iota(np.int32, self.shape, dim), 0)
    return values, cast(running.cummax(where, dim), INT64)


cummax = partial(_extremum, scan=running.cummax)
cummin = partial(_extremum, scan=running.cummin)
