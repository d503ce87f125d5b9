"""Parts of tensors, one per rank: argument checks, and packing as rows of equal width."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from .._torch import NAME
from ..storage.placement import put

Tensor = torch.Tensor


def zeros(shape: tuple[int, ...], dtype: Any) -> jax.Array:
    return put(np.zeros(shape, dtype), 0)


@functools.partial(jax.jit, static_argnums=(1, 2))
def padded(flat: jax.Array, counts: tuple[int, ...], width: int) -> jax.Array:
    """Consecutive parts of a flat array as rows of equal width."""
    parts = jnp.split(flat, np.cumsum(counts)[:-1])
    return jnp.stack([jnp.pad(part, (0, width - part.size)) for part in parts])


@functools.partial(jax.jit, static_argnums=1)
def unpadded(rows: jax.Array, counts: tuple[int, ...]) -> jax.Array:
    return jnp.concatenate([row[:count] for row, count in zip(rows, counts, strict=True)])


@functools.partial(jax.jit, static_argnums=1)
def rows_of(parts: list[jax.Array], width: int) -> jax.Array:
    """Flat arrays as rows of equal width."""
    return jnp.stack([jnp.pad(part, (0, width - part.size)) for part in parts])


def split_counts(which: str, tensor: Tensor, splits: list[int], size: int) -> list[int]:
    rows = tensor.shape[0] if tensor.dim() else 0
    splits = list(splits) or [rows // size] * size
    if len(splits) != size or sum(splits) != rows:
        raise ValueError(
            f"all_to_all_single: {which} splits {splits} of {size} ranks do not sum up to dim 0 of {list(tensor.shape)}"
        )
    row = tensor[0].numel() if rows else 0
    return [n * row for n in splits]


def expect(condition: bool, name: str, tensor: Tensor, expected: Any) -> None:
    if not condition:
        raise ValueError(f"{name}: got a tensor of shape {list(tensor.shape)}; expected {expected}")


def expect_rank(name: str, rank: int, size: int) -> None:
    """Raise for a root, source or destination that is not a rank of the group."""
    if not 0 <= rank < size:
        raise RuntimeError(f"{name}: invalid rank {rank} in the group; expected 0 to {size - 1}")


def expect_count(name: str, tensors: Sequence[Tensor], size: int) -> None:
    if len(tensors) != size:
        raise ValueError(f"{name}: got a list of {len(tensors)} tensors; expected one for each of {size} ranks")


def expect_dtypes(name: str, tensors: Sequence[Tensor], like: Tensor) -> None:
    for tensor in tensors:
        if tensor.dtype is not like.dtype:
            raise ValueError(f"{name}: got tensors of {tensor.dtype} and {like.dtype}; expected one dtype")
        if tensor.device.type != NAME:
            raise ValueError(f"{name}: got a tensor on {tensor.device} beside one on {like.device}; expected {NAME}")
