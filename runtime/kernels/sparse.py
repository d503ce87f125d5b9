"""Index arithmetic of sparse tensors in JAX: row pointers, flat positions, and sums and lookups by position.

COO indices are `(sparse_dim, nnz)`; a flat position is the row-major index in a dense tensor of the sparse dimensions.
Jagged rows are one array of values with offsets `(batch + 1,)`, and are converted to padded ones and back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp

from tenax.kernels.search import insertion
from tenax.words import Array, cast


def _convert_indices_from_coo_to_csr(self: Array, size: int, out_int32: bool = False) -> Array:
    """Row pointers `(size + 1,)` of sorted row numbers `(nnz,)`."""
    begins = insertion(self, jnp.arange(size + 1, dtype=self.dtype), jnp.less)
    return begins.astype("int32" if out_int32 else "int64")


def _convert_indices_from_csr_to_coo(
    crow_indices: Array, col_indices: Array, out_int32: bool = False, transpose: bool = False
) -> Array:
    """Batch indices, row and column of each value: `(batch_dims + 2, number of values in all batches)`."""
    *batch, nnz = col_indices.shape
    place = jnp.broadcast_to(jnp.arange(nnz, dtype=crow_indices.dtype), col_indices.shape)
    row = insertion(crow_indices, place, jnp.less_equal) - 1
    axes = [jax.lax.broadcasted_iota("int64", col_indices.shape, d) for d in range(len(batch))]
    rows = [row, col_indices]
    found = [*axes, *(rows[::-1] if transpose else rows)]
    return jnp.stack([x.astype("int32" if out_int32 else "int64").reshape(-1) for x in found])


def flat(indices: Array, size: Sequence[int]) -> Array:
    """Flat positions `(nnz,)` of indices."""
    positions = jnp.zeros(indices.shape[1], indices.dtype)
    for index, extent in zip(indices, size, strict=True):
        positions = positions * extent + index
    return positions


def unflat(positions: Array, size: Sequence[int]) -> Array:
    """Indices of flat positions."""
    parts = [positions // math.prod(size[d + 1 :]) % extent for d, extent in enumerate(size)]
    return jnp.stack(parts) if parts else jnp.zeros((0, len(positions)), positions.dtype)


def scatter(values: Array, rows: Array, n: int) -> Array:
    """Rows of values summed into `n` rows; bools by `or`."""
    out = jnp.zeros((n, *values.shape[1:]), values.dtype)
    return out.at[rows].max(values) if values.dtype == bool else out.at[rows].add(values)


def lookup(values: Array, among: Array, keys: Array) -> Array:
    """Rows of values at the sorted positions `among` that equal the keys; 0 for keys not found."""
    place, found = match(keys, among)
    return jnp.where(found.reshape(-1, *[1] * (values.ndim - 1)), values[place], jnp.zeros((), values.dtype))


def match(keys: Array, among: Array) -> tuple[Array, Array]:
    """(position of each key in the sorted, nonempty `among`, whether it is found)."""
    place = jnp.minimum(insertion(among, keys, jnp.less), len(among) - 1)
    return place, among[place] == keys


def product(indices: Array, values: Array, dense: Array, m: int) -> Array:
    """A COO matrix of `m` rows times a dense one."""
    return scatter(values[:, None] * dense[indices[1]], indices[0], m)


def _one(offsets: Sequence[Array], op: str) -> Array:
    if len(offsets) != 1:
        raise NotImplementedError(f"{op}: offsets of {len(offsets)} jagged dimensions; expected one")
    return offsets[0]


def _jagged_to_padded_dense_forward(
    values: Array, offsets: Sequence[Array], max_lengths: Sequence[int], padding_value: Array | float = 0.0
) -> Array:
    """`(total, *rest)` to `(batch, max_length, *rest)`; longer rows are cut."""
    begins = _one(offsets, "_jagged_to_padded_dense_forward")
    place = begins[:-1, None] + jnp.arange(max_lengths[0], dtype=begins.dtype)
    inside = (place < begins[1:, None]).reshape(*place.shape, *[1] * (values.ndim - 1))
    if not values.shape[0]:
        return jnp.full((*place.shape, *values.shape[1:]), cast(padding_value, values.dtype))
    return jnp.where(inside, values.at[place].get(mode="clip"), cast(padding_value, values.dtype))


def _padded_dense_to_jagged_forward(dense: Array, offsets: Sequence[Array], total_L: int | None = None) -> Array:
    """`(batch, length, *rest)` to `(total_L, *rest)`; missing elements are 0."""
    begins = _one(offsets, "_padded_dense_to_jagged_forward")
    place = jnp.arange(int(begins[-1]) if total_L is None else total_L, dtype=begins.dtype)
    row = insertion(begins, place, jnp.less_equal) - 1
    return dense.at[row, place - begins[row]].get(mode="fill", fill_value=0)
