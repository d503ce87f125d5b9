"""Lowerings of the family `nested`.

Generated from ops_spec/nested.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

from jax.typing import ArrayLike

from tenax.kernels import nested as nested_kernels
from tenax.words import Array


def _jagged_to_padded_dense_forward(
    values: Array, offsets: Sequence[Array], max_lengths: Sequence[int], padding_value: ArrayLike = 0.0
) -> Array:
    """_jagged_to_padded_dense_forward(Tensor values, Tensor[] offsets, SymInt[] max_lengths, float padding_value=0.0)
        -> Tensor

    Spec: ops_spec/nested.yaml
    """
    return nested_kernels._jagged_to_padded_dense_forward(
        values=values, offsets=offsets, max_lengths=max_lengths, padding_value=padding_value
    )


def _padded_dense_to_jagged_forward(dense: Array, offsets: Sequence[Array], total_L: int | None = None) -> Array:
    """_padded_dense_to_jagged_forward(Tensor dense, Tensor[] offsets, SymInt? total_L=None) -> Tensor

    Spec: ops_spec/nested.yaml
    """
    return nested_kernels._padded_dense_to_jagged_forward(dense=dense, offsets=offsets, total_L=total_L)
