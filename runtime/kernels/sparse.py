"""Row numbers of sparse matrices: one for each value (COO), or the place where each row begins (CSR)."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def _convert_indices_from_coo_to_csr(self: jax.Array, size: int, out_int32: bool = False) -> jax.Array:
    """The `size + 1` places `(size + 1,)` where rows begin, of sorted row numbers `(nnz,)`."""
    begins = jnp.searchsorted(self, jnp.arange(size + 1, dtype=self.dtype))
    return begins.astype("int32" if out_int32 else "int64")


def _convert_indices_from_csr_to_coo(
    crow_indices: jax.Array, col_indices: jax.Array, out_int32: bool = False, transpose: bool = False
) -> jax.Array:
    """Batch indices, row and column of each value: `(batch_dims + 2, values of all batches)`."""
    *batch, nnz = col_indices.shape
    crow = crow_indices.reshape(-1, crow_indices.shape[-1])
    place = jnp.arange(nnz, dtype=crow.dtype)
    row = jax.vmap(lambda begins: jnp.searchsorted(begins, place, side="right"))(crow).reshape(col_indices.shape) - 1
    axes = [jax.lax.broadcasted_iota("int64", col_indices.shape, d) for d in range(len(batch))]
    rows = [row, col_indices]
    found = [*axes, *(rows[::-1] if transpose else rows)]
    return jnp.stack([x.astype("int32" if out_int32 else "int64").reshape(-1) for x in found])
