"""A step of training in JAX with optax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import optax

from .layers import Tree

Apply = Callable[..., tuple[jax.Array, Tree]]
Step = Callable[[Any, jax.Array, jax.Array], tuple[Any, jax.Array]]


def loss(apply: Apply, params: Tree, state: Tree, x: jax.Array, target: jax.Array) -> tuple[jax.Array, Tree]:
    """The mean cross entropy over all positions, and the new state."""
    logits, state = apply(params, state, x, training=True)
    return optax.softmax_cross_entropy_with_integer_labels(logits, target).mean(), state


def train_step(apply: Apply, optimizer: optax.GradientTransformation) -> Step:
    """A function of (parameters, state, optimizer's state), a batch and its targets that gives the three and the loss.

    Jitted; the three are donated.
    """

    def step(held: tuple[Tree, Tree, Any], x: jax.Array, target: jax.Array) -> tuple[tuple[Tree, Tree, Any], jax.Array]:
        params, state, moments = held
        gradient = jax.value_and_grad(loss, argnums=1, has_aux=True)
        (value, state), gradients = gradient(apply, params, state, x, target)
        updates, moments = optimizer.update(gradients, moments, params)
        return (optax.apply_updates(params, updates), state, moments), value

    return jax.jit(step, donate_argnums=0)
