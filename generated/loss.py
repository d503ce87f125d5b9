"""Lowerings of the family `loss`.

Generated from ops_spec/loss.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.generated import checks
from tenax.kernels import ctc as ctc_kernels
from tenax.kernels import loss as loss_kernels
from tenax.kernels import margin as margin_kernels
from tenax.kernels.arithmetic import sub
from tenax.words import DEFAULT, Array, Gradients, cast, reduced, reduced_backward, with_derivative, within


def mse_loss(self: Array, target: Array, reduction: int = 1) -> Array:
    """mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, self, target = DEFAULT(self, target)
    return cast(reduced(jnp.square(sub(self, target)), reduction), dtype)


def mse_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int) -> Array:
    """mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, grad_output, self, target = DEFAULT(grad_output, self, target)
    return cast(reduced_backward(grad_output, 2 * sub(self, target), reduction), dtype)


def smooth_l1_loss(self: Array, target: Array, reduction: int = 1, beta: ArrayLike = 1.0) -> Array:
    """smooth_l1_loss(Tensor self, Tensor target, int reduction=Mean, float beta=1.0) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, self, target = DEFAULT(self, target)

    def value(self: Array, target: Array, beta: ArrayLike) -> Array:
        return loss_kernels.smooth_l1_loss(self=self, target=target, reduction=reduction, beta=beta)

    def gradients(grad: Array, result: Array, self: Array, target: Array, beta: ArrayLike) -> Gradients:
        return {
            "self": lambda: smooth_l1_loss_backward(grad, self, target, reduction, beta),
            "target": lambda: smooth_l1_loss_backward(grad, target, self, reduction, beta),
        }

    return cast(with_derivative(value, gradients, self=self, target=target, beta=beta), dtype)


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
    dtype, self, target = DEFAULT(self, target)

    def value(self: Array, target: Array, delta: ArrayLike) -> Array:
        return loss_kernels.huber_loss(self=self, target=target, reduction=reduction, delta=delta)

    def gradients(grad: Array, result: Array, self: Array, target: Array, delta: ArrayLike) -> Gradients:
        return {
            "self": lambda: huber_loss_backward(grad, self, target, reduction, delta),
            "target": lambda: huber_loss_backward(grad, target, self, reduction, delta),
        }

    return cast(with_derivative(value, gradients, self=self, target=target, delta=delta), dtype)


def huber_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int, delta: ArrayLike) -> Array:
    """huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, grad_output, self, target, delta = DEFAULT(grad_output, self, target, scalars=(delta,))
    result = reduced_backward(grad_output, jnp.clip(sub(self, target), jnp.negative(delta), delta), reduction)
    return cast(result, dtype)


def soft_margin_loss(self: Array, target: Array, reduction: int = 1) -> Array:
    """soft_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, self, target = DEFAULT(self, target)

    def value(self: Array, target: Array) -> Array:
        return reduced(jnp.log1p(jnp.exp(-target * self)), reduction)

    def gradients(grad: Array, result: Array, self: Array, target: Array) -> Gradients:
        return {
            "self": lambda: soft_margin_loss_backward(grad, self, target, reduction),
        }

    return cast(with_derivative(value, gradients, self=self, target=target), dtype)


def soft_margin_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int) -> Array:
    """soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, grad_output, self, target = DEFAULT(grad_output, self, target)
    result = reduced_backward(grad_output, -target * jnp.exp(-target * self) / (1 + jnp.exp(-target * self)), reduction)
    return cast(result, dtype)


def binary_cross_entropy(self: Array, target: Array, weight: Array | None = None, reduction: int = 1) -> Array:
    """binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, self, target, weight = DEFAULT(self, target, weight)

    def value(self: Array, target: Array, weight: Array | None) -> Array:
        return reduced(
            (target - 1) * jnp.maximum(jnp.log1p(-self), -100) - target * jnp.maximum(jnp.log(self), -100),
            reduction,
            weight,
        )

    def gradients(grad: Array, result: Array, self: Array, target: Array, weight: Array | None) -> Gradients:
        return {
            "self": lambda: binary_cross_entropy_backward(grad, self, target, weight, reduction),
            "target": lambda: reduced_backward(grad, jnp.log1p(-self) - jnp.log(self), reduction, weight),
        }

    return cast(with_derivative(value, gradients, self=self, target=target, weight=weight), dtype)


def binary_cross_entropy__checks(
    self: Array, target: Array, weight: Array | None = None, reduction: int = 1
) -> tuple[Array, ...]:
    """The conditions of binary_cross_entropy; its row of the table has their errors."""
    return (jnp.all((self >= 0) & (self <= 1)), jnp.all((target >= 0) & (target <= 1)))


def binary_cross_entropy_backward(
    grad_output: Array, self: Array, target: Array, weight: Array | None = None, reduction: int = 1
) -> Array:
    """binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, int
        reduction=Mean) -> Tensor

    Spec: ops_spec/loss.yaml
    """
    dtype, grad_output, self, target, weight = DEFAULT(grad_output, self, target, weight)
    result = reduced_backward(grad_output, sub(self, target) / jnp.maximum(self * (1 - self), 1e-12), reduction, weight)
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


def nll_loss_forward__checks(
    self: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> tuple[Array, ...]:
    """The conditions of nll_loss_forward; its row of the table has their errors."""
    return (checks.target_in_bounds(target, self.shape[min(self.ndim - 1, 1)], ignore_index),)


def nll_loss2d_forward__checks(
    self: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> tuple[Array, ...]:
    """The conditions of nll_loss2d_forward; its row of the table has their errors."""
    return (checks.target_in_bounds(target, self.shape[1], ignore_index),)


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
    """The conditions of multi_margin_loss; its row of the table has their errors."""
    return (within(target, 0, self.shape[-1] if self.ndim else 1),)


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


def multilabel_margin_loss_forward__checks(self: Array, target: Array, reduction: int) -> tuple[Array, ...]:
    """The conditions of multilabel_margin_loss_forward; its row of the table has their errors."""
    return (within(target, -1, self.shape[-1] if self.ndim else 1),)


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

    def value(log_probs: Array, targets: Array) -> tuple[Array, Array]:
        return ctc_kernels._ctc_loss(
            log_probs=log_probs,
            targets=targets,
            input_lengths=input_lengths,
            target_lengths=target_lengths,
            blank=blank,
            zero_infinity=zero_infinity,
        )

    def gradients(grad: Array, result: Array, log_probs: Array, targets: Array) -> Gradients:
        return {
            "log_probs": lambda: ctc_kernels._ctc_loss_backward(
                grad[0], log_probs, targets, input_lengths, target_lengths, result[0], result[1], blank, zero_infinity
            ),
        }

    return with_derivative(value, gradients, log_probs=log_probs, targets=targets)


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

    log_alpha is as wide as the targets, while torch's is as wide as the longest of them

    Spec: ops_spec/loss.yaml
    """

    def value(log_probs: Array, targets: Array, input_lengths: Array, target_lengths: Array) -> tuple[Array, Array]:
        return ctc_kernels._ctc_loss(
            log_probs=log_probs,
            targets=targets,
            input_lengths=input_lengths,
            target_lengths=target_lengths,
            blank=blank,
            zero_infinity=zero_infinity,
        )

    def gradients(
        grad: Array, result: Array, log_probs: Array, targets: Array, input_lengths: Array, target_lengths: Array
    ) -> Gradients:
        return {
            "log_probs": lambda: ctc_kernels._ctc_loss_backward(
                grad[0], log_probs, targets, input_lengths, target_lengths, result[0], result[1], blank, zero_infinity
            ),
        }

    return with_derivative(
        value,
        gradients,
        log_probs=log_probs,
        targets=targets,
        input_lengths=input_lengths,
        target_lengths=target_lengths,
    )
