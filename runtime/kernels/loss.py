"""Losses that compare element by element; `reduction` is torch's enum: 0 none, 1 mean, 2 sum."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from tenax.words import DEFAULT, Array, axes, cast

NONE, MEAN, SUM = 0, 1, 2

# at::binary_cross_entropy bounds its logarithms, and its gradient's denominator.
_LEAST_LOG = -100
_LEAST_VARIANCE = 1e-12


def reduced(losses: Array, reduction: int) -> Array:
    """The losses, their mean (NaN of none) or their sum."""
    if reduction == NONE:
        return losses
    total = lax.reduce_sum(losses, axes(losses, None))
    return total / losses.size if reduction == MEAN else total


def _pulled(grad_output: Array, slope: Array, reduction: int) -> Array:
    """The gradient of `reduced` losses, given the losses' own slopes."""
    return grad_output * slope / slope.size if reduction == MEAN and slope.size else grad_output * slope


def _weighted(losses: Array, weight: Array | None) -> Array:
    return losses if weight is None else losses * weight


def mse_loss(self: Array, target: Array, reduction: int = MEAN) -> Array:
    """(self - target)^2."""
    return reduced(jnp.square(self - target), reduction)


def mse_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int) -> Array:
    """Gradient in `self`."""
    return _pulled(grad_output, 2 * (self - target), reduction)


def smooth_l1_loss(self: Array, target: Array, reduction: int = MEAN, beta: float = 1.0) -> Array:
    """|d| - beta/2 of the difference d, and d^2 / (2 beta) below beta."""
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    size = jnp.abs(self - target)
    return reduced(jnp.where(size < beta, 0.5 * size * size / beta, size - 0.5 * beta), reduction)


def smooth_l1_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int, beta: float) -> Array:
    """Gradient in `self`."""
    d = self - target
    sign = jnp.where(d <= -beta, jnp.full_like(d, -1), jnp.ones_like(d))
    return _pulled(grad_output, jnp.where((d <= -beta) | (d >= beta), sign, d / beta), reduction)


def huber_loss(self: Array, target: Array, reduction: int = MEAN, delta: float = 1.0) -> Array:
    """d^2 / 2 of the difference d, and delta (|d| - delta/2) above delta."""
    size = jnp.abs(self - target)
    return reduced(jnp.where(size <= delta, 0.5 * size * size, delta * (size - 0.5 * delta)), reduction)


def huber_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int, delta: float) -> Array:
    """Gradient in `self`."""
    return _pulled(grad_output, jnp.clip(self - target, -delta, delta), reduction)


def soft_margin_loss(self: Array, target: Array, reduction: int = MEAN) -> Array:
    """log(1 + exp(-target * self)); inf where the exponential is, as in torch."""
    return reduced(jnp.log1p(jnp.exp(-target * self)), reduction)


def soft_margin_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int) -> Array:
    """Gradient in `self`."""
    z = jnp.exp(-target * self)
    return _pulled(grad_output, -target * z / (1 + z), reduction)


def binary_cross_entropy(self: Array, target: Array, weight: Array | None = None, reduction: int = MEAN) -> Array:
    """-(target log(self) + (1 - target) log(1 - self)), the logarithms not below -100."""
    yes, no = jnp.maximum(jnp.log(self), _LEAST_LOG), jnp.maximum(jnp.log1p(-self), _LEAST_LOG)
    return reduced(_weighted((target - 1) * no - target * yes, weight), reduction)


def binary_cross_entropy_backward(
    grad_output: Array, self: Array, target: Array, weight: Array | None = None, reduction: int = MEAN
) -> Array:
    """Gradient in `self`."""
    slope = (self - target) / jnp.maximum(self * (1 - self), _LEAST_VARIANCE)
    return _pulled(grad_output, _weighted(slope, weight), reduction)


def binary_cross_entropy_with_logits(
    self: Array,
    target: Array,
    weight: Array | None = None,
    pos_weight: Array | None = None,
    reduction: int = MEAN,
) -> Array:
    """Binary cross-entropy of sigmoid(self), `pos_weight` multiplying the loss of the positive part of the target.

    The result has the dtype of the target, in whose place torch computes it.
    """
    dtype = target.dtype
    _, self, target, weight, pos_weight = DEFAULT(self, target, weight, pos_weight)
    softplus = jnp.logaddexp(-self, jnp.zeros_like(self))
    positive = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    return cast(reduced(_weighted((1 - target) * self + positive * softplus, weight), reduction), dtype)
