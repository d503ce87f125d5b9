"""Reading and writing by masks: positions of nonzero elements, and values packed at them.

Packing is a cumulative count of the mask and one scatter or gather: linear, with static shapes up to the final slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels.indexing import index_select
from tenax.words import BOOL, INT64, Array, cast, extent, window_operand

# Alternatives of fixed shape to `x[mask]`, `nonzero` and `masked_select`, for error messages.
FIXED = (
    "torch.where(mask, new, x) changes the elements of a mask, "
    "and torch.nonzero_static(x, size=...) gives a fixed number of rows"
)


def _truth(x: Array) -> Array:
    """Which elements are nonzero."""
    return x if x.dtype == BOOL else x != jnp.zeros((), x.dtype)


def _ranks(mask: Array) -> Array:
    """The inclusive cumulative count of a flat bool mask, minus one."""
    dtype = np.dtype("int32") if isinstance(mask.size, int) and mask.size < 2**31 else INT64
    return lax.cumsum(window_operand(cast(mask, dtype))) - 1


@partial(jax.jit, static_argnames="shape")
def _packed_places(x: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """(flat positions of the nonzero elements of `x`, broadcast to `shape`, in order, padded with 0; their count)."""
    flat = jnp.broadcast_to(_truth(x), shape).reshape(-1)
    rank = _ranks(flat)
    positions = lax.iota(rank.dtype, flat.size)
    places = jnp.zeros(flat.size, rank.dtype).at[jnp.where(flat, rank, flat.size)].set(positions, mode="drop")
    return places, jnp.count_nonzero(flat)


def _places(x: Array, shape: tuple[int, ...]) -> Array:
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
    return _coordinates(_places(self, self.shape), shape=self.shape)


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
    return _taken(self, _places(mask, shape), shape=shape)


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
    mask = _truth(mask).reshape(*mask.shape, *(1,) * after)
    return jnp.where(mask, self + values if accumulate else values, self)
