"""Reductions over whole axes: sums, products, truth, extrema and where they are."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod as count

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.words import BOOL, INT64, Array, DType, axes, axis, cast, is_complex, is_float, opmath

Dims = int | Sequence[int] | None

# How numbers are folded, and how bools are: torch sums bools by `or` and multiplies them by `and`.
_FOLD = {"sum": (lax.reduce_sum, lax.reduce_or), "prod": (lax.reduce_prod, lax.reduce_and)}


def truth(x: Array) -> Array:
    """Elementwise `x != 0` as bool; NaN is true."""
    return x if x.dtype == BOOL else x != cast(0, x.dtype)


def keep(x: Array, dims: Sequence[int], keepdim: bool) -> Array:
    """Put the reduced axes back with length 1 where `keepdim` asks for it."""
    return lax.expand_dims(x, dims) if keepdim and dims else x


def _summed_dtype(x: Array, dtype: DType | None) -> DType:
    """The dtype of a sum: integers and bools add up in int64."""
    if dtype is not None:
        return np.dtype(dtype)
    return x.dtype if is_float(x) or is_complex(x) else INT64


def _fold(kind: str, x: Array, dims: Sequence[int]) -> Array:
    """Fold in the accumulation dtype, without rounding the result back."""
    number, boolean = _FOLD[kind]
    return boolean(x, dims) if x.dtype == BOOL else number(cast(x, opmath(x.dtype)), dims)


def sum(self: Array, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> Array:
    """Sum over `dim` (None or []: all), of `self` cast to `dtype` first."""
    result, dims = _summed_dtype(self, dtype), axes(self, dim)
    return keep(cast(_fold("sum", cast(self, result), dims), result), dims, keepdim)


def prod(self: Array, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> Array:
    """Product over `dim`, of `self` cast to `dtype` first."""
    result, dims = _summed_dtype(self, dtype), axes(self, dim)
    return keep(cast(_fold("prod", cast(self, result), dims), result), dims, keepdim)


def nansum(self: Array, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> Array:
    """`sum` with NaN counted as zero."""
    x = jnp.where(jnp.isnan(self), cast(0, self.dtype), self) if is_float(self) else self
    return sum(x, dim, keepdim, dtype=dtype)


def mean(self: Array, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> Array:
    """Mean over `dim`, of `self` cast to `dtype` first; NaN over nothing."""
    result, dims = self.dtype if dtype is None else np.dtype(dtype), axes(self, dim)
    total = _fold("sum", cast(self, result), dims)
    return keep(cast(total / count(self.shape[d] for d in dims), result), dims, keepdim)


def _truth(fold: str, x: Array, dim: Dims, keepdim: bool) -> Array:
    # dim=[] reduces nothing, unlike the sums'. uint8 answers in uint8: it was torch's bool before it had one.
    dims = axes(x, dim) if dim is None or isinstance(dim, int) or len(dim) else ()
    found = keep(_FOLD[fold][1](truth(x), dims), dims, keepdim)
    return cast(found, x.dtype) if x.dtype == np.uint8 else found


def any(self: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    """Whether any element is true: bool, or uint8 of uint8."""
    return _truth("sum", self, dim, keepdim)


def all(self: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    """Whether all elements are true: bool, or uint8 of uint8."""
    return _truth("prod", self, dim, keepdim)


def count_nonzero(self: Array, dim: Dims = None) -> Array:
    """The number of elements that are not zero, int64."""
    return sum(truth(self), dim)


def amax(self: Array, dim: Dims = (), keepdim: bool = False) -> Array:
    """Largest value over `dim` ([]: all); NaN if there is one."""
    dims = axes(self, dim)
    return keep(lax.reduce_max(self, dims), dims, keepdim)


def amin(self: Array, dim: Dims = (), keepdim: bool = False) -> Array:
    """Smallest value over `dim` ([]: all); NaN if there is one."""
    dims = axes(self, dim)
    return keep(lax.reduce_min(self, dims), dims, keepdim)


def aminmax(self: Array, *, dim: int | None = None, keepdim: bool = False) -> tuple[Array, Array]:
    """`amin` and `amax` together."""
    return amin(self, dim, keepdim), amax(self, dim, keepdim)


def _extremum(best: Array, x: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """`best` (with its axis kept) and the first index, int64, where `x` equals it; a NaN is the best there can be.

    Two plain reductions instead of XLA's variadic one, which CPU does not vectorise across rows and which
    `lax.argmax` cannot build for 64-bit values while JAX's default is 32.
    """
    hit = x == best
    if is_float(x):
        hit |= jnp.isnan(x)
    where = jnp.where(hit, lax.broadcasted_iota(np.int32, x.shape, dim), x.shape[dim] - 1)
    first = cast(lax.reduce_min(where, (dim,)), INT64)
    return (best, lax.expand_dims(first, (dim,))) if keepdim else (lax.squeeze(best, (dim,)), first)


def max_dim(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """(values, int64 indices of their first occurrence) along `dim`."""
    if self.ndim == 0:
        return self, jnp.zeros((), INT64)
    return _extremum(amax(self, dim, True), self, axis(self, dim), keepdim)


def min_dim(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """(values, int64 indices of their first occurrence) along `dim`."""
    if self.ndim == 0:
        return self, jnp.zeros((), INT64)
    return _extremum(amin(self, dim, True), self, axis(self, dim), keepdim)


def argmax(self: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """Index (int64) of the first largest element; of the flattened array where `dim` is None."""
    if dim is None:
        return max_dim(self.reshape(-1), 0)[1].reshape((1,) * self.ndim if keepdim else ())
    return max_dim(self, dim, keepdim)[1]


def argmin(self: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """Index (int64) of the first smallest element; of the flattened array where `dim` is None."""
    if dim is None:
        return min_dim(self.reshape(-1), 0)[1].reshape((1,) * self.ndim if keepdim else ())
    return min_dim(self, dim, keepdim)[1]


def logsumexp(self: Array, dim: Dims, keepdim: bool = False) -> Array:
    """log(sum(exp(self))) over `dim`, shifted by the largest real part so that nothing overflows."""
    dims = axes(self, dim)
    top = lax.reduce_max(jnp.real(self), dims)
    shift = lax.stop_gradient(jnp.where(jnp.isfinite(top), top, cast(0, top.dtype)))
    scaled = jnp.exp(self - cast(lax.expand_dims(shift, dims), self.dtype))
    return keep(jnp.log(lax.reduce_sum(scaled, dims)) + cast(shift, self.dtype), dims, keepdim)


def hash_tensor(self: Array, dim: Dims = (), *, keepdim: bool = False, mode: int = 0) -> Array:
    """Exclusive or over `dim` of the elements' bits, uint64: floats as float64, integers sign-extended."""
    wide = cast(self, np.float64 if is_float(self) else INT64)
    dims = axes(self, dim)
    return keep(lax.reduce_xor(lax.bitcast_convert_type(wide, np.uint64), dims), dims, keepdim)


def trace(self: Array) -> Array:
    """Sum of the diagonal of a matrix."""
    return sum(jnp.diagonal(self))
