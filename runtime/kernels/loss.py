"""Elementwise losses that are longer than a line of the spec."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from tenax.words import DEFAULT, MEAN, Array, Number, cast, is_negative, reduced, reduced_backward


def smooth_l1_loss(self: Array, target: Array, reduction: int = MEAN, beta: float | Number = 1.0) -> Array:
    """|d| - beta/2 of the difference d, or d^2 / (2 beta) where |d| < beta."""
    if is_negative(beta):
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    size, width = jnp.abs(self - target), cast(beta, self.dtype)
    return reduced(jnp.where(size < width, 0.5 * size * size / width, size - 0.5 * width), reduction)


def smooth_l1_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int, beta: float) -> Array:
    """Gradient of `self`."""
    d = self - target
    sign = jnp.where(d <= -beta, jnp.full_like(d, -1), jnp.ones_like(d))
    return reduced_backward(grad_output, jnp.where((d <= -beta) | (d >= beta), sign, d / beta), reduction)


def huber_loss(self: Array, target: Array, reduction: int = MEAN, delta: float | Number = 1.0) -> Array:
    """d^2 / 2 of the difference d, or delta (|d| - delta/2) where |d| > delta."""
    size, width = jnp.abs(self - target), cast(delta, self.dtype)
    return reduced(jnp.where(size <= width, 0.5 * size * size, width * (size - 0.5 * width)), reduction)


def binary_cross_entropy_with_logits(
    self: Array,
    target: Array,
    weight: Array | None = None,
    pos_weight: Array | None = None,
    reduction: int = MEAN,
) -> Array:
    """Binary cross-entropy of sigmoid(self); `pos_weight` multiplies the loss of the positive part of the target.

    The result has the dtype of the target, because torch computes it in place in a tensor of that dtype.
    """
    dtype = target.dtype
    _, self, target, weight, pos_weight = DEFAULT(self, target, weight, pos_weight)
    positive = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    return cast(reduced((1 - target) * self + positive * jax.nn.softplus(-self), reduction, weight), dtype)
