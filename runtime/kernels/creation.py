"""Arrays created from numbers: ranges, evenly spaced points, triangular indices."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.words import FLOAT32, FLOAT64, INT64, Array, DType, cast, is_complex, is_float, opmath

_Number = int | float


def _steps(start: _Number, step: _Number, count: int, dtype: DType) -> Array:
    """`start + step * i`, in int64 or float64 as CPU torch, or in float32 for integers that it represents exactly.

    `jnp.arange` computes in the result's dtype: from -5 to 5 by 0.01 in float32, it has -1.1e-7 where torch has 9e-10.
    """
    wide: DType = INT64
    if is_float(dtype):
        exact = float(start).is_integer() and float(step).is_integer() and abs(start) + abs(step) * count < 2**24
        wide = FLOAT32 if exact else FLOAT64
    else:
        start, step = int(start), int(step)
    return cast(lax.iota(wide, count) * lax.full((), step, wide) + lax.full((), start, wide), dtype)


def arange(start: _Number, end: _Number, step: _Number = 1, *, dtype: DType | None = None) -> Array:
    """`[start, end)` by `step`, of Python numbers."""
    dtype = dtype or (FLOAT32 if any(isinstance(n, float) for n in (start, end, step)) else INT64)
    if not all(isinstance(n, (int, float)) for n in (start, end, step)):  # symbolic dimensions among integers
        count: Any = -((start - end) // step)
        places = lax.iota(INT64, count)
        return cast(places * jnp.asarray(step, INT64) + jnp.asarray(start, INT64), dtype)
    if dtype == INT64:
        count = len(range(int(start), int(end), int(step)))
    else:
        count = math.ceil((float(end) - float(start)) / float(step))
    return _steps(start, step, count, dtype)


def closed_range(start: _Number, end: _Number, step: _Number = 1, *, dtype: DType | None = None) -> Array:
    """`[start, end]` by `step`, of Python numbers: `torch.range`."""
    dtype = dtype or FLOAT32
    if dtype == INT64:
        start, end, step = int(start), int(end), int(step)
    return _steps(start, step, math.floor((end - start) / step + 1), dtype)


def _points(start: Any, end: Any, steps: int, dtype: DType) -> Array:
    """Evenly spaced points in the compute dtype. Each half is computed from its own end, so that both ends are exact.

    `jnp.linspace` interpolates between the ends instead: its points differ from torch's by an ULP, and by one when
    truncated to integers (32 of the 101 points from -3 to 7 in int32).
    """
    compute = opmath(dtype) if is_float(dtype) or is_complex(dtype) else FLOAT64
    # For an integer dtype, the ends are truncated before the points are spaced.
    start, end = (cast(cast(x, dtype), compute) for x in (start, end))
    if steps < 2:
        return jnp.broadcast_to(start, (steps,))
    place = cast(lax.iota(INT64, steps), compute)
    last = lax.full((), steps - 1, compute)
    # XLA would multiply by the reciprocal of a constant, and integral steps would not stay integral.
    step = (end - start) / lax.optimization_barrier(last)
    return jnp.where(lax.iota(INT64, steps) < steps // 2, start + step * place, end - step * (last - place))


def linspace(start: Any, end: Any, steps: int, *, dtype: DType | None = None) -> Array:
    """`steps` points from `start` to `end`, both included; numbers or 0-d arrays."""
    dtype = dtype or FLOAT32
    return cast(_points(start, end, steps, dtype), dtype)


def kaiser_window(window_length: int, periodic: bool = True, beta: Any = 12.0, *, dtype: DType | None = None) -> Array:
    """The Kaiser window: the Bessel function I0 of `beta * sqrt(1 - x * x)`, divided by that of `beta`, for x from -1
    to 1; a periodic one is a symmetric one that is longer by an element, without its last."""
    dtype = dtype or FLOAT32
    if window_length < 2:
        return jnp.ones((window_length,), dtype)
    compute = opmath(dtype)
    place, last = lax.iota(compute, window_length), window_length - (not periodic)
    beta, x = jnp.abs(cast(beta, compute)), 2 * place / last - 1
    inside = beta * jnp.sqrt(jnp.maximum(1 - x * x, 0))
    return cast(lax.exp(inside - beta) * lax.bessel_i0e(inside) / lax.bessel_i0e(beta), dtype)


def logspace(start: Any, end: Any, steps: int, base: Any = 10.0, *, dtype: DType | None = None) -> Array:
    """`base` to the power of `linspace`."""
    dtype = dtype or FLOAT32
    exponents = _points(start, end, steps, dtype)
    powers = jnp.power(cast(base, exponents.dtype), exponents)
    if not (is_float(dtype) or is_complex(dtype)):
        # An integral power must not be truncated to the integer below.
        near = jnp.round(powers)
        powers = jnp.where(jnp.abs(powers - near) <= 1e-12 * jnp.abs(near), near, powers)
    return cast(powers, dtype)


def _triangle(first: np.ndarray, counts: np.ndarray, dtype: DType | None) -> Array:
    """(2, n) coordinates of runs in rows: row `i` holds `counts[i]` columns from `first[i]` on.

    `jnp.tril_indices` searches a mask of the whole matrix: 37 ms and 20 MB for 1000 by 1000, instead of 2 ms.
    """
    total = int(counts.sum())
    before = np.cumsum(counts) - counts
    # The barrier keeps XLA from constant-folding the rows, which takes half a minute for that matrix.
    repeats = lax.optimization_barrier(jnp.asarray(counts, INT64))
    rows = jnp.repeat(jnp.arange(counts.size, dtype=INT64), repeats, total_repeat_length=total)
    columns = lax.iota(INT64, total) + jnp.asarray(first - before, INT64)[rows]
    return cast(jnp.stack([rows, columns]), dtype or INT64)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: DType | None = INT64) -> Array:
    """(2, n) coordinates of the lower triangle, row by row."""
    counts = np.clip(np.arange(row) + offset + 1, 0, col)
    return _triangle(np.zeros(row, np.int64), counts, dtype)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: DType | None = INT64) -> Array:
    """(2, n) coordinates of the upper triangle, row by row."""
    first = np.clip(np.arange(row) + offset, 0, col)
    return _triangle(first, col - first, dtype)
