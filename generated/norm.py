"""Lowerings of the family `norm`.

Generated from ops_spec/norm.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.kernels import batchnorm as batchnorm_kernels
from tenax.words import Array


def _native_batch_norm_legit__no_stats(
    input: Array, weight: Array | None, bias: Array | None, training: bool, momentum: ArrayLike, eps: ArrayLike
) -> tuple[Array, Array, Array]:
    """_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum,
        float eps) -> (Tensor, Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return batchnorm_kernels.native_batch_norm(input, weight, bias, None, None, True, momentum, eps)[:3]


def _native_batch_norm_legit_no_training(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    momentum: ArrayLike,
    eps: ArrayLike,
) -> tuple[Array, Array, Array]:
    """_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor
        running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return batchnorm_kernels.native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)[:3]


def batch_norm_backward(
    grad_out: Array,
    input: Array,
    weight: Array,
    running_mean: Array | None,
    running_var: Array | None,
    save_mean: Array | None,
    save_var: Array | None,
    update: bool,
    eps: ArrayLike,
    output_mask: Sequence[bool],
    reserve: Array,
) -> tuple[Array | None, Array | None, Array | None]:
    """batch_norm_backward(Tensor grad_out, Tensor input, Tensor weight, Tensor? running_mean, Tensor? running_var,
        Tensor? save_mean, Tensor? save_var, bool update, float eps, bool[3] output_mask, Tensor reserve) -> (Tensor,
        Tensor, Tensor)

    `reserve` is memory of cuDNN.

    Spec: ops_spec/norm.yaml
    """
    return batchnorm_kernels.native_batch_norm_backward(
        grad_out, input, weight, running_mean, running_var, save_mean, save_var, update, eps, output_mask
    )


def batch_norm_gather_stats(
    input: Array,
    mean: Array,
    invstd: Array,
    running_mean: Array | None,
    running_var: Array | None,
    momentum: ArrayLike,
    eps: ArrayLike,
    count: int,
) -> tuple[Array, Array, Array | None, Array | None]:
    """batch_norm_gather_stats(Tensor input, Tensor mean, Tensor invstd, Tensor? running_mean, Tensor? running_var,
        float momentum, float eps, int count) -> (Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return batchnorm_kernels.batch_norm_gather_stats_with_counts(
        input, mean, invstd, running_mean, running_var, momentum, eps, jnp.full(len(mean), count)
    )
