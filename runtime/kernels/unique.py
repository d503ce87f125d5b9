"""Distinct values and runs of equal values; their number depends on the data, so arrays must be concrete.

Each op runs two programs: one finds where new values begin, the other has their number in its shapes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels import loops
from tenax.words import INT64, Array, axis, cast, extent

Groups = tuple[Array, Array, Array]


def _lexicographic(rows: Array) -> Array:
    """int32 order that sorts rows [n, m]: a stable sort by each column, from the last."""

    def by_column(i: int, order: Array) -> Array:
        column = jnp.take(rows, rows.shape[1] - 1 - i, axis=1)
        return lax.sort((column[order], order), num_keys=1)[1]

    order = jnp.arange(rows.shape[0], dtype=np.int32)
    return loops.fori_loop(0, rows.shape[1], by_column, order) if rows.size else order


@partial(jax.jit, static_argnames="consecutive")
def _begin(rows: Array, *, consecutive: bool) -> Groups:
    """(order of the rows, where distinct rows begin in it, group of each row).

    NaN differs from NaN, as in torch; `jnp.unique` of two NaNs is one.
    """
    order = jnp.arange(rows.shape[0], dtype=np.int32) if consecutive else _lexicographic(rows)
    ordered = rows if consecutive else rows[order]
    new = jnp.any(ordered[1:] != ordered[:-1], axis=1)
    new = jnp.concatenate([jnp.ones((min(1, rows.shape[0]),), bool), new])
    return order, new, jnp.zeros(rows.shape[0], INT64).at[order].set(jnp.cumsum(new, dtype=INT64) - 1)


@partial(jax.jit, static_argnames="size")
def _collect(rows: Array, order: Array, new: Array, *, size: int) -> tuple[Array, Array]:
    """(the first row of each of `size` groups, the number of rows in each)."""
    first = jnp.nonzero(new, size=size)[0]
    counts = jnp.diff(first, append=rows.shape[0])
    return rows[order[first]], cast(counts, INT64)


def _groups(rows: Array, consecutive: bool) -> Groups:
    """(distinct rows, group of each row, size of each group)."""
    order, new, inverse = _begin(rows, consecutive=consecutive)
    size = extent(jnp.sum(new), "jnp.unique(x, size=...) gives a fixed number of distinct values")
    values, counts = _collect(rows, order, new, size=size)
    return values, inverse, counts


def _of_elements(x: Array, consecutive: bool, return_inverse: bool, return_counts: bool) -> Groups:
    values, inverse, counts = _groups(x.reshape(-1, 1), consecutive)
    nothing = jnp.zeros((0,), INT64)
    return values[:, 0], inverse.reshape(x.shape) if return_inverse else nothing, counts if return_counts else nothing


def refuse_slices(x: Any, dim: int) -> None:
    """Raise torch's error for slices without elements, whose number is not 0."""
    if x.shape.count(0) > 1:
        raise RuntimeError("Number of zero sized dimensions is more than one, so unique cannot be applied ")
    if x.size == 0 and x.shape[axis(x, dim)]:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")


def _of_slices(x: Array, dim: int, consecutive: bool) -> Groups:
    """Distinct slices, inverse and counts; along a dim, torch returns the latter two even if not requested."""
    refuse_slices(x, dim)
    slices = jnp.moveaxis(x, dim, 0)
    width = x.size // max(slices.shape[0], 1)
    values, inverse, counts = _groups(slices.reshape(slices.shape[0], width), consecutive)
    return jnp.moveaxis(values.reshape(-1, *slices.shape[1:]), 0, dim), inverse, counts


def _unique2(self: Array, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Groups:
    """(sorted distinct elements, index of each element among them, counts); the last two empty if not requested."""
    return _of_elements(self, False, return_inverse, return_counts)


def unique_dim(
    self: Array, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> Groups:
    """Distinct slices along `dim` in lexicographic order, with inverse and counts."""
    return _of_slices(self, dim, False)


def unique_consecutive(
    self: Array, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Groups:
    """The first element, or slice along `dim`, of each run of equal ones, with inverse and counts."""
    if dim is None:
        return _of_elements(self, True, return_inverse, return_counts)
    return _of_slices(self, dim, True)
