"""Lowerings of the family `loss`.

Generated from ops_spec/loss.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.kernels import ctc as ctc_kernels
from tenax.kernels import loss as loss_kernels
from tenax.kernels import margin as margin_kernels
from tenax.kernels import nll as nll_kernels
from tenax.words import DEFAULT, Array, as_long, cast


def mse_loss(self: Array, target: Array, reduction: int = 1) -> Array:
    """mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, self, target = DEFAULT(self, target)
    return cast(loss_kernels.mse_loss(self=self, target=target, reduction=reduction), dtype)


def mse_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int) -> Array:
    """mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, grad_output, self, target = DEFAULT(grad_output, self, target)
    result = loss_kernels.mse_loss_backward(grad_output=grad_output, self=self, target=target, reduction=reduction)
    return cast(result, dtype)


def smooth_l1_loss(self: Array, target: Array, reduction: int = 1, beta: ArrayLike = 1.0) -> Array:
    """smooth_l1_loss(Tensor self, Tensor target, int reduction=Mean, float beta=1.0) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, self, target = DEFAULT(self, target)
    return cast(loss_kernels.smooth_l1_loss(self=self, target=target, reduction=reduction, beta=beta), dtype)


def smooth_l1_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int, beta: ArrayLike) -> Array:
    """smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, grad_output, self, target, beta = DEFAULT(grad_output, self, target, scalars=(beta,))
    result = loss_kernels.smooth_l1_loss_backward(
        grad_output=grad_output, self=self, target=target, reduction=reduction, beta=beta
    )
    return cast(result, dtype)


def huber_loss(self: Array, target: Array, reduction: int = 1, delta: ArrayLike = 1.0) -> Array:
    """huber_loss(Tensor self, Tensor target, int reduction=Mean, float delta=1.0) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, self, target, delta = DEFAULT(self, target, scalars=(delta,))
    return cast(loss_kernels.huber_loss(self=self, target=target, reduction=reduction, delta=delta), dtype)


def huber_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int, delta: ArrayLike) -> Array:
    """huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, grad_output, self, target, delta = DEFAULT(grad_output, self, target, scalars=(delta,))
    result = loss_kernels.huber_loss_backward(
        grad_output=grad_output, self=self, target=target, reduction=reduction, delta=delta
    )
    return cast(result, dtype)


def soft_margin_loss(self: Array, target: Array, reduction: int = 1) -> Array:
    """soft_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, self, target = DEFAULT(self, target)
    return cast(loss_kernels.soft_margin_loss(self=self, target=target, reduction=reduction), dtype)


def soft_margin_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int) -> Array:
    """soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, grad_output, self, target = DEFAULT(grad_output, self, target)
    result = loss_kernels.soft_margin_loss_backward(
        grad_output=grad_output, self=self, target=target, reduction=reduction
    )
    return cast(result, dtype)


def binary_cross_entropy(self: Array, target: Array, weight: Array | None = None, reduction: int = 1) -> Array:
    """binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, self, target, weight = DEFAULT(self, target, weight)
    return cast(loss_kernels.binary_cross_entropy(self=self, target=target, weight=weight, reduction=reduction), dtype)


def binary_cross_entropy__checks(
    self: Array, target: Array, weight: Array | None = None, reduction: int = 1
) -> tuple[Array, ...]:
    """What must hold for binary_cross_entropy; see its row of the table."""
    return (jnp.all((self >= 0) & (self <= 1)), jnp.all((target >= 0) & (target <= 1)))


def binary_cross_entropy_backward(
    grad_output: Array, self: Array, target: Array, weight: Array | None = None, reduction: int = 1
) -> Array:
    """binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, int
        reduction=Mean) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, grad_output, self, target, weight = DEFAULT(grad_output, self, target, weight)
    result = loss_kernels.binary_cross_entropy_backward(
        grad_output=grad_output, self=self, target=target, weight=weight, reduction=reduction
    )
    return cast(result, dtype)


def binary_cross_entropy_with_logits(
    self: Array, target: Array, weight: Array | None = None, pos_weight: Array | None = None, reduction: int = 1
) -> Array:
    """binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int
        reduction=Mean) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    return loss_kernels.binary_cross_entropy_with_logits(
        self=self, target=target, weight=weight, pos_weight=pos_weight, reduction=reduction
    )


def nll_loss_forward(
    self: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> tuple[Array, Array]:
    """nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor
        output, Tensor total_weight)

    Spec: ops_spec/loss.yaml
    """
    return nll_kernels.nll_loss_forward(
        self=self, target=target, weight=weight, reduction=reduction, ignore_index=ignore_index
    )


def nll_loss_forward__checks(
    self: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> tuple[Array, ...]:
    """What must hold for nll_loss_forward; see its row of the table."""
    return (
        jnp.all((as_long(target) == ignore_index) | ((target >= 0) & (target < self.shape[min(self.ndim - 1, 1)]))),
    )


def nll_loss_backward(
    grad_output: Array,
    self: Array,
    target: Array,
    weight: Array | None,
    reduction: int,
    ignore_index: int,
    total_weight: Array,
) -> Array:
    """nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt
        ignore_index, Tensor total_weight) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    return nll_kernels.nll_loss_backward(
        grad_output=grad_output,
        self=self,
        target=target,
        weight=weight,
        reduction=reduction,
        ignore_index=ignore_index,
        total_weight=total_weight,
    )


def nll_loss2d_forward(
    self: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> tuple[Array, Array]:
    """nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor
        output, Tensor total_weight)

    Spec: ops_spec/loss.yaml
    """
    return nll_kernels.nll_loss_forward(
        self=self, target=target, weight=weight, reduction=reduction, ignore_index=ignore_index
    )


def nll_loss2d_forward__checks(
    self: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> tuple[Array, ...]:
    """What must hold for nll_loss2d_forward; see its row of the table."""
    return (jnp.all((as_long(target) == ignore_index) | ((target >= 0) & (target < self.shape[1]))),)


def nll_loss2d_backward(
    grad_output: Array,
    self: Array,
    target: Array,
    weight: Array | None,
    reduction: int,
    ignore_index: int,
    total_weight: Array,
) -> Array:
    """nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt
        ignore_index, Tensor total_weight) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    return nll_kernels.nll_loss_backward(
        grad_output=grad_output,
        self=self,
        target=target,
        weight=weight,
        reduction=reduction,
        ignore_index=ignore_index,
        total_weight=total_weight,
    )


def multi_margin_loss(
    self: Array, target: Array, p: ArrayLike = 1, margin: ArrayLike = 1, weight: Array | None = None, reduction: int = 1
) -> Array:
    """multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int
        reduction=Mean) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    return margin_kernels.multi_margin_loss(
        self=self, target=target, p=p, margin=margin, weight=weight, reduction=reduction
    )


def multi_margin_loss__checks(
    self: Array, target: Array, p: ArrayLike = 1, margin: ArrayLike = 1, weight: Array | None = None, reduction: int = 1
) -> tuple[Array, ...]:
    """What must hold for multi_margin_loss; see its row of the table."""
    return (jnp.all((target >= 0) & (target < (self.shape[-1] if self.ndim else 1))),)


def multi_margin_loss_backward(
    grad_output: Array,
    self: Array,
    target: Array,
    p: ArrayLike,
    margin: ArrayLike,
    weight: Array | None = None,
    reduction: int = 1,
) -> Array:
    """multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin, Tensor?
        weight=None, int reduction=Mean) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    return margin_kernels.multi_margin_loss_backward(
        grad_output=grad_output, self=self, target=target, p=p, margin=margin, weight=weight, reduction=reduction
    )


def multilabel_margin_loss_forward(self: Array, target: Array, reduction: int) -> tuple[Array, Array]:
    """multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor is_target)

    Spec: ops_spec/loss.yaml
    """
    return margin_kernels.multilabel_margin_loss_forward(self=self, target=target, reduction=reduction)


def multilabel_margin_loss_forward__checks(self: Array, target: Array, reduction: int) -> tuple[Array, ...]:
    """What must hold for multilabel_margin_loss_forward; see its row of the table."""
    return (jnp.all((target >= -1) & (target < (self.shape[-1] if self.ndim else 1))),)


def multilabel_margin_loss_backward(
    grad_output: Array, self: Array, target: Array, reduction: int, is_target: Array
) -> Array:
    """multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, Tensor is_target)
        -> Tensor

    Spec: ops_spec/loss.yaml
    """
    return margin_kernels.multilabel_margin_loss_backward(
        grad_output=grad_output, self=self, target=target, reduction=reduction, is_target=is_target
    )


def _ctc_loss(
    log_probs: Array,
    targets: Array,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[Array, Array]:
    """_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, bool
        zero_infinity=False) -> (Tensor, Tensor)

    Spec: ops_spec/loss.yaml
    """
    return ctc_kernels._ctc_loss(
        log_probs=log_probs,
        targets=targets,
        input_lengths=input_lengths,
        target_lengths=target_lengths,
        blank=blank,
        zero_infinity=zero_infinity,
    )


def _ctc_loss__Tensor(
    log_probs: Array,
    targets: Array,
    input_lengths: Array,
    target_lengths: Array,
    blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[Array, Array]:
    """_ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, bool
        zero_infinity=False) -> (Tensor, Tensor)

    log_alpha is as wide as the targets, where torch's is as wide as the longest of them

    Spec: ops_spec/loss.yaml
    """
    return ctc_kernels._ctc_loss(
        log_probs=log_probs,
        targets=targets,
        input_lengths=input_lengths,
        target_lengths=target_lengths,
        blank=blank,
        zero_infinity=zero_infinity,
    )


def _ctc_loss_backward(
    grad: Array,
    log_probs: Array,
    targets: Array,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    neg_log_likelihood: Array,
    log_alpha: Array,
    blank: int,
    zero_infinity: bool = False,
) -> Array:
    """_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths,
        Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    return ctc_kernels._ctc_loss_backward(
        grad=grad,
        log_probs=log_probs,
        targets=targets,
        input_lengths=input_lengths,
        target_lengths=target_lengths,
        neg_log_likelihood=neg_log_likelihood,
        log_alpha=log_alpha,
        blank=blank,
        zero_infinity=zero_infinity,
    )


def _ctc_loss_backward__Tensor(
    grad: Array,
    log_probs: Array,
    targets: Array,
    input_lengths: Array,
    target_lengths: Array,
    neg_log_likelihood: Array,
    log_alpha: Array,
    blank: int,
    zero_infinity: bool = False,
) -> Array:
    """_ctc_loss_backward.Tensor(Tensor grad, Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor
        target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    return ctc_kernels._ctc_loss_backward(
        grad=grad,
        log_probs=log_probs,
        targets=targets,
        input_lengths=input_lengths,
        target_lengths=target_lengths,
        neg_log_likelihood=neg_log_likelihood,
        log_alpha=log_alpha,
        blank=blank,
        zero_infinity=zero_infinity,
    )
