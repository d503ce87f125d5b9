"""Reading and writing by index tensors, `x[i, :, j]`, gather, take and put, and by masks.

An index list holds integer arrays, and `None` for whole axes; masks have been expanded before. As in NumPy, the axes of
the broadcast indices replace the indexed axes if these are adjacent, and otherwise come first.

The values that a mask selects are packed by a cumulative count of the mask and one scatter or gather: linear, with
static shapes up to the final slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels.scatter import Places, combine, elements, narrow, require_dtype, slices, wrap
from tenax.words import BOOL, INT64, Array, axis, cast, extent, truth, window_operand


def _places(self: Array, indices: Sequence[Array | None]) -> tuple[Places, tuple[int, ...]] | None:
    """The positions that `self[indices]` reads, and the shape of the result; None if no axis is indexed."""
    indexed = tuple(d for d, i in enumerate(indices) if i is not None)
    if not indexed:
        return None
    at = [wrap(i, self.shape[d]) for d, i in enumerate(indices) if i is not None]
    dtype = max((i.dtype for i in at), key=lambda t: t.itemsize)
    batch = jnp.broadcast_shapes(*(i.shape for i in at))
    stacked = jnp.stack([jnp.broadcast_to(cast(i, dtype), batch) for i in at], axis=-1)
    whole = [n for d, n in enumerate(self.shape) if d not in indexed]
    adjoin = indexed[-1] - indexed[0] == len(indexed) - 1
    first = indexed[0] if adjoin else 0
    shape = (*whole[:first], *batch, *whole[first:])
    kept = (*range(first), *range(first + len(batch), len(shape)))
    return Places(stacked, lax.ScatterDimensionNumbers(kept, indexed, indexed)), shape


def index(self: Array, indices: Sequence[Array | None]) -> Array:
    """`self[indices]`, by one `lax.gather`."""
    found = _places(self, indices)
    if found is None:
        return self
    places, shape = found
    return places.read(self, shape) if self.size and places.indices.size else jnp.zeros(shape, self.dtype)


def index_put(self: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False) -> Array:
    """`self` with `self[indices]` set to `values`, or with them added; `values` broadcast to that shape."""
    found = _places(self, indices)
    if found is None:
        values = jnp.broadcast_to(cast(values, self.dtype), self.shape)
        return (self | values if self.dtype == BOOL else self + values) if accumulate else values
    places, shape = found
    values = jnp.broadcast_to(_squeezed(values, len(shape)), shape)
    return combine(self, places, values, "sum" if accumulate else "set")


def _squeezed(values: Array, ndim: int) -> Array:
    """`values` without the leading axes of size 1 beyond `ndim`, which torch permits."""
    return values.reshape(values.shape[max(values.ndim - ndim, 0) :]) if values.ndim > ndim else values


def _clamped(self: Array, indices: Sequence[Array | None]) -> list[Array | None]:
    """Indices clamped to the bounds, because masked ones may be arbitrary."""
    return [
        i if i is None else jnp.clip(narrow(i, n), -n, max(n - 1, 0)) for i, n in zip(indices, self.shape, strict=False)
    ]


def _unsafe_masked_index(self: Array, mask: Array, indices: Sequence[Array | None], fill: Any) -> Array:
    """`self[indices]` where `mask` is true, otherwise `fill`; masked-out indices may be out of range."""
    return jnp.where(mask, index(self, _clamped(self, indices)), cast(fill, self.dtype))


def _unsafe_masked_index_put_accumulate(
    self: Array, mask: Array, indices: Sequence[Array | None], values: Array
) -> Array:
    """`self` with `values` added at `indices` where `mask` is true."""
    require_dtype(self, values)
    return index_put(self, _clamped(self, indices), jnp.where(mask, values, jnp.zeros((), values.dtype)), True)


def index_select(self: Array, dim: int, index: Array) -> Array:
    """The slices of `self` along `dim` at the positions in a 1-d or 0-d `index`; a 0-d array stays 0-d.

    `jnp.take` also handles indices out of bounds, which `check:` has excluded, and traces five equations, not three.
    """
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if self.ndim == 0:
        if index.size != 1:
            raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)")
        return self
    dim = axis(self, dim)
    shape = (*self.shape[:dim], index.size, *self.shape[dim + 1 :])
    if self.size == 0 or index.size == 0:
        return jnp.zeros(shape, self.dtype)
    return slices(self.shape, dim, index.reshape(-1)).read(self, shape)


def gather(self: Array, dim: int, index: Array, *, sparse_grad: bool = False) -> Array:
    """`self[..., index[i], ...]` along `dim`, of index's shape, which may be smaller in the other axes.

    `jnp.take_along_axis` broadcasts an index of size 1 in those axes: (4, 5) by (1, 2) is (4, 2), in torch (1, 2).
    """
    shape, dim = index.shape, axis(self, dim)
    if self.size == 0 or index.size == 0:
        return jnp.zeros(shape, self.dtype)
    self, index = self.reshape(self.shape or (1,)), index.reshape(index.shape or (1,))
    reach = tuple(self.shape[d] if d == dim else n for d, n in enumerate(index.shape))
    part = self if reach == self.shape else lax.slice(self, (0,) * self.ndim, reach)
    return elements(reach, dim, index).read(part, index.shape).reshape(shape)


def put(self: Array, index: Array, source: Array, accumulate: bool = False) -> Array:
    """`self` with the elements at flat positions `index` set to those of `source`, or with these added."""
    require_dtype(self, source)
    if index.size != source.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.size}, index.numel() = {index.size}"
        )
    places = Places(wrap(index, self.size).reshape(-1, 1), lax.ScatterDimensionNumbers((), (0,), (0,)))
    flat = combine(self.reshape(-1), places, source.reshape(-1), "sum" if accumulate else "set")
    return flat.reshape(self.shape)


# Alternatives of fixed shape to `x[mask]`, `nonzero` and `masked_select`, for error messages.
FIXED = (
    "torch.where(mask, new, x) changes the elements of a mask, "
    "and torch.nonzero_static(x, size=...) gives a fixed number of rows"
)


def _ranks(mask: Array) -> Array:
    """The inclusive cumulative count of a flat bool mask, minus one."""
    dtype = np.dtype("int32") if isinstance(mask.size, int) and mask.size < 2**31 else INT64
    return lax.cumsum(window_operand(cast(mask, dtype))) - 1


@partial(jax.jit, static_argnames="shape")
def _packed_places(x: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """(flat positions of the nonzero elements of `x`, broadcast to `shape`, in order, padded with 0; their count)."""
    flat = jnp.broadcast_to(truth(x), shape).reshape(-1)
    rank = _ranks(flat)
    positions = lax.iota(rank.dtype, flat.size)
    places = jnp.zeros(flat.size, rank.dtype).at[jnp.where(flat, rank, flat.size)].set(positions, mode="drop")
    return places, jnp.count_nonzero(flat)


def _chosen(x: Array, shape: tuple[int, ...]) -> Array:
    """Flat positions of the nonzero elements of `x`, broadcast to `shape`; reads their count, so `x` is concrete."""
    if 0 in shape:
        return jnp.zeros(0, np.dtype("int32"))
    places, count = _packed_places(x, shape=shape)
    return places[: extent(count, FIXED)]


@partial(jax.jit, static_argnames="shape")
def _coordinates(flat: Array, shape: tuple[int, ...]) -> Array:
    """(n, ndim) int64 coordinates of flat positions."""
    columns = jnp.unravel_index(flat, shape)
    return jnp.stack([cast(c, INT64) for c in columns], axis=1) if shape else jnp.zeros((flat.size, 0), INT64)


def nonzero(self: Array) -> Array:
    """(n, ndim) int64 coordinates of the nonzero elements, in row-major order."""
    return _coordinates(_chosen(self, self.shape), shape=self.shape)


def nonzero_static(self: Array, *, size: int, fill_value: int = -1) -> Array:
    """The first `size` rows of `nonzero`; missing rows are filled with `fill_value`."""
    if self.size == 0 or size == 0:
        return jnp.full((size, self.ndim), fill_value, INT64)
    places, count = _packed_places(self, shape=self.shape)
    places = jnp.pad(places, (0, max(size - places.size, 0)))[:size]
    held = lax.iota(INT64, size) < count
    return jnp.where(held[:, None], _coordinates(places, shape=self.shape), lax.full((), fill_value, INT64))


def masked_select(self: Array, mask: Array) -> Array:
    """The elements of `self` where `mask` is true, as a 1-d array; both are broadcast."""
    shape = jnp.broadcast_shapes(self.shape, mask.shape)
    return _taken(self, _chosen(mask, shape), shape=shape)


@partial(jax.jit, static_argnames="shape")
def _taken(x: Array, places: Array, shape: tuple[int, ...]) -> Array:
    """The elements at flat positions of `x`, broadcast to `shape`."""
    return index_select(jnp.broadcast_to(x, shape).reshape(-1), 0, places)


def masked_scatter(self: Array, mask: Array, source: Array) -> Array:
    """`self` with the elements where `mask` is true replaced by those of `source`, in order; both are broadcast."""
    if mask.dtype != BOOL:
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask.dtype}")
    if self.dtype != source.dtype:
        raise RuntimeError(
            f"masked_scatter_: expected self and source to have same dtypes but got {self.dtype} and {source.dtype}"
        )
    shape = jnp.broadcast_shapes(self.shape, mask.shape)
    self = jnp.broadcast_to(self, shape)
    if self.size == 0 or source.size == 0:
        return self
    mask = jnp.broadcast_to(mask, shape)
    values = source.reshape(-1).at[_ranks(mask.reshape(-1))].get(mode="clip", wrap_negative_indices=False)
    return jnp.where(mask, values.reshape(shape), self)


def masked_scatter_backward(grad_output: Array, mask: Array, sizes: list[int]) -> Array:
    """The gradient of `source`, of shape `sizes`: the elements of `grad_output` where `mask` is true, then zeros."""
    grad = jnp.zeros(int(np.prod(sizes, dtype=np.int64)), grad_output.dtype)
    mask = jnp.broadcast_to(mask, grad_output.shape).reshape(-1)
    if grad.size == 0 or mask.size == 0:
        return grad.reshape(sizes)
    places = jnp.where(mask, _ranks(mask), grad.size)
    return grad.at[places].set(grad_output.reshape(-1), mode="drop").reshape(sizes)


def put_where(self: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False) -> Array:
    """`self` with `values` written where the only mask among `indices` is true, the same values at each position.

    Raises:
        NotImplementedError: the assignment of values to positions depends on the mask, or there are other indices.
    """
    before, mask = next((i, index) for i, index in enumerate(indices) if index is not None)
    others = indices[before + 1 :]
    after = self.ndim - before - mask.ndim
    if any(i is not None for i in others) or (values.ndim > after and values.shape[values.ndim - after - 1] != 1):
        raise NotImplementedError(
            "index_put: an index is a mask, so the number of places depends on data; expected one mask and one value "
            "for all of its places, or torch.where"
        )
    if values.ndim > after:
        split = values.ndim - after
        values = values.reshape(*values.shape[: split - 1], *(1,) * mask.ndim, *values.shape[split:])
    mask = truth(mask).reshape(*mask.shape, *(1,) * after)
    return jnp.where(mask, self + values if accumulate else values, self)
