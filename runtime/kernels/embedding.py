"""Rows of a table by index: the gradient of a lookup, renormalization, and reductions of bags of rows."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels.distance import Order, linalg_vector_norm, shrink
from tenax.kernels.scatter import take_rows
from tenax.words import FLOAT32, Array, Number, cast, opmath

SUM, MEAN, MAX = 0, 1, 2


def embedding(
    weight: Array,
    indices: Array,
    padding_idx: int | Number = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Array:
    """The rows of the table [V, D] at `indices` of any shape, which were checked; the rest concerns the gradient."""
    return take_rows(weight, indices)


def _scatter(
    rows: Array, indices: Array, num_weights: int, padding_idx: int | Number, scale_grad_by_freq: bool, dtype: np.dtype
) -> Array:
    """Sum of the rows per index, [num_weights, D], without the padding; a mean with `scale_grad_by_freq`.

    The sum is accumulated in the wide dtype, because an index may occur thousands of times.
    """
    # Indices past the end are dropped; negative ones would count from the end.
    kept = jnp.where((indices == cast(padding_idx, indices.dtype)) | (indices < 0), num_weights, indices)
    if scale_grad_by_freq:
        times = jnp.zeros((num_weights,), FLOAT32).at[kept].add(1, mode="drop")
        rows = rows / cast(times.at[kept].get(mode="fill", fill_value=1), rows.dtype)[:, None]
    table = jnp.zeros((num_weights, rows.shape[1]), rows.dtype)
    return cast(table.at[kept].add(rows, mode="drop"), dtype)


def embedding_dense_backward(
    grad_output: Array, indices: Array, num_weights: int, padding_idx: int | Number, scale_grad_by_freq: bool
) -> Array:
    """Gradient of the table, [num_weights, D]; 0 for `padding_idx`."""
    rows = cast(grad_output, opmath(grad_output.dtype)).reshape(indices.size, grad_output.shape[-1])
    return _scatter(rows, indices.reshape(-1), num_weights, padding_idx, scale_grad_by_freq, grad_output.dtype)


def embedding_renorm_(self: Array, indices: Array, max_norm: Array, norm_type: Order) -> Array:
    """The table with the looked-up rows scaled down to a norm of at most `max_norm`."""
    indices = indices.reshape(-1)
    rows = take_rows(cast(self, opmath(self.dtype)), indices)
    rows = rows * shrink(linalg_vector_norm(rows, norm_type, 1, True), max_norm)
    # Repeated indices write the same row repeatedly.
    return self.at[indices].set(cast(rows, self.dtype))


def _bag(indices: Array, offsets: Array) -> Array:
    """The bag of each index."""
    begins = jnp.zeros(indices.shape, offsets.dtype).at[offsets].add(jnp.ones((), offsets.dtype), mode="drop")
    return lax.cumsum(begins) - 1


def _embedding_bag(
    weight: Array,
    indices: Array,
    offsets: Array,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    per_sample_weights: Array | None = None,
    include_last_offset: bool = False,
    padding_idx: int | Number = -1,
) -> tuple[Array, Array, Array, Array]:
    """(bags [B, D], bag of each index, number of indices per offset, row that each maximum is from).

    Bag b holds the indices from offsets[b] on, without the padding; an empty bag is zero. The last result is empty
    unless `mode` is MAX.
    """
    bags = offsets.shape[0] - include_last_offset
    bag = _bag(indices, offsets[:bags])
    held = jnp.where(indices == cast(padding_idx, indices.dtype), bags, bag)
    sizes = jnp.zeros(offsets.shape, indices.dtype).at[held].add(jnp.where(held < bags, 1, 0), mode="drop")
    rows = take_rows(cast(weight, opmath(weight.dtype)), indices)
    chosen = jnp.zeros((0,), indices.dtype)
    if mode == MAX:
        out, chosen = _largest(rows, indices, held, bags)
    else:
        if per_sample_weights is not None:
            rows = rows * cast(per_sample_weights, rows.dtype)[:, None]
        out = jnp.zeros((bags, rows.shape[1]), rows.dtype).at[held].add(rows, mode="drop")
        if mode == MEAN:
            out = out / cast(jnp.maximum(sizes[:bags], 1), out.dtype)[:, None]
    return cast(out, weight.dtype), cast(bag, indices.dtype), sizes, chosen


def _largest(rows: Array, indices: Array, bag: Array, bags: int) -> tuple[Array, Array]:
    """(maximum of each bag and column, the index of its row), zeros for an empty bag."""
    last = indices.shape[0]
    if not bags or not last:  # without bags, the CPU kernel reads memory that is not there
        return jnp.zeros((bags, rows.shape[1]), rows.dtype), jnp.zeros((bags, rows.shape[1]), indices.dtype)
    top = jnp.full((bags, rows.shape[1]), -jnp.inf, rows.dtype).at[bag].max(rows, mode="drop")
    hit = (rows == top.at[bag].get(mode="clip")) | jnp.isnan(rows)
    place = jnp.where(hit, jnp.arange(last, dtype=np.int32)[:, None], last)
    first = jnp.full(top.shape, last, np.int32).at[bag].min(place, mode="drop")
    chosen = indices.at[first].get(mode="fill", fill_value=0)
    return jnp.where(first == last, cast(0, top.dtype), top), chosen


def _embedding_bag_dense_backward(
    grad: Array,
    indices: Array,
    offset2bag: Array,
    bag_size: Array,
    maximum_indices: Array,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Array | None,
    padding_idx: int | Number = -1,
) -> Array:
    """Gradient of the table, [num_weights, D]."""
    wide, sizes = cast(grad, opmath(grad.dtype)), bag_size[: grad.shape[0]]
    if mode == MAX:
        rows = jnp.where(sizes[:, None] == 0, num_weights, maximum_indices)
        columns = jnp.broadcast_to(jnp.arange(grad.shape[1], dtype=rows.dtype), rows.shape)
        table = jnp.zeros((num_weights, grad.shape[1]), wide.dtype)
        return cast(table.at[rows, columns].add(wide, mode="drop"), grad.dtype)
    if mode == MEAN:
        wide = wide / cast(jnp.maximum(sizes, 1), wide.dtype)[:, None]
    rows = wide[offset2bag]
    if per_sample_weights is not None:
        rows = rows * cast(per_sample_weights, rows.dtype)[:, None]
    return _scatter(rows, indices, num_weights, padding_idx, scale_grad_by_freq, grad.dtype)


def _embedding_bag_per_sample_weights_backward(
    grad: Array,
    weight: Array,
    indices: Array,
    offsets: Array,
    offset2bag: Array,
    mode: int,
    padding_idx: int | Number = -1,
) -> Array:
    """Gradient of the weight of each index: its row times the gradient of its bag."""
    if offset2bag.shape != indices.shape:
        offset2bag = _bag(indices, offsets)
    wide = opmath(weight.dtype)
    along = lax.reduce_sum(cast(grad, wide)[offset2bag] * take_rows(cast(weight, wide), indices), (1,))
    return cast(jnp.where(indices == cast(padding_idx, indices.dtype), cast(0, wide), along), grad.dtype)
