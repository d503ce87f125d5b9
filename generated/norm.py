"""Lowerings of the family `norm`.

Generated from ops_spec/norm.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

from jax.typing import ArrayLike

from tenax.kernels import batchnorm as batchnorm_kernels
from tenax.kernels import norm as norm_kernels
from tenax.words import Array


def native_batch_norm(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
    momentum: ArrayLike,
    eps: ArrayLike,
) -> tuple[Array, Array, Array, Array | None, Array | None]:
    """native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool
        training, float momentum, float eps) -> (Tensor, Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return batchnorm_kernels.native_batch_norm(
        input=input,
        weight=weight,
        bias=bias,
        running_mean=running_mean,
        running_var=running_var,
        training=training,
        momentum=momentum,
        eps=eps,
    )


def _native_batch_norm_legit(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    training: bool,
    momentum: ArrayLike,
    eps: ArrayLike,
) -> tuple[Array, Array, Array, Array, Array]:
    """_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!)
        running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return batchnorm_kernels.native_batch_norm(
        input=input,
        weight=weight,
        bias=bias,
        running_mean=running_mean,
        running_var=running_var,
        training=training,
        momentum=momentum,
        eps=eps,
    )


def _native_batch_norm_legit__no_stats(
    input: Array, weight: Array | None, bias: Array | None, training: bool, momentum: ArrayLike, eps: ArrayLike
) -> tuple[Array, Array, Array]:
    """_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum,
        float eps) -> (Tensor, Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return native_batch_norm(input, weight, bias, None, None, True, momentum, eps)[:3]


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
    return native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)[:3]


def _batch_norm_with_update(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    momentum: ArrayLike,
    eps: ArrayLike,
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!)
        running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return batchnorm_kernels._batch_norm_with_update(
        input=input,
        weight=weight,
        bias=bias,
        running_mean=running_mean,
        running_var=running_var,
        momentum=momentum,
        eps=eps,
    )


def _batch_norm_no_update(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    momentum: ArrayLike,
    eps: ArrayLike,
) -> tuple[Array, Array, Array, Array]:
    """_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,
        float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return batchnorm_kernels._batch_norm_no_update(
        input=input,
        weight=weight,
        bias=bias,
        running_mean=running_mean,
        running_var=running_var,
        momentum=momentum,
        eps=eps,
    )


def native_batch_norm_backward(
    grad_out: Array,
    input: Array,
    weight: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    save_mean: Array | None,
    save_invstd: Array | None,
    train: bool,
    eps: ArrayLike,
    output_mask: Sequence[bool],
) -> tuple[Array | None, Array | None, Array | None]:
    """native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor?
        running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor,
        Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return batchnorm_kernels.native_batch_norm_backward(
        grad_out=grad_out,
        input=input,
        weight=weight,
        running_mean=running_mean,
        running_var=running_var,
        save_mean=save_mean,
        save_invstd=save_invstd,
        train=train,
        eps=eps,
        output_mask=output_mask,
    )


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

    Spec: ops_spec/norm.yaml
    """
    return batchnorm_kernels.batch_norm_backward(
        grad_out=grad_out,
        input=input,
        weight=weight,
        running_mean=running_mean,
        running_var=running_var,
        save_mean=save_mean,
        save_var=save_var,
        update=update,
        eps=eps,
        output_mask=output_mask,
        reserve=reserve,
    )


def batch_norm_update_stats(
    input: Array, running_mean: Array | None, running_var: Array | None, momentum: ArrayLike
) -> tuple[Array, Array, Array | None, Array | None]:
    """batch_norm_update_stats(Tensor input, Tensor? running_mean, Tensor? running_var, float momentum) -> (Tensor,
        Tensor)

    Spec: ops_spec/norm.yaml
    """
    return batchnorm_kernels.batch_norm_update_stats(
        input=input, running_mean=running_mean, running_var=running_var, momentum=momentum
    )


def batch_norm_stats(input: Array, eps: ArrayLike) -> tuple[Array, Array]:
    """batch_norm_stats(Tensor input, float eps) -> (Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return batchnorm_kernels.batch_norm_stats(input=input, eps=eps)


def batch_norm_elemt(
    input: Array, weight: Array | None, bias: Array | None, mean: Array, invstd: Array, eps: ArrayLike
) -> Array:
    """batch_norm_elemt(Tensor input, Tensor? weight, Tensor? bias, Tensor mean, Tensor invstd, float eps) -> Tensor

    Spec: ops_spec/norm.yaml
    """
    return batchnorm_kernels.batch_norm_elemt(input=input, weight=weight, bias=bias, mean=mean, invstd=invstd, eps=eps)


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
    return batchnorm_kernels.batch_norm_gather_stats(
        input=input,
        mean=mean,
        invstd=invstd,
        running_mean=running_mean,
        running_var=running_var,
        momentum=momentum,
        eps=eps,
        count=count,
    )


def batch_norm_gather_stats_with_counts(
    input: Array,
    mean: Array,
    invstd: Array,
    running_mean: Array | None,
    running_var: Array | None,
    momentum: ArrayLike,
    eps: ArrayLike,
    counts: Array,
) -> tuple[Array, Array, Array | None, Array | None]:
    """batch_norm_gather_stats_with_counts(Tensor input, Tensor mean, Tensor invstd, Tensor? running_mean, Tensor?
        running_var, float momentum, float eps, Tensor counts) -> (Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return batchnorm_kernels.batch_norm_gather_stats_with_counts(
        input=input,
        mean=mean,
        invstd=invstd,
        running_mean=running_mean,
        running_var=running_var,
        momentum=momentum,
        eps=eps,
        counts=counts,
    )


def batch_norm_backward_reduce(
    grad_out: Array,
    input: Array,
    mean: Array,
    invstd: Array,
    weight: Array | None,
    input_g: bool,
    weight_g: bool,
    bias_g: bool,
) -> tuple[Array, Array, Array, Array]:
    """batch_norm_backward_reduce(Tensor grad_out, Tensor input, Tensor mean, Tensor invstd, Tensor? weight, bool
        input_g, bool weight_g, bool bias_g) -> (Tensor, Tensor, Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return batchnorm_kernels.batch_norm_backward_reduce(
        grad_out=grad_out,
        input=input,
        mean=mean,
        invstd=invstd,
        weight=weight,
        input_g=input_g,
        weight_g=weight_g,
        bias_g=bias_g,
    )


def batch_norm_backward_elemt(
    grad_out: Array,
    input: Array,
    mean: Array,
    invstd: Array,
    weight: Array | None,
    sum_dy: Array,
    sum_dy_xmu: Array,
    count: Array,
) -> Array:
    """batch_norm_backward_elemt(Tensor grad_out, Tensor input, Tensor mean, Tensor invstd, Tensor? weight, Tensor
        sum_dy, Tensor sum_dy_xmu, Tensor count) -> Tensor

    Spec: ops_spec/norm.yaml
    """
    return batchnorm_kernels.batch_norm_backward_elemt(
        grad_out=grad_out,
        input=input,
        mean=mean,
        invstd=invstd,
        weight=weight,
        sum_dy=sum_dy,
        sum_dy_xmu=sum_dy_xmu,
        count=count,
    )


def native_layer_norm(
    input: Array, normalized_shape: Sequence[int], weight: Array | None, bias: Array | None, eps: ArrayLike
) -> tuple[Array, Array, Array]:
    """native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor,
        Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return norm_kernels.native_layer_norm(
        input=input, normalized_shape=normalized_shape, weight=weight, bias=bias, eps=eps
    )


def native_layer_norm_backward(
    grad_out: Array,
    input: Array,
    normalized_shape: Sequence[int],
    mean: Array,
    rstd: Array,
    weight: Array | None,
    bias: Array | None,
    output_mask: Sequence[bool],
) -> tuple[Array | None, Array | None, Array | None]:
    """native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd,
        Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return norm_kernels.native_layer_norm_backward(
        grad_out=grad_out,
        input=input,
        normalized_shape=normalized_shape,
        mean=mean,
        rstd=rstd,
        weight=weight,
        bias=bias,
        output_mask=output_mask,
    )


def native_group_norm(
    input: Array, weight: Array | None, bias: Array | None, N: int, C: int, HxW: int, group: int, eps: ArrayLike
) -> tuple[Array, Array, Array]:
    """native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float
        eps) -> (Tensor, Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return norm_kernels.native_group_norm(
        input=input, weight=weight, bias=bias, N=N, C=C, HxW=HxW, group=group, eps=eps
    )


def native_group_norm_backward(
    grad_out: Array,
    input: Array,
    mean: Array,
    rstd: Array,
    weight: Array | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Sequence[bool],
) -> tuple[Array | None, Array | None, Array | None]:
    """native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N,
        SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return norm_kernels.native_group_norm_backward(
        grad_out=grad_out,
        input=input,
        mean=mean,
        rstd=rstd,
        weight=weight,
        N=N,
        C=C,
        HxW=HxW,
        group=group,
        output_mask=output_mask,
    )


def _fused_rms_norm(
    input: Array, normalized_shape: Sequence[int], weight: Array | None, eps: ArrayLike | None
) -> tuple[Array, Array]:
    """_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return norm_kernels._fused_rms_norm(input=input, normalized_shape=normalized_shape, weight=weight, eps=eps)


def _fused_rms_norm_backward(
    grad_out: Array,
    input: Array,
    normalized_shape: Sequence[int],
    rstd: Array,
    weight: Array | None,
    output_mask: Sequence[bool],
) -> tuple[Array | None, Array | None]:
    """_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, Tensor? weight,
        bool[2] output_mask) -> (Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return norm_kernels._fused_rms_norm_backward(
        grad_out=grad_out,
        input=input,
        normalized_shape=normalized_shape,
        rstd=rstd,
        weight=weight,
        output_mask=output_mask,
    )


def _weight_norm_interface(v: Array, g: Array, dim: int = 0) -> tuple[Array, Array]:
    """_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return norm_kernels._weight_norm_interface(v=v, g=g, dim=dim)


def _weight_norm_interface_backward(
    grad_w: Array, saved_v: Array, saved_g: Array, saved_norms: Array, dim: int
) -> tuple[Array, Array]:
    """_weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms, int dim) ->
        (Tensor, Tensor)

    Spec: ops_spec/norm.yaml
    """
    return norm_kernels._weight_norm_interface_backward(
        grad_w=grad_w, saved_v=saved_v, saved_g=saved_g, saved_norms=saved_norms, dim=dim
    )
