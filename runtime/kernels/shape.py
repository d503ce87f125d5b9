"""Joining, repeating and reordering arrays without reading their values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax.numpy as jnp
from jax import lax

from tenax.words import Array, as_long, axes, axis, cast, extent, result_type


def cat(tensors: Sequence[Array], dim: int = 0) -> Array:
    """Arrays joined along `dim`, promoted; empty 1-D arrays only take part in the promotion."""
    dtype = result_type(*tensors)
    kept = [cast(x, dtype) for x in tensors if x.shape != (0,)] or [jnp.zeros(0, dtype)]
    return lax.concatenate(kept, axis(kept[0], dim)) if len(kept) > 1 else kept[0]


def stack(tensors: Sequence[Array], dim: int = 0) -> Array:
    """Arrays of one shape joined along a new axis `dim`, promoted."""
    dtype = result_type(*tensors)
    dim = dim % (tensors[0].ndim + 1)
    return lax.concatenate([jnp.expand_dims(cast(x, dtype), dim) for x in tensors], dim)


def _chunk_cat(tensors: Sequence[Array], dim: int, num_chunks: int) -> Array:
    """Each array padded at the end of `dim` and cut there into chunks, then the chunks joined across arrays."""
    chunks = []
    for x in tensors:
        at = axis(x, dim)
        each = -(-x.shape[at] // num_chunks)
        edges = [(0, each * num_chunks - n if d == at else 0, 0) for d, n in enumerate(x.shape)]
        padded = lax.pad(x, jnp.zeros((), x.dtype), edges)
        chunks.append(padded.reshape(*x.shape[:at], num_chunks, each * math.prod(x.shape[at + 1 :])))
    return cat(chunks, axis(tensors[0], dim) + 1)


def roll(self: Array, shifts: Sequence[int], dims: Sequence[int] = ()) -> Array:
    """Elements moved cyclically; without `dims` the flattened array."""
    if self.size == 0:
        return self
    if not dims:
        return jnp.roll(self, shifts[0])
    return jnp.roll(self, tuple(shifts), axes(self, dims)) if self.ndim else self


def block_diag(tensors: Sequence[Array]) -> Array:
    """Matrices (vectors count as rows, numbers as 1x1) along the diagonal of a matrix of zeros, promoted."""
    dtype = result_type(*tensors)
    blocks = [jnp.atleast_2d(cast(x, dtype)) for x in tensors]
    width = sum(b.shape[1] for b in blocks)
    rows, left = [], 0
    for block in blocks:
        right = width - left - block.shape[1]
        rows.append(lax.pad(block, jnp.zeros((), dtype), [(0, 0, 0), (left, right, 0)]))
        left += block.shape[1]
    return lax.concatenate(rows, 0)


def repeat_interleave(repeats: Array, *, output_size: int | None = None) -> Array:
    """Each index repeated as often as `repeats` says, in repeats' dtype. Without `output_size` it must be concrete."""
    size = extent(repeats.sum(), "pass output_size") if output_size is None else output_size
    return jnp.repeat(jnp.arange(repeats.size, dtype=repeats.dtype), as_long(repeats), total_repeat_length=size)
