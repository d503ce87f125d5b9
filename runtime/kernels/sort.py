"""Sorting along one axis, and what follows from it: order statistics and the mode.

In torch's order NaN is larger than everything and -0.0 equals 0.0, as in `lax.sort`. XLA's CPU backend sorts one array
of integers seven times as fast as an array of floats beside one of indices, so there the bits of a key and its index
are sorted as one number.
"""

from __future__ import annotations

from functools import partial

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels.platform import choose
from tenax.kernels.reduction import argmax
from tenax.words import INT64, Array, Gradients, Number, as_long, axis, cast, extremes, is_float, with_derivative


def _sorted(x: Array, dim: int, descending: bool = False) -> tuple[Array, Array]:
    """(values, int32 indices) along a non-negative axis; equal elements keep their order."""
    return choose(partial(_by_bits, dim, descending), partial(_by_comparison, dim, descending), x, symbolic=True)


def _by_comparison(dim: int, descending: bool, x: Array) -> tuple[Array, Array]:
    places = lax.broadcasted_iota(np.int32, x.shape, dim)
    if not descending:
        values, indices = lax.sort((x, places), dimension=dim, num_keys=1)
        return values, indices
    # Reversing before and after a stable sort keeps equal elements in order, with NaN first.
    reversed_ = (lax.rev(x, (dim,)), lax.rev(places, (dim,)))
    values, indices = lax.sort(reversed_, dimension=dim, num_keys=1)
    return lax.rev(values, (dim,)), lax.rev(indices, (dim,))


def _by_bits(dim: int, descending: bool, x: Array) -> tuple[Array, Array]:
    """64-bit keys are sorted by half of their bits, then by the other half."""
    key = _ordered(lax.stop_gradient(x))
    key = ~key if descending else key
    if key.dtype != INT64:
        indices = _by_key(key, dim)
    else:
        first = _by_key(cast(key & 0xFFFFFFFF, INT64) - 2**31, dim)
        second = _by_key(_taken(key >> 32, first, dim), dim)
        indices = _taken(first, second, dim)
    return _taken(x, indices, dim), indices


def _taken(x: Array, indices: Array, dim: int) -> Array:
    return jnp.take_along_axis(x, indices, dim, mode="promise_in_bounds")


def _by_key(key: Array, dim: int) -> Array:
    """The int32 indices that sort integers of the range of int32."""
    places = lax.broadcasted_iota(INT64, key.shape, dim)
    return cast(lax.sort((cast(key, INT64) << 32) | places, dimension=dim), np.int32)


def _ordered(x: Array) -> Array:
    """Signed integers of at most 64 bits in the order of `x`, equal where torch's order has equals."""
    if x.dtype == np.uint64:
        return lax.bitcast_convert_type(x ^ np.uint64(2**63), INT64)
    if not is_float(x):
        return cast(x, INT64) if x.dtype == np.uint32 else x
    width = 8 * x.dtype.itemsize
    bits = lax.bitcast_convert_type(x, np.dtype(f"int{width}"))
    most = np.iinfo(bits.dtype).max
    # A comparison of floats would take subnormal numbers for zero.
    size, infinity = bits & most, np.asarray(np.inf, x.dtype).view(bits.dtype)
    bits = jnp.where(size > infinity, most, jnp.where(size == 0, 0, bits))
    return bits ^ ((bits >> (width - 1)) & most)


def sort(self: Array, *, stable: bool | None = None, dim: int = -1, descending: bool = False) -> tuple[Array, Array]:
    """(values, int64 indices); always stable."""
    if self.ndim == 0:
        return self, jnp.zeros((), INT64)
    values, indices = _sorted(self, axis(self, dim), descending)
    return values, cast(indices, INT64)


def topk(self: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Array, Array]:
    """The k largest or smallest (values, int64 indices) along `dim`, always sorted."""
    if self.ndim == 0:
        return self, jnp.zeros((), INT64)
    x = jnp.moveaxis(self, axis(self, dim), -1)
    # A key of which the largest are wanted. `top_k` depends on the sign of a NaN, which torch ignores.
    key = x if largest else -x if is_float(x) else ~x
    if is_float(x):
        key = jnp.where(jnp.isnan(x), cast(np.nan if largest else -np.nan, x.dtype), key)
    values, indices = lax.top_k(key, k)
    values = values if largest else -values if is_float(x) else ~values
    return jnp.moveaxis(values, -1, axis(self, dim)), cast(jnp.moveaxis(indices, -1, axis(self, dim)), INT64)


def _pick(values: Array, indices: Array, rank: Array | int, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """(values, int64 indices) at `rank` of a sorted axis; an array of ranks keeps that axis, unless it is 0-d."""
    if isinstance(rank, int):
        picked = tuple(lax.index_in_dim(x, rank, dim) for x in (values, indices))
    elif rank.ndim == 0:
        picked = tuple(lax.dynamic_index_in_dim(x, rank, dim) for x in (values, indices))
    else:
        picked = tuple(jnp.take_along_axis(x, rank, dim) for x in (values, indices))
    value, index = picked if keepdim else (lax.squeeze(x, (dim,)) for x in picked)
    return value, cast(index, INT64)


def kthvalue(self: Array, k: int | Number, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """(k-th smallest value, its int64 index) along `dim`; k counts from 1."""
    size = self.shape[axis(self, dim)] if self.ndim else 1
    if not size:
        raise IndexError(f"kthvalue(): Expected reduction dim {axis(self, dim)} to have non-zero size.")
    if isinstance(k, int) and not 1 <= k <= size:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis(self, dim)}")
    if self.ndim == 0:
        return self, jnp.zeros((), INT64)
    dim = axis(self, dim)
    return _pick(*_sorted(self, dim), k - 1 if isinstance(k, int) else as_long(k) - 1, dim, keepdim)


def _median(self: Array, dim: int, keepdim: bool = False, *, skip_nan: bool) -> tuple[Array, Array]:
    """(lower median along `dim`, its int64 index). NaN if there is a NaN, or with `skip_nan` if there are only NaNs.

    `jnp.median` is the mean of the two middle numbers, and has no index.
    """
    if self.ndim == 0:
        return self, jnp.zeros((), INT64)
    dim = axis(self, dim)
    values, indices = _sorted(self, dim)
    if not is_float(self):
        return _pick(values, indices, (self.shape[dim] - 1) // 2, dim, keepdim)
    numbers = jnp.sum(~jnp.isnan(values), dim, keepdims=True, dtype=np.int32)
    middle = jnp.maximum(numbers - 1, 0) // 2
    if not skip_nan:
        middle = jnp.where(numbers < self.shape[dim], numbers, middle)
    return _pick(values, indices, middle, dim, keepdim)


def _median_of_all(self: Array, *, skip_nan: bool) -> Array:
    """The lower median, NaN of no elements; its gradient is divided equally among the elements equal to it."""
    if self.size == 0:
        return jnp.full((), np.nan if is_float(self) else extremes(self.dtype)[0], self.dtype)

    def gradients(grad: Array, result: Array, x: Array) -> Gradients:
        def of_x() -> Array:
            equal = (x == result) | (jnp.isnan(x) & jnp.isnan(result))
            return jnp.where(equal, grad / jnp.sum(equal, dtype=x.dtype), 0)

        return {"x": of_x}

    return with_derivative(lambda x: _median(x.reshape(-1), 0, skip_nan=skip_nan)[0], gradients, x=self)


median = partial(_median_of_all, skip_nan=False)
nanmedian = partial(_median_of_all, skip_nan=True)
median_dim = partial(_median, skip_nan=False)
nanmedian_dim = partial(_median, skip_nan=True)


def mode(self: Array, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """(most frequent value, the smallest if tied, and the int64 index of its last occurrence) along `dim`."""
    if self.ndim == 0:
        return self, jnp.zeros((), INT64)
    dim = axis(self, dim)
    values, indices = _sorted(self, dim)
    place = lax.broadcasted_iota(np.int32, values.shape, dim)
    before = jnp.roll(values, 1, dim)
    run_start = lax.cummax(jnp.where((values != before) | (place == 0), place, 0), dim)
    longest = argmax(place - run_start, dim, keepdim=True)
    return _pick(values, indices, longest, dim, keepdim)
