"""Greedy decoding with the keys and values of all positions so far in arrays of full length."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from . import gpt
from .layers import Tree, Weights, layer_norm, linear


def from_torch(weights: Weights) -> tuple[Tree, Tree]:
    """The parameters, and per layer a pair of empty caches (batch, length, heads, size of a head)."""
    inner = {name.removeprefix("gpt."): value for name, value in weights.items()}
    params, _ = gpt.from_torch(inner)
    shapes = [weights[f"keys{i}"].swapaxes(1, 2).shape for i in range(len(params["blocks"]))]
    return params, {"caches": [(jnp.zeros(shape), jnp.zeros(shape)) for shape in shapes]}


def step(params: Tree, state: Tree, token: jax.Array, position: jax.Array) -> tuple[tuple[jax.Array, jax.Array], Tree]:
    """One token (batch, 1) at a position () to the likeliest next one and its position, and the new caches."""
    x = params["tokens"][token] + params["positions"][position]
    seen = (jnp.arange(params["positions"].shape[0]) <= position)[None, None, None]
    caches = []
    for p, (keys, values) in zip(params["blocks"], state["caches"], strict=True):
        query, key, value = gpt.parts(p, layer_norm(p["norm1"], x), keys.shape[2])
        keys = lax.dynamic_update_slice_in_dim(keys, key, position, 1)
        values = lax.dynamic_update_slice_in_dim(values, value, position, 1)
        y = jax.nn.dot_product_attention(query, keys, values, mask=seen)
        x = gpt.perceptron(p, x + linear(p["output"], y.reshape(x.shape)))
        caches.append((keys, values))
    logits = layer_norm(params["norm"], x) @ params["tokens"].T
    return (jnp.argmax(logits, -1), position + 1), {"caches": caches}
