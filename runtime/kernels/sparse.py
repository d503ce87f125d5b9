"""Index arithmetic of sparse tensors in JAX: row pointers, flat positions, and sums and lookups by position.

COO indices are `(sparse_dim, nnz)`; a flat position is the row-major index in a dense tensor of the sparse dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp

from tenax.kernels.search import insertion


def _convert_indices_from_coo_to_csr(self: jax.Array, size: int, out_int32: bool = False) -> jax.Array:
    """Row pointers `(size + 1,)` of sorted row numbers `(nnz,)`."""
    begins = insertion(self, jnp.arange(size + 1, dtype=self.dtype), jnp.less)
    return begins.astype("int32" if out_int32 else "int64")


def _convert_indices_from_csr_to_coo(
    crow_indices: jax.Array, col_indices: jax.Array, out_int32: bool = False, transpose: bool = False
) -> jax.Array:
    """Batch indices, row and column of each value: `(batch_dims + 2, number of values in all batches)`."""
    *batch, nnz = col_indices.shape
    place = jnp.broadcast_to(jnp.arange(nnz, dtype=crow_indices.dtype), col_indices.shape)
    row = insertion(crow_indices, place, jnp.less_equal) - 1
    axes = [jax.lax.broadcasted_iota("int64", col_indices.shape, d) for d in range(len(batch))]
    rows = [row, col_indices]
    found = [*axes, *(rows[::-1] if transpose else rows)]
    return jnp.stack([x.astype("int32" if out_int32 else "int64").reshape(-1) for x in found])


def flat(indices: jax.Array, size: Sequence[int]) -> jax.Array:
    """Flat positions `(nnz,)` of indices."""
    positions = jnp.zeros(indices.shape[1], indices.dtype)
    for index, extent in zip(indices, size, strict=True):
        positions = positions * extent + index
    return positions


def unflat(positions: jax.Array, size: Sequence[int]) -> jax.Array:
    """Indices of flat positions."""
    parts = [positions // math.prod(size[d + 1 :]) % extent for d, extent in enumerate(size)]
    return jnp.stack(parts) if parts else jnp.zeros((0, len(positions)), positions.dtype)


def scatter(values: jax.Array, rows: jax.Array, n: int) -> jax.Array:
    """Rows of values summed into `n` rows; bools by `or`."""
    out = jnp.zeros((n, *values.shape[1:]), values.dtype)
    return out.at[rows].max(values) if values.dtype == bool else out.at[rows].add(values)


def lookup(values: jax.Array, among: jax.Array, keys: jax.Array) -> jax.Array:
    """Rows of values at the sorted positions `among` that equal the keys; 0 for keys not found."""
    place, found = match(keys, among)
    return jnp.where(found.reshape(-1, *[1] * (values.ndim - 1)), values[place], jnp.zeros((), values.dtype))


def match(keys: jax.Array, among: jax.Array) -> tuple[jax.Array, jax.Array]:
    """(position of each key in the sorted, nonempty `among`, whether it is found)."""
    place = jnp.minimum(insertion(among, keys, jnp.less), len(among) - 1)
    return place, among[place] == keys


def product(indices: jax.Array, values: jax.Array, dense: jax.Array, m: int) -> jax.Array:
    """A COO matrix of `m` rows times a dense one."""
    return scatter(values[:, None] * dense[indices[1]], indices[0], m)
