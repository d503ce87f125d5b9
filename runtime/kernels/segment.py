"""Reductions over consecutive segments of one axis, given by their lengths or offsets."""

from __future__ import annotations

from math import inf, prod

import jax.numpy as jnp
import numpy as np

from tenax.kernels.search import insertion
from tenax.words import Array, cast, opmath

# The method of `.at[]` that folds a segment, and its identity.
_FOLD = {
    "sum": ("add", 0),
    "mean": ("add", 0),
    "prod": ("multiply", 1),
    "max": ("max", -inf),
    "amax": ("max", -inf),
    "min": ("min", inf),
    "amin": ("min", inf),
}


class _Segments:
    """The elements of `data` as rows [batch * length, rest], and the segment each row belongs to."""

    def __init__(self, data: Array, lengths: Array | None, offsets: Array | None, axis: int) -> None:
        batch, length = prod(data.shape[:axis]), data.shape[axis]
        if offsets is None:
            assert lengths is not None  # torch's Meta kernel requires one of the two
            ends = jnp.cumsum(lengths, -1, dtype=lengths.dtype)
            offsets = jnp.concatenate([jnp.zeros_like(ends[..., :1]), ends], -1)
        count = offsets.shape[-1] - 1
        self.shape = (*data.shape[:axis], count, *data.shape[axis + 1 :])
        self.total = batch * count
        places = jnp.broadcast_to(jnp.arange(length, dtype=offsets.dtype), (batch, length))
        segment = insertion(offsets.reshape(batch, count + 1), places, jnp.less_equal) - 1
        inside = (segment >= 0) & (segment < count)
        first = jnp.arange(batch, dtype=np.int32)[:, None] * count
        self.ids = jnp.where(inside, first + segment, self.total).reshape(-1)
        self.sizes = jnp.diff(offsets, axis=-1).reshape(-1, 1)
        self.rows = (batch * length, -1) if data.size else (batch * length, prod(data.shape[axis + 1 :]))

    def fold(self, rows: Array, how: str, start: Array | float) -> Array:
        """Fold the rows of each segment into [segments, rest]; rows outside of segments are dropped."""
        out = jnp.broadcast_to(cast(start, rows.dtype), (self.total, rows.shape[1]))
        return getattr(out.at[self.ids], how)(rows, mode="drop")

    def spread(self, rows: Array) -> Array:
        """Spread each row of [segments, rest] to the elements of its segment; zero for elements outside of segments."""
        return rows.at[self.ids].get(mode="fill", fill_value=0)


def segment_reduce(
    data: Array,
    reduce: str,
    *,
    lengths: Array | None = None,
    indices: Array | None = None,
    offsets: Array | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Array:
    """Reduce segments along `axis`: sum, mean, prod, max or min, each starting from `initial`."""
    segments = _Segments(data, lengths, offsets, axis)
    rows = cast(data, opmath(data.dtype)).reshape(segments.rows)
    how, identity = _FOLD[reduce]
    out = segments.fold(rows, how, identity if initial is None else initial)
    if reduce == "mean":
        # The mean of an empty segment is its initial value, or 0 / 0 without one.
        least = 0 if initial is None else 1
        out = out / cast(jnp.maximum(segments.sizes, least), out.dtype)
    return cast(out, data.dtype).reshape(segments.shape)


def _segment_reduce_backward(
    grad: Array,
    output: Array,
    data: Array,
    reduce: str,
    *,
    lengths: Array | None = None,
    offsets: Array | None = None,
    axis: int = 0,
    initial: float | None = None,
) -> Array:
    """Gradient of `data`; that of an extremum is divided equally among the elements equal to it."""
    segments = _Segments(data, lengths, offsets, axis)
    x, wide = cast(data, opmath(data.dtype)).reshape(segments.rows), opmath(data.dtype)
    grad, output = (cast(each, wide).reshape(segments.total, x.shape[1]) for each in (grad, output))
    if reduce == "mean":
        grad = grad / cast(jnp.maximum(segments.sizes, 1), wide)
    slope = segments.spread(grad)
    if _FOLD[reduce][0] in ("max", "min"):
        chosen = cast((x == segments.spread(output)) | jnp.isnan(x), wide)
        slope = slope * chosen / jnp.maximum(segments.spread(segments.fold(chosen, "add", 0)), 1)
    elif reduce == "prod":
        slope = slope * _product_of_others(segments, x, output, 1 if initial is None else initial)
    return cast(slope, data.dtype).reshape(data.shape)


def _product_of_others(segments: _Segments, x: Array, output: Array, initial: Array | float) -> Array:
    """The product of each element's segment without the element; dividing it out fails only for zeros and NaNs."""
    zero, nan, one = x == 0, jnp.isnan(x), cast(1, x.dtype)
    usual = segments.spread(segments.fold(jnp.where(zero | nan, one, x), "multiply", initial))
    zeros, nans = (segments.spread(segments.fold(cast(odd, x.dtype), "add", 0)) for odd in (zero, nan))
    rest = jnp.where(zeros > cast(zero, x.dtype), cast(0, x.dtype), usual)
    rest = jnp.where(nans > cast(nan, x.dtype), cast(np.nan, x.dtype), rest)
    return jnp.where(zero | nan, rest, segments.spread(output) / jnp.where(zero, one, x))
