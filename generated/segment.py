"""Lowerings of the family `segment`.

Generated from ops_spec/segment.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.words import Array


def segment_reduce__checks(
    data: Array,
    reduce: str,
    *,
    lengths: Array | None = None,
    indices: Array | None = None,
    offsets: Array | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: ArrayLike | None = None,
) -> tuple[Array, ...]:
    """The conditions of segment_reduce; its row of the table has their errors."""
    return (
        unsafe or lengths is None or jnp.all(lengths >= 0),
        unsafe or lengths is None or jnp.all(jnp.sum(lengths, -1) == data.shape[axis]),
    )
