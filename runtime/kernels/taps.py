"""Weighted sums along one axis at positions known at compile time, for resizing, averaging and folding.

A table is an int array (out, k): output `o` reads the inputs `table[o]`, and -1 reads nothing. Tables are NumPy arrays
built while tracing, so regular ones compile to slices, and the transposed sum (the gradient) needs no scatter.
"""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.words import Array, cast

# Up to this many taps are added slice by slice, which fuses best; more are one gather and a reduction.
UNROLLED = 16

# Up to this many evenly spaced runs of positions are slices, which are cheaper than a gather on every platform.
PIECES = 4


def _runs(positions: np.ndarray) -> list[tuple[int, int, int]]:
    """Positions as runs (first, step, count) of equal steps; stops once there are more than `PIECES`."""
    runs: list[tuple[int, int, int]] = []
    steps = np.diff(positions)
    i = 0
    while i < len(positions) and len(runs) <= PIECES:
        step = int(steps[i]) if i < len(steps) else 1
        other = np.flatnonzero(steps[i:] != step)
        count = int(other[0]) + 1 if len(other) else len(positions) - i
        if step < 0 and i + count < len(positions) and steps[i + count - 1] == 1:
            count -= 1  # the element of a reflection belongs to the longer copy, which is then aligned
        runs.append((int(positions[i]), step, count))
        i += count
    return runs


def _run(x: Array, axis: int, first: int, step: int, count: int) -> Array:
    """`x` at one run of positions of an axis."""
    last = first + step * (count - 1)
    part = lax.slice_in_dim(x, min(first, last), max(first, last) + 1, max(abs(step), 1), axis)
    if step < 0:
        return lax.rev(part, (axis,))
    return part if step else jnp.broadcast_to(part, (*x.shape[:axis], count, *x.shape[axis + 1 :]))


def read(x: Array, axis: int, positions: np.ndarray) -> Array:
    """`x` at the given positions of one axis, which is replaced by the axes of `positions`."""
    runs = _runs(positions.ravel())
    if 0 < len(runs) <= PIECES:
        parts = [_run(x, axis, *run) for run in runs]
        whole = parts[0] if len(parts) == 1 else lax.concatenate(parts, axis)
        return whole.reshape(*x.shape[:axis], *positions.shape, *x.shape[axis + 1 :])
    where = (slice(None),) * axis + (positions.astype(np.int32),)
    return x.at[where].get(mode="promise_in_bounds")


def weigh(x: Array, axis: int, table: np.ndarray, weights: np.ndarray | None = None) -> Array:
    """Sum over k of `weights[o, k] * x[table[o, k]]` along `axis`; weights default to one."""
    out, taps = table.shape
    if not x.size:
        return jnp.zeros((*x.shape[:axis], out, *x.shape[axis + 1 :]), x.dtype)
    after = x.ndim - axis - 1
    absent = table < 0
    table = np.where(absent, 0, table)

    def term(values: Array, index: tuple[slice | int, ...], shape: tuple[int, ...]) -> Array:
        if weights is not None:
            values = values * jnp.asarray(weights[index].reshape(shape), dtype=x.dtype)
        if absent[index].any():
            # Not by a weight of zero: zero times infinity is NaN.
            values = jnp.where(absent[index].reshape(shape), jnp.zeros((), x.dtype), values)
        return values

    if taps > UNROLLED:
        terms = term(read(x, axis, table), (slice(None),), (out, taps) + (1,) * after)
        return cast(jnp.sum(terms, axis=axis + 1), x.dtype)
    parts = (term(read(x, axis, table[:, k]), (slice(None), k), (out,) + (1,) * after) for k in range(taps))
    return functools.reduce(lax.add, parts)


def transposed(table: np.ndarray, size: int, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray | None]:
    """The table and weights of the transposed sum: for each of `size` inputs, the outputs that read it."""
    present = table.ravel() >= 0
    inputs = table.ravel()[present]
    order = np.argsort(inputs, kind="stable")
    inputs = inputs[order]
    counts = np.bincount(inputs, minlength=size)
    slots = np.arange(len(inputs)) - np.repeat(np.cumsum(counts) - counts, counts)
    turned = np.full((size, max(counts.max(initial=0), 1)), -1)
    turned[inputs, slots] = np.repeat(np.arange(table.shape[0]), table.shape[1])[present][order]
    if weights is None:
        return turned, None
    moved = np.zeros(turned.shape, weights.dtype)
    moved[inputs, slots] = weights.ravel()[present][order]
    return turned, moved
