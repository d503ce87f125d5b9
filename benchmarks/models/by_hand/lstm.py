"""A language model of two LSTM layers: the products with the inputs are made for all times at once."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from .layers import Tree, Weights, linear, linear_params


def from_torch(weights: Weights) -> tuple[Tree, Tree]:
    layers = [
        {
            "wx": jnp.array(weights[f"lstm.weight_ih_l{i}"].T),
            "wh": jnp.array(weights[f"lstm.weight_hh_l{i}"].T),
            "bx": jnp.array(weights[f"lstm.bias_ih_l{i}"]),
            "bh": jnp.array(weights[f"lstm.bias_hh_l{i}"]),
        }
        for i in range(2)
    ]
    return {"tokens": jnp.array(weights["tokens.weight"]), "layers": layers, "head": linear_params(weights, "head")}, {}


def layer(p: Tree, x: jax.Array) -> jax.Array:
    """(length, batch, inputs) to (length, batch, width)."""

    def cell(carry: tuple[jax.Array, jax.Array], gates: jax.Array) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
        h, c = carry
        i, f, g, o = jnp.split(gates + h @ p["wh"], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros((x.shape[1], p["wh"].shape[0]), x.dtype)
    return lax.scan(cell, (zeros, zeros), x @ p["wx"] + (p["bx"] + p["bh"]))[1]


def apply(params: Tree, state: Tree, tokens: jax.Array, training: bool = False) -> tuple[jax.Array, Tree]:
    x = params["tokens"][tokens.T]
    for p in params["layers"]:
        x = layer(p, x)
    return linear(params["head"], x.swapaxes(0, 1)), state
