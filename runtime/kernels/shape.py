"""Joining, repeating and reordering arrays without reading their values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax.numpy as jnp
from jax import lax

from tenax.words import Array, as_long, axis, cast, extent, result_type


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
