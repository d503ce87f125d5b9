"""Writing or reducing elements and slices into given positions: the basis of all scatter and index_* ops.

Indices have been checked (`check:` in the spec), so they are not clamped here; they are narrowed to int32 where the
shape allows, which is faster on accelerators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels.in_place import update
from tenax.words import BOOL, INT64, Array, Gradients, axis, cast, is_complex, is_float, opmath, place, with_derivative

TRUSTED = lax.GatherScatterMode.PROMISE_IN_BOUNDS
_INT32 = np.dtype("int32")

_SCATTERS: dict[str, Callable[..., Array]] = {
    "set": lax.scatter,
    "sum": lax.scatter_add,
    "mean": lax.scatter_add,
    "prod": lax.scatter_mul,
    "amax": lax.scatter_max,
    "amin": lax.scatter_min,
}
# For bools, a sum is `or` and a product is `and`.
_OF_BOOL = {"sum": "amax", "mean": "amax", "prod": "amin"}


class Places(NamedTuple):
    """Positions of updates: indices whose last axis is the index vector, and dimension numbers of `lax.scatter`."""

    indices: Array
    numbers: lax.ScatterDimensionNumbers

    def write(self, reduce: str, held: Array, updates: Array) -> Array:
        """Run one `lax` scatter; `updates` have the dtype of `held`."""
        if reduce == "set" and self.indices.size == self.indices.shape[-1] and not self.numbers.operand_batching_dims:
            return self._write_one(held, updates)
        return _SCATTERS[reduce](held, self.indices, updates, self.numbers, mode=TRUSTED)

    def _write_one(self, held: Array, updates: Array) -> Array:
        """Write at the only position."""
        n = self.numbers
        window = iter([updates.shape[d] for d in n.update_window_dims])
        part = updates.reshape([1 if d in n.inserted_window_dims else next(window) for d in range(held.ndim)])
        starts: list[Any] = [place(0)] * held.ndim
        for d, at in zip(n.scatter_dims_to_operand_dims, self.indices.reshape(-1), strict=True):
            starts[d] = at
        return update(held, part, starts)

    def read(self, held: Array, shape: Sequence[int]) -> Array:
        """What `held` has at the positions, in the shape of the updates."""
        n = self.numbers
        window = iter([shape[d] for d in n.update_window_dims])
        single = {*n.inserted_window_dims, *n.operand_batching_dims}
        sizes = [1 if d in single else next(window) for d in range(held.ndim)]
        lists = n.update_window_dims, n.inserted_window_dims, n.scatter_dims_to_operand_dims, n.operand_batching_dims
        numbers = lax.GatherDimensionNumbers(*map(tuple, (*lists, n.scatter_indices_batching_dims)))
        return lax.gather(held, self.indices, numbers, sizes, mode=TRUSTED)


def narrow(index: Array, size: int) -> Array:
    """The index as int32 if `size` fits, otherwise int64."""
    return cast(index, _INT32 if isinstance(size, int) and size < 2**31 else INT64)


def take_rows(table: Array, indices: Array) -> Array:
    """table[indices], for indices from 0 whose bounds were checked."""
    indices = narrow(indices, table.shape[0])
    return table.at[indices].get(mode="promise_in_bounds", wrap_negative_indices=False)


def wrap(index: Array, size: int) -> Array:
    """A narrowed index with negative values counted from the end."""
    index = narrow(index, size)
    return jnp.where(index < 0, index + lax.full((), size, index.dtype), index)


def elements(shape: tuple[int, ...], dim: int, index: Array) -> Places:
    """One position per element of `index`, whose shape equals `shape` except in `dim`."""
    others = tuple(d for d in range(len(shape)) if d != dim)
    numbers = lax.ScatterDimensionNumbers((), (dim,), (dim,), others, others)
    return Places(narrow(index, shape[dim])[..., None], numbers)


def slices(shape: tuple[int, ...], dim: int, index: Array) -> Places:
    """One slice across `dim` per element of a 1-d `index`."""
    others = tuple(d for d in range(len(shape)) if d != dim)
    return Places(narrow(index, shape[dim])[:, None], lax.ScatterDimensionNumbers(others, (dim,), (dim,)))


def _identity(reduce: str, dtype: np.dtype) -> Any:
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    low = reduce == "amax"
    if is_float(dtype):
        return -np.inf if low else np.inf
    if dtype == BOOL:
        return not low
    return jnp.iinfo(dtype).min if low else jnp.iinfo(dtype).max


def combine(self: Array, places: Places, updates: Array, reduce: str = "set", include_self: bool = True) -> Array:
    """`self` with `updates` set or reduced into `places`, in self's dtype; float16 and bfloat16 sum in float32.

    With `include_self=False`, old values at written positions are excluded. A mean of integers is floored.

    The gradients of what one position is written with twice are torch's: it has them all if the last one stays, and
    they are divided equally among equal extrema.
    """
    if updates.size == 0 or self.size == 0:
        return self

    def value(self: Array, updates: Array, indices: Array) -> Array:
        return _combined(self, places._replace(indices=indices), updates, reduce, include_self)

    def gradients(grad: Array, result: Array, self: Array, updates: Array, indices: Array) -> Gradients:
        def slopes() -> tuple[Array, Array]:
            there = places._replace(indices=indices)
            kept, new = _slopes(grad, result, self, there, updates, reduce, include_self)
            if include_self and reduce != "set":
                return kept, new
            written = there.write("set", jnp.zeros(self.shape, bool), jnp.ones(updates.shape, bool))
            return jnp.where(written, 0, kept), new

        return {"self, updates": slopes}

    if reduce in ("sum", "mean"):
        return value(self, updates, places.indices)
    return with_derivative(value, gradients, self=self, updates=updates, indices=places.indices)


def _slopes(
    grad: Array, result: Array, self: Array, places: Places, updates: Array, reduce: str, include_self: bool
) -> tuple[Array, Array]:
    """The gradients of `self` and `updates`, as in torch's `scatter_reduce_backward`."""
    if reduce == "set":
        return grad, places.read(grad, updates.shape)
    if reduce != "prod":
        first, others = self == result, updates == places.read(result, updates.shape)
        count = places.write("sum", cast(first, grad.dtype), cast(others, grad.dtype))
        shared = grad / count
        return jnp.where(first, shared, 0), jnp.where(others, places.read(shared, updates.shape), 0)
    zero, gap = self == 0, updates == 0
    held = jnp.where(zero, 1, self)
    gaps = places.read(places.write("sum", 0 * self, cast(gap, self.dtype)), updates.shape)
    alone = gap & (gaps == 1)
    others = combine(self, places, jnp.where(alone, 1, updates), reduce, include_self)
    of_others, of_all = (places.read(grad * x, updates.shape) for x in (others, result))
    return (
        grad * (combine(held, places, updates, reduce, include_self) / held),
        jnp.where(alone, of_others, of_all / jnp.where(gap, 1, updates)),
    )


def _combined(self: Array, places: Places, updates: Array, reduce: str, include_self: bool) -> Array:
    reduce = _OF_BOOL.get(reduce, reduce) if self.dtype == BOOL else reduce
    dtype = opmath(self.dtype) if reduce in ("sum", "mean", "prod") else self.dtype
    held, updates = cast(self, dtype), cast(updates, dtype)
    if not include_self:
        held = places.write("set", held, jnp.full_like(updates, _identity(reduce, dtype)))
    result = places.write(reduce, held, updates)
    if reduce == "mean":
        count = places.write("sum", jnp.full_like(held, int(include_self)), jnp.ones_like(updates))
        count = jnp.where(count == 0, 1, count)
        result = result / count if is_float(dtype) or is_complex(dtype) else jnp.floor_divide(result, count)
    return cast(result, self.dtype)


def _combine_elements(self: Array, dim: int, index: Array, src: Array, reduce: str, include_self: bool = True) -> Array:
    """Write `src[i]` to position `index[i]` of axis `dim`; `index` may be smaller than `self` and `src`."""
    shape = self.shape
    dim = axis(self, dim)
    if not self.ndim:
        self, index, src = self.reshape(1), index.reshape(-1), src.reshape(-1)
    if not index.ndim:
        index = index.reshape(1)
    if not index.size:
        return self.reshape(shape)
    src = lax.slice(src.reshape(src.shape or (1,)), (0,) * index.ndim, index.shape)
    reach = tuple(self.shape[d] if d == dim else n for d, n in enumerate(index.shape))
    part = self if reach == self.shape else lax.slice(self, (0,) * self.ndim, reach)
    part = combine(part, elements(reach, dim, index), src, reduce, include_self)
    if reach != self.shape:
        part = update(self, part, (place(0),) * self.ndim)
    return part.reshape(shape)


def scatter(self: Array, dim: int, index: Array, src: Array) -> Array:
    """`self[..., index[i], ...] = src[i]` along `dim`; of several writes to one position the last wins."""
    return _combine_elements(self, dim, index, src, "set")


def scatter_reduce(self: Array, dim: int, index: Array, src: Array, reduce: str, *, include_self: bool = True) -> Array:
    """Elements of `src` reduced into the positions of `index` by sum, prod, mean, amax or amin."""
    return _combine_elements(self, dim, index, src, reduce, include_self)


def _combine_slices(
    self: Array, dim: int, index: Array, source: Array, reduce: str, include_self: bool = True
) -> Array:
    """Write slice `i` of `source` across `dim` to position `index[i]`, which may be negative."""
    dim, shape = axis(self, dim), self.shape
    self, index = self.reshape(shape or (1,)), index.reshape(-1)
    source = source.reshape(tuple(index.size if d == dim else n for d, n in enumerate(self.shape)))
    places = slices(self.shape, dim, wrap(index, self.shape[dim]))
    return combine(self, places, source, reduce, include_self).reshape(shape)


def require_dtype(self: Array, source: Array) -> None:
    """Raise a TypeError if `source` would have to be cast; the runtime raises torch's error in its place."""
    if self.dtype != source.dtype:
        raise TypeError(f"self and source have the dtypes {self.dtype} and {source.dtype}; expected the same")


def _fitting(self: Array, dim: int, source: Array) -> None:
    require_dtype(self, source)
    beside = [tuple(n for d, n in enumerate(x.shape) if d != axis(self, dim)) for x in (self, source)]
    if self.ndim != source.ndim or beside[0] != beside[1]:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(self.shape)} source.shape = {list(source.shape)}"
        )


def index_copy(self: Array, dim: int, index: Array, source: Array) -> Array:
    """Slices of `source` across `dim` written to the positions `index`."""
    require_dtype(self, source)
    return _combine_slices(self, dim, index, source, "set")


def index_add(self: Array, dim: int, index: Array, source: Array, *, alpha: Any = 1) -> Array:
    """`alpha` times the slices of `source` added at the positions `index`."""
    _fitting(self, dim, source)
    source = cast(source, opmath(self.dtype))
    return _combine_slices(self, dim, index, source * cast(alpha, source.dtype), "sum")


def index_reduce(
    self: Array, dim: int, index: Array, source: Array, reduce: str, *, include_self: bool = True
) -> Array:
    """Slices of `source` reduced into the positions `index` by prod, mean, amax or amin."""
    _fitting(self, dim, source)
    if index.ndim > 1:
        raise ValueError(f"index has {index.ndim} axes; expected 1")
    return _combine_slices(self, dim, index, source, reduce, include_self)


def index_fill(self: Array, dim: int, index: Array, value: Any) -> Array:
    """The slices across `dim` at the positions `index`, which may be negative, set to `value`.

    A position may occur twice, and counts once in the gradient of `value`.
    """
    place_of_dim = axis(self, dim)
    filled = jnp.zeros(self.shape[place_of_dim : place_of_dim + 1] or (1,), bool).at[index.reshape(-1)].set(True)
    filled = lax.broadcast_in_dim(filled, self.shape, (place_of_dim,)) if self.ndim else filled[0]
    return jnp.where(filled, cast(value, self.dtype), self)
