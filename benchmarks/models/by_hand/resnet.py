"""ResNet-18, on images (batch, height, width, channels)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .layers import Tree, Weights, linear, linear_params, norm_params


def kernel(weight: np.ndarray) -> jax.Array:
    """Height, width, inputs, outputs."""
    return jnp.array(weight.transpose(2, 3, 1, 0))


def statistics(weights: Weights, name: str) -> Tree:
    return {"mean": jnp.array(weights[f"{name}.running_mean"]), "var": jnp.array(weights[f"{name}.running_var"])}


def from_torch(weights: Weights) -> tuple[Tree, Tree]:
    params = {
        "conv": kernel(weights["conv.weight"]),
        "bn": norm_params(weights, "bn"),
        "blocks": [],
        "head": linear_params(weights, "head"),
    }
    state = {"bn": statistics(weights, "bn"), "blocks": []}
    while (prefix := f"blocks.{len(params['blocks'])}") + ".conv1.weight" in weights:
        convs = [i for i in (1, 2, 3) if f"{prefix}.conv{i}.weight" in weights]
        block = {f"conv{i}": kernel(weights[f"{prefix}.conv{i}.weight"]) for i in convs}
        params["blocks"].append(block | {f"bn{i}": norm_params(weights, f"{prefix}.bn{i}") for i in convs})
        state["blocks"].append({f"bn{i}": statistics(weights, f"{prefix}.bn{i}") for i in convs})
    return params, state


def conv(x: jax.Array, w: jax.Array, stride: int) -> jax.Array:
    pad = (w.shape[0] // 2,) * 2
    return lax.conv_general_dilated(x, w, (stride, stride), (pad, pad), dimension_numbers=("NHWC", "HWIO", "NHWC"))


def batch_norm(p: Tree, s: Tree, x: jax.Array, training: bool) -> tuple[jax.Array, Tree]:
    if training:
        count = x.size // x.shape[-1]
        mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
        s = {"mean": 0.9 * s["mean"] + 0.1 * mean, "var": 0.9 * s["var"] + 0.1 * var * (count / (count - 1))}
    else:
        mean, var = s["mean"], s["var"]
    return (x - mean) * (lax.rsqrt(var + 1e-5) * p["scale"]) + p["bias"], s


def apply(params: Tree, state: Tree, x: jax.Array, training: bool = False) -> tuple[jax.Array, Tree]:
    x, stem = batch_norm(params["bn"], state["bn"], conv(x, params["conv"], 2), training)
    pads = ((0, 0), (1, 1), (1, 1), (0, 0))
    x = lax.reduce_window(jnp.maximum(x, 0), -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), pads)
    blocks = []
    for p, s in zip(params["blocks"], state["blocks"], strict=True):
        stride = 2 if "conv3" in p else 1
        new = {}
        y, new["bn1"] = batch_norm(p["bn1"], s["bn1"], conv(x, p["conv1"], stride), training)
        y, new["bn2"] = batch_norm(p["bn2"], s["bn2"], conv(jnp.maximum(y, 0), p["conv2"], 1), training)
        if stride > 1:
            x, new["bn3"] = batch_norm(p["bn3"], s["bn3"], conv(x, p["conv3"], stride), training)
        x = jnp.maximum(x + y, 0)
        blocks.append(new)
    return linear(params["head"], x.mean((1, 2))), {"bn": stem, "blocks": blocks}
