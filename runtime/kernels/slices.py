"""Writing slices, diagonals and strided windows into an array, and the gradients of reading them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels.in_place import update
from tenax.kernels.scatter import Places, combine, slices
from tenax.kernels.unsplit import unsplit
from tenax.words import INT64, Array, Number, as_long, axis, cast, place


def _zeros(grad: Array, sizes: Sequence[int]) -> Array:
    return jnp.zeros(tuple(sizes), grad.dtype)


def _bounds(size: int, start: int | None, end: int | None) -> tuple[int, int]:
    """The normalized start and end of a slice."""
    first, last, _ = slice(start, end).indices(size)
    return first, max(first, last)


def narrow_copy(self: Array, dim: int, start: int | Number, length: int) -> Array:
    """A copy of `length` elements along `dim`."""
    dim = axis(self, dim)
    size = max(self.shape[dim], 1)
    if isinstance(start, int):
        return lax.slice_in_dim(self, start % size, start % size + length, axis=dim)
    at = as_long(start)
    return lax.dynamic_slice_in_dim(self, cast(jnp.where(at < 0, at + size, at), place(size).dtype), length, dim)


def _first(start: int | Number | None, size: int) -> Array:
    """The first position of a slice of an axis, which may be an operand, in int64."""
    at = as_long(0 if start is None else start)
    return jnp.clip(jnp.where(at < 0, at + size, at), 0, size)


def _update(self: Array, src: Array, start: int | Array, dim: int) -> Array:
    """`self` with the slices across `dim` from `start` replaced by `src`."""
    starts: list[Any] = [place(0)] * self.ndim
    starts[dim] = place(start) if isinstance(start, int) else cast(start, place(self.shape[dim]).dtype)
    return update(self, cast(src, self.dtype), starts)


def select_scatter(self: Array, src: Array, dim: int, index: int | Number) -> Array:
    """`self` with the slice `index` across `dim` replaced by `src`."""
    dim = axis(self, dim)
    size = self.shape[dim]
    _require_size(src, [*self.shape[:dim], *self.shape[dim + 1 :]])
    if isinstance(index, int) and not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self.shape)} at dimension {dim}"
        )
    at = index if isinstance(index, int) else as_long(index)
    return _update(self, jnp.expand_dims(src, dim), at % size, dim)


def select_backward(grad_output: Array, input_sizes: Sequence[int], dim: int, index: int | Number) -> Array:
    """Zeros with `grad_output` as the slice `index` across `dim`."""
    dim = dim % len(input_sizes)
    size = input_sizes[dim]
    if isinstance(index, Number):  # any of several slices
        grad = jnp.broadcast_to(jnp.expand_dims(grad_output, dim), tuple(input_sizes))
        at = lax.broadcasted_iota(place(size).dtype, grad.shape, dim)
        return jnp.where(at == cast(as_long(index) % size, at.dtype), grad, cast(0, grad.dtype))
    index = index % size
    grad = jnp.expand_dims(grad_output, dim)
    edges = [(index, size - 1 - index, 0) if d == dim else (0, 0, 0) for d in range(grad.ndim)]
    return lax.pad(grad, jnp.zeros((), grad.dtype), edges)


def _require_size(src: Array, part: list[int]) -> None:
    if list(src.shape) != part:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = {part}"
        )


def slice_scatter(
    self: Array,
    src: Array,
    dim: int = 0,
    start: int | Number | None = None,
    end: int | Number | None = None,
    step: int = 1,
) -> Array:
    """`self` with `self[start:end:step]` along `dim` replaced by `src`."""
    dim = axis(self, dim)
    if isinstance(start, Number) or isinstance(end, Number):  # any slice of the length of `src`
        at = _first(start, self.shape[dim])
        if step == 1:
            return _update(self, src, at, dim)
        steps = jnp.arange(src.shape[dim], dtype=INT64) * step
        return combine(self, slices(self.shape, dim, at + steps), src)
    first, last = _bounds(self.shape[dim], start, end)
    _require_size(src, [*self.shape[:dim], len(range(first, last, step)), *self.shape[dim + 1 :]])
    if step == 1:
        return _update(self, src, first, dim)
    places = slices(self.shape, dim, jnp.arange(first, last, step, dtype=INT64))
    return combine(self, places, src)


def slice_backward(
    grad_output: Array, input_sizes: Sequence[int], dim: int, start: int | Number, end: int | Number, step: int
) -> Array:
    """Zeros with `grad_output` at `[start:end:step]` along `dim`."""
    dim = dim % len(input_sizes)
    size = input_sizes[dim]
    if isinstance(start, Number) or isinstance(end, Number):  # any slice of the length of `grad_output`
        padded = _spaced(grad_output, dim, (size, size, step - 1))
        return lax.dynamic_slice_in_dim(padded, size - _first(start, size), size, dim)
    first, last = _bounds(size, start, end)
    count = len(range(first, last, step))
    if count == 0:
        return _zeros(grad_output, input_sizes)
    after = size - first - ((count - 1) * step + 1)
    return _spaced(grad_output, dim, (first, after, step - 1))


def _spaced(x: Array, dim: int, edges: tuple[int, int, int]) -> Array:
    """`x` with zeros before, after and between its slices across `dim`."""
    config = [edges if d == dim else (0, 0, 0) for d in range(x.ndim)]
    if not edges[2]:
        return lax.pad(x, jnp.zeros((), x.dtype), config)
    return unsplit(lax.pad(unsplit(x, [dim]), jnp.zeros((), x.dtype), config), [dim])


def _diagonal(self: Array, offset: int | Number, dim1: int, dim2: int, diagonal: Array) -> Array:
    """`self` with a diagonal of the plane (dim1, dim2) replaced by `diagonal`, along its last axis."""
    dim1, dim2 = axis(self, dim1), axis(self, dim2)
    steps = np.arange(diagonal.shape[-1], dtype=np.int32)
    if isinstance(offset, int):
        places = jnp.asarray(np.stack([steps + max(-offset, 0), steps + max(offset, 0)], -1), np.int32)
    else:
        by = cast(offset, np.int32)
        places = jnp.stack([steps + jnp.maximum(-by, 0), steps + jnp.maximum(by, 0)], -1)
    others = tuple(range(self.ndim - 2))
    numbers = lax.ScatterDimensionNumbers(others, tuple(sorted((dim1, dim2))), (dim1, dim2))
    return combine(self, Places(places, numbers), diagonal)


def diagonal_scatter(self: Array, src: Array, offset: int | Number = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """`self` with the diagonal `offset` of the plane (dim1, dim2) replaced by `src`."""
    plane = axis(self, dim1), axis(self, dim2)
    if isinstance(offset, int):
        rows, columns = (self.shape[d] for d in plane)
        side = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
        _require_size(src, [*(n for d, n in enumerate(self.shape) if d not in plane), side])
    return _diagonal(self, offset, dim1, dim2, src)


def diag_embed(self: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    """Zeros with the last axis of `self` as the diagonal `offset` of a new plane (dim1, dim2)."""
    ndim = self.ndim + 1
    dim1, dim2 = dim1 % ndim, dim2 % ndim
    side = self.shape[-1] + abs(offset)
    rest = iter(self.shape[:-1])
    shape = tuple(side if d in (dim1, dim2) else next(rest) for d in range(ndim))
    return _diagonal(_zeros(self, shape), offset, dim1, dim2, self)


def _strided(size: Sequence[int], stride: Sequence[int], storage_offset: int | None) -> Array:
    """The position in the flat array of each element of a strided window."""
    places = jnp.full((), storage_offset or 0, INT64)
    for n, step in zip(size, stride, strict=True):
        places = jnp.expand_dims(places, -1) + lax.iota(INT64, n) * step
    return places


def as_strided_scatter(
    self: Array, src: Array, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Array:
    """`self`, taken as contiguous, with a strided window of its memory replaced by `src`."""
    last = (storage_offset or 0) + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if last >= self.size and 0 not in size:
        offset, bytes_ = storage_offset or 0, self.dtype.itemsize
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize "
            f"{bytes_} requiring a storage size of {(last + 1) * bytes_} are out of bounds for storage of size "
            f"{self.size * bytes_}"
        )
    places = _strided(size, stride, storage_offset).reshape(-1, 1)
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    return combine(self.reshape(-1), Places(places, numbers), src.reshape(-1)).reshape(self.shape)


def unfold_backward(grad_in: Array, input_sizes: Sequence[int], dim: int, size: int, step: int) -> Array:
    """Sum the windows of `grad_in`, whose elements are its last axis, at the positions along `dim` that they read."""
    if not input_sizes:  # one window, of one element or none
        return jnp.sum(grad_in)
    dim = dim % len(input_sizes)
    starts = jnp.arange(grad_in.shape[dim], dtype=INT64) * step
    places = (starts[:, None] + jnp.arange(size, dtype=INT64)).reshape(-1)
    around = list(input_sizes)
    around[dim : dim + 1] = starts.size, size
    windows = jnp.broadcast_to(jnp.moveaxis(grad_in, -1, dim + 1), around)
    windows = windows.reshape(*input_sizes[:dim], places.size, *input_sizes[dim + 1 :])
    return combine(_zeros(grad_in, input_sizes), slices(tuple(input_sizes), dim, places), windows, "sum")
