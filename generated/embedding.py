"""Lowerings of the family `embedding`.

Generated from ops_spec/embedding.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.kernels import embedding as embedding_kernels
from tenax.words import Array


def embedding(
    weight: Array, indices: Array, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Array:
    """embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False)
        -> Tensor

    Spec: ops_spec/embedding.yaml
    """
    return embedding_kernels.embedding(
        weight=weight, indices=indices, padding_idx=padding_idx, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse
    )


def embedding__checks(
    weight: Array, indices: Array, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> tuple[Array, ...]:
    """What must hold for embedding; see its row of the table."""
    return (jnp.all((indices >= 0) & (indices < weight.shape[0])),)


def embedding_dense_backward(
    grad_output: Array, indices: Array, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Array:
    """embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool
        scale_grad_by_freq) -> Tensor

    Spec: ops_spec/embedding.yaml
    """
    return embedding_kernels.embedding_dense_backward(
        grad_output=grad_output,
        indices=indices,
        num_weights=num_weights,
        padding_idx=padding_idx,
        scale_grad_by_freq=scale_grad_by_freq,
    )


def embedding_renorm_(self: Array, indices: Array, max_norm: ArrayLike, norm_type: ArrayLike) -> Array:
    """embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)

    Spec: ops_spec/embedding.yaml
    """
    return embedding_kernels.embedding_renorm_(self=self, indices=indices, max_norm=max_norm, norm_type=norm_type)


def embedding_renorm___checks(
    self: Array, indices: Array, max_norm: ArrayLike, norm_type: ArrayLike
) -> tuple[Array, ...]:
    """What must hold for embedding_renorm_; see its row of the table."""
    return (jnp.all((indices >= 0) & (indices < self.shape[0])),)


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
    """What must hold for _embedding_bag; see its row of the table."""
    return (
        jnp.all((indices >= 0) & (indices < weight.shape[0])),
        jnp.all(offsets[:1] == 0),
        jnp.all(offsets[-1:] <= indices.shape[0]),
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
    """What must hold for _embedding_bag_forward_only; see its row of the table."""
    return (
        jnp.all((indices >= 0) & (indices < weight.shape[0])),
        jnp.all(offsets[:1] == 0),
        jnp.all(offsets[-1:] <= indices.shape[0]),
    )


def _embedding_bag_dense_backward(
    grad: Array,
    indices: Array,
    offset2bag: Array,
    bag_size: Array,
    maximum_indices: Array,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Array | None,
    padding_idx: int = -1,
) -> Array:
    """_embedding_bag_dense_backward(Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size, Tensor
        maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, Tensor? per_sample_weights, int
        padding_idx=-1) -> Tensor

    Spec: ops_spec/embedding.yaml
    """
    return embedding_kernels._embedding_bag_dense_backward(
        grad=grad,
        indices=indices,
        offset2bag=offset2bag,
        bag_size=bag_size,
        maximum_indices=maximum_indices,
        num_weights=num_weights,
        scale_grad_by_freq=scale_grad_by_freq,
        mode=mode,
        per_sample_weights=per_sample_weights,
        padding_idx=padding_idx,
    )


def _embedding_bag_per_sample_weights_backward(
    grad: Array, weight: Array, indices: Array, offsets: Array, offset2bag: Array, mode: int, padding_idx: int = -1
) -> Array:
    """_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, Tensor offsets, Tensor
        offset2bag, int mode, int padding_idx=-1) -> Tensor

    Spec: ops_spec/embedding.yaml
    """
    return embedding_kernels._embedding_bag_per_sample_weights_backward(
        grad=grad,
        weight=weight,
        indices=indices,
        offsets=offsets,
        offset2bag=offset2bag,
        mode=mode,
        padding_idx=padding_idx,
    )
