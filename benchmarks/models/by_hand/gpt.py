"""A decoder-only transformer in the shape of GPT-2."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from .layers import Tree, Weights, layer_norm, linear, linear_params, norm_params

# What does not follow from the shapes of the parameters.
HEADS = 4


def from_torch(weights: Weights) -> tuple[Tree, Tree]:
    params = {
        "tokens": jnp.array(weights["tokens.weight"]),
        "positions": jnp.array(weights["positions.weight"]),
        "blocks": [],
        "norm": norm_params(weights, "norm"),
    }
    inputs = ("query", "key", "value") if "blocks.0.attention.query.weight" in weights else ("inputs",)
    linears = {name: f"attention.{name}" for name in (*inputs, "output")} | {"up": "up", "down": "down"}
    while (prefix := f"blocks.{len(params['blocks'])}") + ".up.weight" in weights:
        block = {name: linear_params(weights, f"{prefix}.{there}") for name, there in linears.items()}
        params["blocks"].append(block | {name: norm_params(weights, f"{prefix}.{name}") for name in ("norm1", "norm2")})
    return params, {}


def halved(params: Tree, dtype: Any) -> Tree:
    """The parameters as mixed precision multiplies them: matrices in `dtype`, norms and embeddings as they are."""
    blocks = [{name: _cast(p, dtype) if "w" in p else p for name, p in block.items()} for block in params["blocks"]]
    return params | {"blocks": blocks, "head": params["tokens"].astype(dtype)}


def _cast(p: Tree, dtype: Any) -> Tree:
    return {name: value.astype(dtype) for name, value in p.items()}


def parts(p: Tree, x: jax.Array, heads: int) -> list[jax.Array]:
    """Queries, keys and values, each (batch, length, heads, size of a head)."""
    batch, length, width = x.shape
    shape = (batch, length, heads, width // heads)
    if "query" in p:
        return [linear(p[name], x).reshape(shape) for name in ("query", "key", "value")]
    return [part.reshape(shape) for part in jnp.split(linear(p["inputs"], x), 3, -1)]


def perceptron(p: Tree, x: jax.Array) -> jax.Array:
    return x + linear(p["down"], jax.nn.gelu(linear(p["up"], layer_norm(p["norm2"], x))))


def attention(query: jax.Array, key: jax.Array, value: jax.Array, implementation: Any) -> jax.Array:
    """Causal attention, by the library or, without an implementation, as products of heads, the fastest on CPUs.

    Arguments and result are (batch, length, heads, size of a head).
    """
    if implementation:
        return jax.nn.dot_product_attention(query, key, value, is_causal=True, implementation=implementation)
    query, key, value = (x.transpose(0, 2, 1, 3) for x in (query, key, value))
    scores = query @ key.swapaxes(-1, -2) / query.shape[-1] ** 0.5
    scores = jnp.where(jnp.tri(*scores.shape[-2:], dtype=bool), scores, -jnp.inf)
    return (jax.nn.softmax(scores, axis=-1) @ value).transpose(0, 2, 1, 3)


def apply(
    params: Tree,
    state: Tree,
    tokens: jax.Array,
    training: bool = False,
    heads: int = HEADS,
    implementation: Any = None,
    activations: Any = None,
) -> tuple[jax.Array, Tree]:
    """Logits, and the state. `activations` is the sharding of what the embedding gives, on a mesh."""
    x = params["tokens"][tokens] + params["positions"][: tokens.shape[1]]
    if activations is not None:
        x = jax.lax.with_sharding_constraint(x, activations)
    for p in params["blocks"]:
        y = attention(*parts(p, layer_norm(p["norm1"], x), heads), implementation)
        x = perceptron(p, x + linear(p["output"], y.reshape(x.shape)))
    head = params.get("head", params["tokens"])
    return layer_norm(params["norm"], x).astype(head.dtype) @ head.T, state
