"""Joining, repeating and reordering arrays without reading their values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.words import INT64, Array, Number, as_long, axes, axis, cast, extent, result_type


def roll(self: Array, shifts: Sequence[int | Number], dims: Sequence[int] = ()) -> Array:
    """Elements moved by `shifts` along `dims`, or by one shift along the flat array; those past an end start over."""
    if 0 in self.shape:  # torch takes any axes then
        return self
    known = [n for n in shifts if isinstance(n, int)]
    if len(known) == len(shifts):
        return jnp.roll(self, tuple(known), axes(self, dims)) if dims and self.ndim else jnp.roll(self, known[0])
    if not dims or not self.ndim:
        return _rolled(self.reshape(-1), shifts[0], 0).reshape(self.shape)
    for shift, dim in zip(shifts, axes(self, dims), strict=True):
        self = _rolled(self, shift, dim)
    return self


def _rolled(x: Array, shift: int | Number, dim: int) -> Array:
    """One axis, rolled by a gather: XLA slices no faster at unknown positions."""
    size = x.shape[dim]
    places = (lax.iota(INT64, size) - cast(shift, INT64)) % size
    return jnp.take(x, places, axis=dim, mode="clip", unique_indices=True)


def tril(self: Array, diagonal: int | Number = 0) -> Array:
    """(..., n, m): zeros above a diagonal of the last two axes, 0 for the main one and positive above it."""
    return jnp.where(_below(self, diagonal, 0), self, cast(0, self.dtype))


def triu(self: Array, diagonal: int | Number = 0) -> Array:
    """(..., n, m): zeros below a diagonal, as in `tril`."""
    return jnp.where(_below(self, diagonal, 1), cast(0, self.dtype), self)


def _below(x: Array, diagonal: int | Number, by: int) -> Array:
    """Which elements lie on or below the diagonal that is `by` below the given one."""
    rows, columns = (lax.broadcasted_iota(np.int32, x.shape[-2:], d) for d in (0, 1))
    return columns - rows <= cast(jnp.clip(as_long(diagonal), -(2**30), 2**30), np.int32) - by


def cat(tensors: Sequence[Array], dim: int = 0) -> Array:
    """Arrays promoted and concatenated along `dim`; empty 1-d arrays only take part in the promotion.

    `jnp.concatenate` rejects those beside arrays of higher rank.
    """
    dtype = result_type(*tensors)
    kept = [cast(x, dtype) for x in tensors if x.shape != (0,)] or [jnp.zeros(0, dtype)]
    return lax.concatenate(kept, axis(kept[0], dim)) if len(kept) > 1 else kept[0]


def _chunk_cat(tensors: Sequence[Array], dim: int, num_chunks: int) -> Array:
    """Pad each array at the end of `dim`, split it there into chunks, and concatenate the chunks across arrays."""
    chunks = []
    for x in tensors:
        at = axis(x, dim)
        each = -(-x.shape[at] // num_chunks)
        edges = [(0, each * num_chunks - n if d == at else 0, 0) for d, n in enumerate(x.shape)]
        padded = lax.pad(x, jnp.zeros((), x.dtype), edges)
        chunks.append(padded.reshape(*x.shape[:at], num_chunks, each * math.prod(x.shape[at + 1 :])))
    return cat(chunks, axis(tensors[0], dim) + 1)


def repeat_interleave(repeats: Array, *, output_size: int | None = None) -> Array:
    """Each index i repeated `repeats[i]` times, in the dtype of `repeats`, concrete unless `output_size` is given."""
    size = extent(repeats.sum(), "pass output_size") if output_size is None else output_size
    if output_size is None and repeats.size and int(repeats.min()) < 0:
        raise RuntimeError("repeats can not be negative")
    return jnp.repeat(jnp.arange(repeats.size, dtype=repeats.dtype), as_long(repeats), total_repeat_length=size)


def pixel_shuffle(self: Array, upscale_factor: int) -> Array:
    """(..., C * r * r, H, W) to (..., C, H * r, W * r)."""
    *lead, channels, height, width = self.shape
    r = upscale_factor
    x = self.reshape(*lead, channels // (r * r), r, r, height, width)
    n = len(lead)
    x = x.transpose(*range(n + 1), n + 3, n + 1, n + 4, n + 2)
    return x.reshape(*lead, channels // (r * r), height * r, width * r)


def pixel_unshuffle(self: Array, downscale_factor: int) -> Array:
    """(..., C, H * r, W * r) to (..., C * r * r, H, W)."""
    *lead, channels, height, width = self.shape
    r = downscale_factor
    x = self.reshape(*lead, channels, height // r, r, width // r, r)
    n = len(lead)
    x = x.transpose(*range(n + 1), n + 2, n + 4, n + 1, n + 3)
    return x.reshape(*lead, channels * r * r, height // r, width // r)


def channel_shuffle(self: Array, groups: int) -> Array:
    """Interleave `groups` groups of the channels, (N, C, *sizes)."""
    count, channels, *sizes = self.shape
    return self.reshape(count, groups, channels // groups, *sizes).swapaxes(1, 2).reshape(self.shape)
