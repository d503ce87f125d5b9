"""Conversions between jagged rows (one array of values with offsets `(batch + 1,)`) and padded ones."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp

from tenax.kernels.search import insertion
from tenax.words import cast

Array = jax.Array


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
