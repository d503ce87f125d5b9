"""One step of an LSTM or GRU and its backward, given the matrix products of the gates.

Gate order and workspaces are those of torch's CUDA kernels (aten/src/ATen/native/cuda/RNN.cu); a workspace is private
to a forward and its backward. Float16 and bfloat16 are computed in float32.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from tenax.words import cast, opmath

Array = jax.Array


def _wide(*arrays: Array | None) -> list[Array]:
    """The arrays in the compute dtype, absent ones as zero."""
    dtype = opmath(next(a for a in arrays if a is not None).dtype)
    return [jnp.zeros((), dtype) if a is None else cast(a, dtype) for a in arrays]


def _thnn_fused_lstm_cell(
    input_gates: Array,
    hidden_gates: Array,
    cx: Array,
    input_bias: Array | None = None,
    hidden_bias: Array | None = None,
) -> tuple[Array, Array, Array]:
    """(hy, cy, workspace) for gates [batch, 4 hidden] in the order input, forget, cell, output.

    The workspace holds the activated gates.
    """
    dtype = input_gates.dtype
    gates, hidden, c, b1, b2 = _wide(input_gates, hidden_gates, cx, input_bias, hidden_bias)
    i, f, g, o = jnp.split(gates + hidden + b1 + b2, 4, axis=-1)
    i, f, g, o = jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(g), jax.nn.sigmoid(o)
    cy = f * c + i * g
    hy = o * jnp.tanh(cy)
    return cast(hy, dtype), cast(cy, dtype), cast(jnp.concatenate([i, f, g, o], -1), dtype)


def _thnn_fused_lstm_cell_backward_impl(
    grad_hy: Array | None, grad_cy: Array | None, cx: Array, cy: Array, workspace: Array, has_bias: bool
) -> tuple[Array, Array, Array | None]:
    """(gradient of the gates, of cx, of each bias)."""
    dtype = workspace.dtype
    saved, c_new, c, gh, gc = _wide(workspace, cy, cx, grad_hy, grad_cy)
    i, f, g, o = jnp.split(saved, 4, axis=-1)
    t = jnp.tanh(c_new)
    gc = gc + gh * o * (1 - t * t)
    gates = [gc * g * i * (1 - i), gc * c * f * (1 - f), gc * i * (1 - g * g), gh * t * o * (1 - o)]
    grad_gates = cast(jnp.concatenate([jnp.broadcast_to(x, c.shape) for x in gates], -1), dtype)
    bias = cast(jnp.sum(grad_gates, 0), dtype) if has_bias else None
    return grad_gates, cast(jnp.broadcast_to(gc * f, c.shape), dtype), bias


def _thnn_fused_gru_cell(
    input_gates: Array,
    hidden_gates: Array,
    hx: Array,
    input_bias: Array | None = None,
    hidden_bias: Array | None = None,
) -> tuple[Array, Array]:
    """(hy, workspace) for gates [batch, 3 hidden] in the order reset, update, new.

    The workspace holds the reset, update and new gates, hx, and the hidden part of the new gate.
    """
    dtype = input_gates.dtype
    x, h, old, b1, b2 = _wide(input_gates, hidden_gates, hx, input_bias, hidden_bias)
    xr, xz, xn = jnp.split(x + b1, 3, axis=-1)
    hr, hz, hn = jnp.split(h + b2, 3, axis=-1)
    r, z = jax.nn.sigmoid(xr + hr), jax.nn.sigmoid(xz + hz)
    n = jnp.tanh(xn + r * hn)
    hy = n + z * (old - n)
    return cast(hy, dtype), cast(jnp.concatenate([r, z, n, old, hn], -1), dtype)


def _thnn_fused_gru_cell_backward(
    grad_hy: Array, workspace: Array, has_bias: bool
) -> tuple[Array, Array, Array, Array | None, Array | None]:
    """Gradients of input gates, hidden gates, hx, and the two biases."""
    dtype = workspace.dtype
    saved, grad = _wide(workspace, grad_hy)
    r, z, n, old, hn = jnp.split(saved, 5, axis=-1)
    gz = grad * (old - n) * z * (1 - z)
    gn = grad * (1 - z) * (1 - n * n)
    gr = gn * hn * r * (1 - r)
    inputs = cast(jnp.concatenate([gr, gz, gn], -1), dtype)
    hidden = cast(jnp.concatenate([gr, gz, gn * r], -1), dtype)
    biases = (jnp.sum(inputs, 0), jnp.sum(hidden, 0)) if has_bias else (None, None)
    return inputs, hidden, cast(grad * z, dtype), *biases
