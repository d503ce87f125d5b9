"""Losses that require the target class to exceed the others by a margin; [N, C] or [C] inputs."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.words import INT64, MEAN, Array, cast, reduced


def _rows(x: Array) -> Array:
    return x.reshape(1, -1) if x.ndim < 2 else x


def multi_margin_loss(
    self: Array,
    target: Array,
    p: float = 1,
    margin: float = 1,
    weight: Array | None = None,
    reduction: int = MEAN,
) -> Array:
    """Sum over i != y of max(0, margin - x[y] + x[i])^p / C, times the weight of y; `target` holds y, shape [N]."""
    if p not in (1, 2):
        raise RuntimeError("only p == 1 and p == 2 supported")
    x, y = _rows(self), cast(target, INT64).reshape(-1, 1)
    short = cast(margin, x.dtype) - jnp.take_along_axis(x, y, 1) + x
    others = lax.broadcasted_iota(INT64, x.shape, 1) != y
    costs = jnp.where(others & (short > 0), short if p == 1 else short * short, cast(0, x.dtype))
    losses = jnp.sum(costs, 1) / x.shape[1]
    return reduced((losses if weight is None else losses * weight[y[:, 0]]).reshape(target.shape), reduction)


def multi_margin_loss_backward(
    grad_output: Array,
    self: Array,
    target: Array,
    p: float,
    margin: float,
    weight: Array | None = None,
    reduction: int = MEAN,
) -> Array:
    """Gradient of `self`."""
    _, pull = jax.vjp(lambda x: multi_margin_loss(x, target, p, margin, weight, reduction), self)
    return pull(grad_output)[0]


def multilabel_margin_loss_forward(self: Array, target: Array, reduction: int) -> tuple[Array, Array]:
    """(sum over labels j and other classes i of max(0, 1 - x[j] + x[i]) / C, mask of the classes that are labels)."""
    x, y = _rows(self), _rows(cast(target, INT64))
    n, c = x.shape
    # The labels of a row end at the first -1.
    named = jnp.cumsum(y < 0, 1, dtype=np.int32) == 0
    rows = lax.broadcasted_iota(INT64, (n, c), 0)
    is_target = jnp.zeros((n, c), bool).at[rows, jnp.where(named, y, c)].set(True, mode="drop")
    best = jnp.take_along_axis(x, jnp.where(named, y, 0), 1)
    short = 1 - best[:, :, None] + x[:, None, :]
    counted = named[:, :, None] & ~is_target[:, None, :] & (short > 0)
    losses = jnp.sum(jnp.where(counted, short, cast(0, x.dtype)), (1, 2)) / c
    losses = losses if self.ndim > 1 else losses.reshape(())
    return reduced(losses, reduction), cast(is_target, x.dtype).reshape(target.shape)


def multilabel_margin_loss_backward(
    grad_output: Array, self: Array, target: Array, reduction: int, is_target: Array
) -> Array:
    """Gradient of `self`."""
    _, pull = jax.vjp(lambda x: multilabel_margin_loss_forward(x, target, reduction)[0], self)
    return pull(grad_output)[0]
