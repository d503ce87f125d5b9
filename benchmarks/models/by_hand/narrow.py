"""A perceptron of a hundred tiny layers."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from .layers import Tree, Weights, linear, linear_params


def from_torch(weights: Weights) -> tuple[Tree, Tree]:
    return {i: linear_params(weights, f"layers.{i}") for i in range(len(weights) // 2)}, {}


def apply(params: Tree, state: Tree, x: jax.Array, training: bool = False) -> tuple[jax.Array, Any]:
    for p in params.values():
        x = jnp.tanh(linear(p, x))
    return x, state
