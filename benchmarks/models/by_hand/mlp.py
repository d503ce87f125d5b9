"""A perceptron of three layers."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from .layers import Tree, Weights, linear, linear_params


def from_torch(weights: Weights) -> tuple[Tree, Tree]:
    return {name: linear_params(weights, name) for name in ("first", "second", "head")}, {}


def apply(params: Tree, state: Tree, x: jax.Array, training: bool = False) -> tuple[jax.Array, Any]:
    x = jnp.maximum(linear(params["first"], x), 0)
    x = jnp.maximum(linear(params["second"], x), 0)
    return linear(params["head"], x), state
