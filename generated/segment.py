"""Lowerings of the family `segment`.

Generated from ops_spec/segment.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.kernels import segment as segment_kernels
from tenax.words import Array, Gradients, with_derivative


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

    def value(
        data: Array, lengths: Array | None, indices: Array | None, offsets: Array | None, initial: ArrayLike | None
    ) -> Array:
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

    def gradients(
        grad: Array,
        result: Array,
        data: Array,
        lengths: Array | None,
        indices: Array | None,
        offsets: Array | None,
        initial: ArrayLike | None,
    ) -> Gradients:
        return {
            "data": lambda: segment_kernels._segment_reduce_backward(
                grad, result, data, reduce, lengths=lengths, offsets=offsets, axis=axis, initial=initial
            ),
        }

    return with_derivative(
        value, gradients, data=data, lengths=lengths, indices=indices, offsets=offsets, initial=initial
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
    """The conditions of segment_reduce; its row of the table has their errors."""
    return (
        unsafe or lengths is None or jnp.all(lengths >= 0),
        unsafe or lengths is None or jnp.all(jnp.sum(lengths, -1) == data.shape[axis]),
    )
