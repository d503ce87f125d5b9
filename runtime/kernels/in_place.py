"""Writes to a window of an array.

XLA's CPU backend writes such a window in place, and fuses the computation of the new values into the write. If that
computation reads the array through a reshape, XLA overlooks it (openxla/xla#49176) and reads what it has just written:
`y[1:] = y[:-1].clone()` repeats the first row. It computes the values of a scatter to several places before it writes
the first of them, so on CPUs a window is written as a scatter of its two halves, in about the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.platforms import platform
from tenax.words import place


def update(whole: jax.Array, part: jax.Array, starts: Sequence[Any]) -> jax.Array:
    """`whole` with a window replaced by `part`, as by `lax.dynamic_update_slice`.

    Args:
        whole: An array.
        part: The new values: an array of the same rank and dtype, no longer along any axis.
        starts: The first position of the window along each axis, from 0: integers or 0-d integer arrays. A window that
            would reach beyond the end of an axis is moved.
    """
    if platform() != "cpu" or not part.size:
        return lax.dynamic_update_slice(whole, part, starts)
    if part.shape == whole.shape:
        return part
    dtype = place(max(whole.shape)).dtype
    first = [_clipped(start, n - m, dtype) for start, n, m in zip(starts, whole.shape, part.shape, strict=True)]
    axis = next((d for d, n in enumerate(part.shape) if n % 2 == 0), None)
    if axis is None:  # there are two halves with one more of the old values
        axis = next(d for d, n in enumerate(whole.shape) if part.shape[d] < n)
        longer = [n + (d == axis) for d, n in enumerate(part.shape)]
        inside = [dtype.type(0)] * part.ndim
        inside[axis] = first[axis]
        first[axis] = _clipped(first[axis], whole.shape[axis] - longer[axis], dtype)
        inside[axis] -= first[axis]
        part = lax.dynamic_update_slice(lax.dynamic_slice(whole, first, longer), part, inside)
    half = part.shape[axis] // 2
    second = [start + dtype.type(half if d == axis else 0) for d, start in enumerate(first)]
    halves = part.reshape(*part.shape[:axis], 2, half, *part.shape[axis + 1 :])
    window = tuple(d for d in range(halves.ndim) if d != axis)
    numbers = lax.ScatterDimensionNumbers(window, (), tuple(range(whole.ndim)))
    return lax.scatter(
        whole,
        _indices([first, second]),
        halves,
        numbers,
        indices_are_sorted=True,
        unique_indices=True,
        mode="promise_in_bounds",
    )


def _clipped(start: Any, most: int, dtype: np.dtype) -> Any:
    if isinstance(start, jax.Array):
        return lax.convert_element_type(jnp.clip(start, 0, most), dtype)
    return dtype.type(min(start, most))


def _indices(positions: list[list[Any]]) -> Any:
    traced = any(isinstance(start, jax.Array) for start in positions[0])
    return jnp.stack([jnp.stack(position) for position in positions]) if traced else np.array(positions)
