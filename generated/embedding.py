"""Lowerings of the family `embedding`.

Generated from ops_spec/embedding.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from jax.typing import ArrayLike

from tenax.generated import checks
from tenax.kernels import embedding as embedding_kernels
from tenax.words import Array, Gradients, with_derivative


def embedding(
    weight: Array, indices: Array, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Array:
    """embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False)
        -> Tensor

    Spec: ops_spec/embedding.yaml
    """

    def value(weight: Array, indices: Array, padding_idx: int) -> Array:
        return embedding_kernels.embedding(
            weight=weight,
            indices=indices,
            padding_idx=padding_idx,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )

    def gradients(grad: Array, result: Array, weight: Array, indices: Array, padding_idx: int) -> Gradients:
        return {
            "weight": lambda: embedding_kernels.embedding_dense_backward(
                grad, indices, weight.shape[0], padding_idx, scale_grad_by_freq
            ),
        }

    return with_derivative(value, gradients, weight=weight, indices=indices, padding_idx=padding_idx)


def embedding__checks(
    weight: Array, indices: Array, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> tuple[Array, ...]:
    """The conditions of embedding; its row of the table has their errors."""
    return (checks.rows_in_bounds(weight, indices),)


def embedding_renorm___checks(
    self: Array, indices: Array, max_norm: ArrayLike, norm_type: ArrayLike
) -> tuple[Array, ...]:
    """The conditions of embedding_renorm_; its row of the table has their errors."""
    return (checks.rows_in_bounds(self, indices),)


def _embedding_bag(
    weight: Array,
    indices: Array,
    offsets: Array,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Array | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Array, Array, Array, Array]:
    """_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool
        sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor,
        Tensor, Tensor, Tensor)

    Spec: ops_spec/embedding.yaml
    """

    def value(
        weight: Array, indices: Array, offsets: Array, per_sample_weights: Array | None, padding_idx: int
    ) -> tuple[Array, Array, Array, Array]:
        return embedding_kernels._embedding_bag(
            weight=weight,
            indices=indices,
            offsets=offsets,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            per_sample_weights=per_sample_weights,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )

    def gradients(
        grad: Array,
        result: Array,
        weight: Array,
        indices: Array,
        offsets: Array,
        per_sample_weights: Array | None,
        padding_idx: int,
    ) -> Gradients:
        return {
            "weight": lambda: embedding_kernels._embedding_bag_dense_backward(
                grad[0],
                indices,
                result[1],
                result[2],
                result[3],
                weight.shape[0],
                scale_grad_by_freq,
                mode,
                per_sample_weights,
                padding_idx,
            ),
            "per_sample_weights": lambda: embedding_kernels._embedding_bag_per_sample_weights_backward(
                grad[0], weight, indices, offsets, result[1], mode, padding_idx
            ),
        }

    return with_derivative(
        value,
        gradients,
        weight=weight,
        indices=indices,
        offsets=offsets,
        per_sample_weights=per_sample_weights,
        padding_idx=padding_idx,
    )


def _embedding_bag__checks(
    weight: Array,
    indices: Array,
    offsets: Array,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Array | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Array, ...]:
    """The conditions of _embedding_bag; its row of the table has their errors."""
    return (
        checks.bag_indices_in_bounds(weight, indices),
        checks.first_bag_at_zero(offsets),
        checks.last_bag_in_bounds(indices, offsets),
    )


def _embedding_bag_forward_only(
    weight: Array,
    indices: Array,
    offsets: Array,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Array | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Array, Array, Array, Array]:
    """_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int
        mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1)
        -> (Tensor, Tensor, Tensor, Tensor)

    Spec: ops_spec/embedding.yaml
    """
    return _embedding_bag(
        weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx
    )


def _embedding_bag_forward_only__checks(
    weight: Array,
    indices: Array,
    offsets: Array,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Array | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Array, ...]:
    """The conditions of _embedding_bag_forward_only; its row of the table has their errors."""
    return (
        checks.bag_indices_in_bounds(weight, indices),
        checks.first_bag_at_zero(offsets),
        checks.last_bag_in_bounds(indices, offsets),
    )
