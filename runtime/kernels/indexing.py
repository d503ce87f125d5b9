"""Reading and writing by index tensors: `x[i, :, j]`, gather, take and put.

An index list holds integer arrays, and `None` for whole axes; masks have been expanded before. As in NumPy, the axes of
the broadcast indices replace the indexed axes if these are adjacent, and otherwise come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

from tenax.kernels.scatter import TRUSTED, Places, combine, narrow, require_dtype, wrap
from tenax.words import BOOL, Array, axis, cast


class _Plan(NamedTuple):
    """Indices stacked along a last axis, the axes they index, the shape of the result, and its unindexed axes."""

    indices: Array
    indexed: tuple[int, ...]
    shape: tuple[int, ...]
    kept: tuple[int, ...]


def _plan(self: Array, indices: Sequence[Array | None]) -> _Plan | None:
    """The plan for `self[indices]`; None if no axis is indexed."""
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
    return _Plan(stacked, indexed, shape, kept)


def index(self: Array, indices: Sequence[Array | None]) -> Array:
    """`self[indices]`, by one `lax.gather`."""
    plan = _plan(self, indices)
    if plan is None:
        return self
    if self.size == 0 or plan.indices.size == 0:
        return jnp.zeros(plan.shape, self.dtype)
    numbers = lax.GatherDimensionNumbers(plan.kept, plan.indexed, plan.indexed)
    sizes = tuple(1 if d in plan.indexed else n for d, n in enumerate(self.shape))
    return lax.gather(self, plan.indices, numbers, sizes, mode=TRUSTED)


def index_put(self: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False) -> Array:
    """`self` with `self[indices]` set to `values`, or with them added; `values` broadcast to that shape."""
    plan = _plan(self, indices)
    reduce = "sum" if accumulate else "set"
    if plan is None:
        values = jnp.broadcast_to(cast(values, self.dtype), self.shape)
        return (self | values if self.dtype == BOOL else self + values) if accumulate else values
    places = Places(plan.indices, lax.ScatterDimensionNumbers(plan.kept, plan.indexed, plan.indexed))
    return combine(self, places, jnp.broadcast_to(_squeezed(values, len(plan.shape)), plan.shape), reduce)


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
    others = tuple(d for d in range(self.ndim) if d != dim)
    sizes = tuple(1 if d == dim else n for d, n in enumerate(self.shape))
    numbers = lax.GatherDimensionNumbers(others, (dim,), (dim,))
    return lax.gather(self, narrow(index.reshape(-1, 1), self.shape[dim]), numbers, sizes, mode=TRUSTED)


def gather(self: Array, dim: int, index: Array, *, sparse_grad: bool = False) -> Array:
    """`self[..., index[i], ...]` along `dim`, of index's shape, which may be smaller in the other axes.

    `jnp.take_along_axis` broadcasts an index of size 1 in those axes: (4, 5) by (1, 2) is (4, 2), in torch (1, 2).
    """
    shape, dim = index.shape, axis(self, dim)
    if self.size == 0 or index.size == 0:
        return jnp.zeros(shape, self.dtype)
    self, index = self.reshape(self.shape or (1,)), index.reshape(index.shape or (1,))
    others = tuple(d for d in range(self.ndim) if d != dim)
    reach = tuple(self.shape[d] if d == dim else n for d, n in enumerate(index.shape))
    numbers = lax.GatherDimensionNumbers((), (dim,), (dim,), others, others)
    part = self if reach == self.shape else lax.slice(self, (0,) * self.ndim, reach)
    at = narrow(index, self.shape[dim])[..., None]
    return lax.gather(part, at, numbers, (1,) * self.ndim, mode=TRUSTED).reshape(shape)


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
