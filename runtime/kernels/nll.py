"""Negative log-likelihood of classes, for inputs [N, C], [C] and [N, C, H, W]."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from tenax.kernels.scatter import narrow, take_rows
from tenax.platforms import platform
from tenax.words import INT64, MEAN, NONE, Array, Number, as_long, axes, cast, opmath


def _weights(x: Array, target: Array, weight: Array | None, ignore_index: int | Number) -> tuple[Array, Array]:
    """(class per position, its weight in the accumulation dtype); ignored ones are class 0 with weight 0."""
    target = cast(target, INT64)
    kept = target != as_long(ignore_index)
    wide = opmath(x.dtype)
    chosen = narrow(jnp.where(kept, target, 0), x.shape[min(x.ndim - 1, 1)])
    weights = cast(1, wide) if weight is None else take_rows(cast(weight, wide), chosen)
    return chosen, jnp.where(kept, weights, cast(0, wide))


def _along(x: Array, chosen: Array) -> Array:
    index = lax.expand_dims(chosen, (1,))
    if platform() == "tpu":  # whose gather needs x in memory, while a sum is computed where x is
        return jnp.sum(jnp.where(_hits(x, index, 1), x, cast(0, x.dtype)), 1)
    return lax.squeeze(jnp.take_along_axis(x, index, 1, mode="promise_in_bounds"), (1,))


def _hits(x: Array, chosen: Array, classes: int) -> Array:
    """Where an element of `x` is of the chosen class."""
    return lax.broadcasted_iota(chosen.dtype, x.shape, classes) == chosen


def nll_loss_forward(
    self: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int | Number
) -> tuple[Array, Array]:
    """(-self[target] weighted and reduced, the sum of the weights, or 0 without a reduction)."""
    chosen, weights = _weights(self, target, weight, ignore_index)
    picked = _along(self, chosen) if self.ndim > 1 else _along(self[None], chosen.reshape(1)).reshape(())
    weights = weights.reshape(picked.shape)
    losses = jnp.where(weights == 0, cast(0, weights.dtype), -cast(picked, weights.dtype) * weights)
    if reduction == NONE and self.ndim > 1:
        return cast(losses, self.dtype), jnp.zeros((), self.dtype)
    total, loss = (lax.reduce_sum(x, axes(x, None)) for x in (weights, losses))
    return cast(loss / total if reduction == MEAN else loss, self.dtype), cast(total, self.dtype)


def nll_loss_backward(
    grad_output: Array,
    self: Array,
    target: Array,
    weight: Array | None,
    reduction: int,
    ignore_index: int | Number,
    total_weight: Array,
) -> Array:
    """Gradient of `self`, by a comparison with the class index instead of a scatter, so that XLA can fuse it."""
    classes = min(self.ndim - 1, 1)
    chosen, weights = _weights(self, target, weight, ignore_index)
    slope = -cast(grad_output, weights.dtype) * weights
    if reduction == MEAN:
        slope = slope / cast(total_weight, weights.dtype)
    slope = jnp.where(weights == 0, cast(0, weights.dtype), slope)
    if self.ndim > 1:
        chosen, slope = (lax.expand_dims(x, (classes,)) for x in (chosen, slope))
    return cast(jnp.where(_hits(self, chosen, classes), slope, cast(0, slope.dtype)), self.dtype)
