"""The layers that several models share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Weights = Mapping[str, np.ndarray]
Tree = dict[str, Any]


def linear_params(weights: Weights, name: str) -> Tree:
    return {"w": jnp.array(weights[f"{name}.weight"].T), "b": jnp.array(weights[f"{name}.bias"])}


def linear(p: Tree, x: jax.Array) -> jax.Array:
    """In the dtype of the matrix, as a product of two matrices: XLA's CPU backend copies others for their gradients."""
    rows = x.reshape(-1, x.shape[-1]).astype(p["w"].dtype)
    return (rows @ p["w"] + p["b"]).reshape(*x.shape[:-1], -1)


def norm_params(weights: Weights, name: str) -> Tree:
    """Of a layer norm or a batch norm."""
    return {"scale": jnp.array(weights[f"{name}.weight"]), "bias": jnp.array(weights[f"{name}.bias"])}


def layer_norm(p: Tree, x: jax.Array) -> jax.Array:
    """Over the last axis."""
    mean = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * p["scale"] + p["bias"]
