"""Binary search in sorted rows: searchsorted, bucketize, isin."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from tenax.kernels import loops
from tenax.words import INT64, Array, cast, result_type


def insertion(rows: Array, values: Array, after: Callable[[Array, Array], Array]) -> Array:
    """int32 positions of `values` [..., m] in sorted `rows` [..., n], or in the single row of 1-d `rows`.

    `after(found, value)` tells whether the value belongs to the right of a found element.
    """
    n = rows.shape[-1]
    low = jnp.zeros(values.shape, np.int32)
    if n == 0:
        return low
    # Where each row starts: a search in a single row has no batch, whatever the shape of the values.
    batch = (*rows.shape[:-1], 1) if rows.ndim > 1 else ()
    start = jnp.arange(rows.size // n, dtype=np.int32).reshape(batch) * n
    flat = rows.reshape(-1)

    def halve(_: int, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bounds
        middle = (low + high) >> 1
        place = start + jnp.minimum(middle, n - 1)
        found = flat.at[place].get(mode="promise_in_bounds", wrap_negative_indices=False)
        on = after(found, values)
        return jnp.where(on, jnp.minimum(middle + 1, high), low), jnp.where(on, high, middle)

    # Unrolled, it would run 1.3 times as fast on the CPU, but take 4 times as long to compile.
    return loops.fori_loop(0, n.bit_length(), halve, (low, jnp.full_like(low, n)))[0]


def searchsorted(
    sorted_sequence: Array,
    self: Array,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Array | None = None,
) -> Array:
    """Insertion positions of `self` [..., m] in `sorted_sequence` [..., n], int64 or int32.

    `jnp.searchsorted` accepts only one sequence, and inserts NaN before a NaN: at 1 in [1, NaN], where torch has 2.
    """
    if side not in (None, "left", "right") or (right and side == "left"):
        raise ValueError(f"searchsorted: side={side!r}, right={right}; expected 'left' or 'right', the same from both")
    if sorter is not None:
        sorted_sequence = jnp.take_along_axis(sorted_sequence, sorter, -1)
    common = result_type(sorted_sequence, self)
    # As in torch, unordered elements count as smaller, so that a NaN comes after everything.
    above = jnp.greater if right or side == "right" else jnp.greater_equal
    found = insertion(cast(sorted_sequence, common), cast(self, common), lambda held, value: ~above(held, value))
    return found if out_int32 else cast(found, INT64)


def bucketize(self: Array, boundaries: Array, *, out_int32: bool = False, right: bool = False) -> Array:
    """Insertion positions of `self` in the 1-d sorted `boundaries`, int64 or int32."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, self, out_int32=out_int32, right=right)


def isin(elements: Array, test_elements: Array, *, assume_unique: bool = False, invert: bool = False) -> Array:
    """Whether each element is among the test elements, bool; false for NaN.

    `jnp.isin` compares all pairs: 100,000 elements and 1,000 test elements take 67 ms and 103 MB on a CPU, here 3 ms
    and 2 MB.
    """
    if test_elements.size == 0:
        return jnp.full(elements.shape, invert, bool)
    known = jnp.sort(test_elements.reshape(-1))
    # NaNs sort last, and nothing is inserted after them.
    place = insertion(known, elements, jnp.less)
    found = known.at[jnp.minimum(place, known.size - 1)].get(mode="promise_in_bounds")
    return (found != elements) if invert else (found == elements)
