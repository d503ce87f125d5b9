"""Lowerings of the family `segment`.

Generated from ops_spec/segment.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.kernels import segment as segment_kernels
from tenax.words import Array


def segment_reduce(
    data: Array,
    reduce: str,
    *,
    lengths: Array | None = None,
    indices: Array | None = None,
    offsets: Array | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: ArrayLike | None = None,
) -> Array:
    """segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, int
        axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor

    Spec: ops_spec/segment.yaml
    """
    return segment_kernels.segment_reduce(
        data=data,
        reduce=reduce,
        lengths=lengths,
        indices=indices,
        offsets=offsets,
        axis=axis,
        unsafe=unsafe,
        initial=initial,
    )


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
    """What must hold for segment_reduce; see its row of the table."""
    return (
        unsafe or lengths is None or jnp.all(lengths >= 0),
        unsafe or lengths is None or jnp.all(jnp.sum(lengths, -1) == data.shape[axis]),
    )


def _segment_reduce_backward(
    grad: Array,
    output: Array,
    data: Array,
    reduce: str,
    *,
    lengths: Array | None = None,
    offsets: Array | None = None,
    axis: int = 0,
    initial: ArrayLike | None = None,
) -> Array:
    """_segment_reduce_backward(Tensor grad, Tensor output, Tensor data, str reduce, *, Tensor? lengths=None, Tensor?
        offsets=None, int axis=0, Scalar? initial=None) -> Tensor

    Spec: ops_spec/segment.yaml
    """
    return segment_kernels._segment_reduce_backward(
        grad=grad, output=output, data=data, reduce=reduce, lengths=lengths, offsets=offsets, axis=axis, initial=initial
    )
