"""One step of an LSTM or GRU and its backward, given the matrix products of the gates.

Gate order and workspaces are those of torch's CUDA kernels (aten/src/ATen/native/cuda/RNN.cu); a workspace is private
to a forward and its backward. Float16 and bfloat16 are computed in float32.
"""

from __future__ import annotations

import jax.numpy as jnp

from tenax.kernels.rnn import gru_cell, lstm_cell
from tenax.words import Array, cast, opmath


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
    (hy, cy), activated = lstm_cell.step(gates + hidden + b1, b2, (c, c))
    return cast(hy, dtype), cast(cy, dtype), cast(jnp.concatenate(activated, -1), dtype)


def _thnn_fused_lstm_cell_backward_impl(
    grad_hy: Array | None, grad_cy: Array | None, cx: Array, cy: Array, workspace: Array, has_bias: bool
) -> tuple[Array, Array, Array | None]:
    """(gradient of the gates, of cx, of each bias)."""
    dtype = workspace.dtype
    saved, c_new, c, gh, gc = _wide(workspace, cy, cx, grad_hy, grad_cy)
    by_i, by_f, by_g, by_old, by_o, by_new = lstm_cell.slopes(tuple(jnp.split(saved, 4, axis=-1)), (c, c), (c, c_new))
    gc = gc + gh * by_new
    gates = [gc * by_i, gc * by_f, gc * by_g, gh * by_o]
    grad_gates = cast(jnp.concatenate([jnp.broadcast_to(x, c.shape) for x in gates], -1), dtype)
    bias = cast(jnp.sum(grad_gates, 0), dtype) if has_bias else None
    return grad_gates, cast(jnp.broadcast_to(gc * by_old, c.shape), dtype), bias


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
    (hy,), (r, z, n, hn) = gru_cell.step(x + b1, h + b2, (old,))
    return cast(hy, dtype), cast(jnp.concatenate([r, z, n, old, hn], -1), dtype)


def _thnn_fused_gru_cell_backward(
    grad_hy: Array, workspace: Array, has_bias: bool
) -> tuple[Array, Array, Array, Array | None, Array | None]:
    """Gradients of input gates, hidden gates, hx, and the two biases."""
    dtype = workspace.dtype
    saved, grad = _wide(workspace, grad_hy)
    r, z, n, old, hn = jnp.split(saved, 5, axis=-1)
    slopes = gru_cell.slopes((r, z, n, hn), (old,), ())
    by_r, by_z, by_n, by_hn, by_old = (grad * slope for slope in slopes)
    inputs = cast(jnp.concatenate([by_r, by_z, by_n], -1), dtype)
    hidden = cast(jnp.concatenate([by_r, by_z, by_hn], -1), dtype)
    biases = (jnp.sum(inputs, 0), jnp.sum(hidden, 0)) if has_bias else (None, None)
    return inputs, hidden, cast(by_old, dtype), *biases
