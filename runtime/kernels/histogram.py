"""Counting values by bin: histc, histogram, histogramdd and bincount."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels.search import insertion
from tenax.words import FLOAT32, FLOAT64, INT64, Array, Number, cast, extent, may_assume, opmath


def _count(place: Array, inside: Array, bins: int, weight: Array | None, dtype: np.dtype) -> Array:
    """Weighted number of elements in each bin of range(bins), among those inside."""
    held = cast(1, opmath(dtype)) if weight is None else cast(weight, opmath(dtype))
    total = jnp.zeros((bins,), opmath(dtype)).at[jnp.where(inside, place, bins)].add(held, mode="drop")
    return cast(total, dtype)


def _outer(x: Array, range: Sequence[float] | None, widen: float, empty: Sequence[float]) -> tuple[Array, Array]:
    """(lowest, highest) edge: the given range or that of the data, widened if it is a point."""
    if range is None and x.size:
        low, high = lax.reduce_min(x, (0,)), lax.reduce_max(x, (0,))
    else:
        low, high = (cast(edge, x.dtype) for edge in (empty if range is None else range))
    point = low == high
    return jnp.where(point, low - widen, low), jnp.where(point, high + widen, high)


def histc(self: Array, bins: int = 100, min: float | Number = 0, max: float | Number = 0) -> Array:
    """Number of elements in each of `bins` equal bins of [min, max], or of the data's range if those are equal.

    Integers, which CPU torch rejects, are counted exactly, as on torch's other devices. `jnp.histogram` compares values
    with edges: for 0, 0.1, ..., 9.9 in 100 bins over [0, 10], 14 of its counts differ from torch's, none here.
    """
    x = cast(self, INT64 if np.issubdtype(self.dtype, np.integer) else opmath(self.dtype)).reshape(-1)
    if not isinstance(min, Number) and not isinstance(max, Number):
        if min > max:
            raise RuntimeError("torch.histc: max must be larger than min")
        low, high = _outer(x, None if min == max and x.size else (min, max), 1, ())
    else:  # equal numbers stand for the range of the data
        given = cast(min, x.dtype), cast(max, x.dtype)
        of_data = _outer(x, None, 1, (0, 0))
        low, high = (jnp.where(given[0] == given[1], a, b) for a, b in zip(of_data, given, strict=True))
    inside = (x >= low) & (x <= high)
    place = lax.div(jnp.where(inside, (x - low) * bins, cast(0, x.dtype)), high - low).astype(np.int32)
    return _count(jnp.minimum(place, bins - 1), inside, bins, None, self.dtype)


def _edges(low: Array, high: Array, bins: int) -> Array:
    """bins + 1 evenly spaced edges, computed from the nearer end as in torch.linspace, since values may equal them."""
    step = (high - low) / bins
    i = jnp.arange(bins + 1, dtype=np.int32)
    from_low, from_high = low + step * cast(i, step.dtype), high - step * cast(bins - i, step.dtype)
    return jnp.where(i < (bins + 1) // 2, from_low, from_high)


def _histogramdd_bin_edges(
    self: Array,
    bins: Sequence[int],
    *,
    range: Sequence[float] | None = None,
    weight: Array | None = None,
    density: bool = False,
) -> list[Array]:
    """Edges per column of `self` [..., D]; `range` has low and high of each column."""
    columns = self.reshape(-1, len(bins)).T
    edges = []
    for d, (x, n) in enumerate(zip(columns, bins, strict=True)):
        limits = None if range is None else range[2 * d : 2 * d + 2]
        if limits is not None and limits[0] > limits[1]:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {limits[0]:g} max {limits[1]:g} "
                f"for dimension {d}"
            )
        edges.append(_edges(*_outer(x, limits, 0.5, (0, 1)), n))
    return edges


def _histogramdd_from_bin_tensors(
    self: Array, bins: Sequence[Array], *, weight: Array | None = None, density: bool = False
) -> Array:
    """Histogram of the rows of `self` [..., D] over the grid of edges; bins are half-open, the last is closed."""
    shape = tuple(edges.size - 1 for edges in bins)
    place, inside = jnp.zeros((), np.int32), jnp.ones((), bool)
    for x, edges, n in zip(self.reshape(-1, len(bins)).T, bins, shape, strict=True):
        along = jnp.minimum(insertion(edges, x, jnp.less_equal) - 1, n - 1)
        inside, place = inside & (x >= edges[0]) & (x <= edges[-1]), place * n + along
    weight = None if weight is None else weight.reshape(-1)
    hist = _count(place, inside, prod(shape), weight, self.dtype).reshape(shape)
    if density:
        hist = hist / jnp.sum(hist)
        for d, edges in enumerate(bins):
            hist = hist / jnp.diff(edges).reshape(-1, *(1,) * (len(bins) - 1 - d))
    return hist


NEGATIVE = "bincount only supports 1-d non-negative integral inputs."


def histogram(self: Array, bins: Array, *, weight: Array | None = None, density: bool = False) -> tuple[Array, Array]:
    """The counts of the elements between the edges `bins`, and the edges."""
    return _histogramdd_from_bin_tensors(self.reshape(-1, 1), [bins], weight=weight, density=density), bins


def refuse_counted(self: Any, weights: Any, minlength: int) -> None:
    """Raise torch's error for arguments of `bincount` with wrong shapes."""
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if self.ndim != 1:
        raise RuntimeError(NEGATIVE)
    if weights is not None and weights.shape != self.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")


def bincount(self: Array, weights: Array | None = None, minlength: int = 0) -> Array:
    """Weighted number of occurrences of each integer from 0 to the largest; on concrete arrays.

    int64 without weights, float32 with float32 weights, else float64. In a trace the length is `minlength`, if given: a
    compiled function checks that this covers all values, and a pure one assumes it.
    `jnp.bincount` counts negative numbers as 0, where torch raises an error.
    """
    instead = "bincount(x, minlength=...) or jnp.bincount(x, length=...) gives a fixed number of bins"
    refuse_counted(self, weights, minlength)
    if self.size == 0:
        return jnp.zeros((minlength,), INT64)
    dtype = INT64 if weights is None else FLOAT32 if weights.dtype == FLOAT32 else FLOAT64
    least, most = _range(self)
    if minlength and isinstance(most, jax.core.Tracer):
        may_assume(least >= 0, NEGATIVE)
        may_assume(
            most < minlength, f"bincount: a value of {minlength} or more; within tenax.jit `minlength` is the length"
        )
        bins = minlength
    else:
        if extent(least, instead) < 0:
            raise RuntimeError(NEGATIVE)
        bins = max(minlength, extent(most, instead) + 1)
    return _occurrences(self, bins, weights, dtype)


@jax.jit
def _range(x: Array) -> tuple[Array, Array]:
    """The smallest and the largest element."""
    return lax.reduce_min(x, (0,)), lax.reduce_max(x, (0,))


@partial(jax.jit, static_argnums=(1, 3))
def _occurrences(x: Array, bins: int, weights: Array | None, dtype: np.dtype) -> Array:
    return _count(cast(x, INT64), jnp.ones((), bool), bins, weights, dtype)
