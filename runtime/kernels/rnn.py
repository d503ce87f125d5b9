"""Multi-layer recurrent networks as one `lax.scan` per layer and direction, with the parameters of `nn.RNNBase`.

The input is multiplied by its weight in one matrix product over all steps; the scan has only what depends on the
previous step. Packed sequences are laid out as (time, batch) with a mask: a sequence that has ended, or in reverse has
not begun, keeps its state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from tenax.kernels import loops
from tenax.words import Array, cast, opmath

State = tuple[Array, ...]
# (gates of the input, gates of the state, state) -> the new state, whose first part is the output before projection
Cell = Callable[[Array, Array, State], State]


class Weights(NamedTuple):
    """Parameters of one layer and direction: (gates, in), (gates, hidden), biases of (gates,), (proj, hidden)."""

    input: Array
    hidden: Array
    input_bias: Array | None
    hidden_bias: Array | None
    project: Array | None


class Packed(NamedTuple):
    """The layout of packed sequences: `rows` (time, batch) in the data, and `step`, `place` of each row of the data."""

    rows: Array
    alive: Array
    step: Array
    place: Array


def lstm_cell(x: Array, h: Array, state: State) -> State:
    """Gates in the order input, forget, cell, output."""
    i, f, g, o = jnp.split(x + h, 4, axis=-1)
    c = jax.nn.sigmoid(f) * state[1] + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def gru_cell(x: Array, h: Array, state: State) -> State:
    """Gates in the order reset, update, new; the reset gate applies after the hidden product, as in cuDNN."""
    xr, xz, xn = jnp.split(x, 3, axis=-1)
    hr, hz, hn = jnp.split(h, 3, axis=-1)
    new = jnp.tanh(xn + jax.nn.sigmoid(xr + hr) * hn)
    return (new + jax.nn.sigmoid(xz + hz) * (state[0] - new),)


def tanh_cell(x: Array, h: Array, state: State) -> State:
    """Elman's network."""
    return (jnp.tanh(x + h),)


def relu_cell(x: Array, h: Array, state: State) -> State:
    """Elman's network with a rectifier."""
    return (jnp.maximum(x + h, 0),)


def _times(x: Array, weight: Array, bias: Array | None) -> Array:
    """x @ weight + bias, in the dtype of x; the parameters may be wider."""
    product = x @ cast(weight, x.dtype)
    return product if bias is None else cast(cast(product, bias.dtype) + bias, x.dtype)


def _layer(x: Array, state: State, w: Weights, cell: Cell, alive: Array | None, reverse: bool) -> tuple[Array, State]:
    """One direction of one layer over (time, batch, in): the outputs, and the last state."""
    gates = _times(x, w.input.T, w.input_bias)
    # Transposed once, because XLA's CPU backend is slower at the small products of a step otherwise.
    hidden, project = w.hidden.T, None if w.project is None else w.project.T

    def step(state: State, inputs: tuple[Array, Array | None]) -> tuple[State, Array]:
        gate, here = inputs
        new = cell(gate, _times(state[0], hidden, w.hidden_bias), state)
        if project is not None:
            new = (_times(new[0], project, None), *new[1:])
        if here is not None:
            new = tuple(jnp.where(here[:, None], a, b) for a, b in zip(new, state, strict=True))
        return new, new[0]

    state, outputs = loops.scan(step, state, (gates, alive), reverse=reverse)
    return outputs, state


def _weights(params: Sequence[Array], has_biases: bool, projected: bool) -> list[Weights]:
    """Split the flat list of parameters by layer and direction."""
    size = (4 if has_biases else 2) + projected
    result = []
    for start in range(0, len(params), size):
        part = list(params[start : start + size])
        first, second = part[2:4] if has_biases else (None, None)
        result.append(Weights(part[0], part[1], first, second, part[-1] if projected else None))
    return result


def _dropout(rng: Array, x: Array, p: float) -> Array:
    """Zero elements with probability `p`, and scale the others to keep the mean."""
    if p >= 1:
        return jnp.zeros_like(x)
    return jnp.where(jax.random.bernoulli(rng, 1 - p, x.shape), x / (1 - p), jnp.zeros((), x.dtype))


def run(
    rng: Array,
    cell: Cell,
    x: Array,
    states: Sequence[Array],
    params: Sequence[Array],
    has_biases: bool,
    dropout: float,
    train: bool,
    bidirectional: bool,
    alive: Array | None,
) -> tuple[Array, list[Array]]:
    """Run all layers over (time, batch, in). `states`, and those returned, are (layers * directions, batch, size)."""
    directions = 2 if bidirectional else 1
    projected = len(states) == 2 and states[0].shape[-1] != states[1].shape[-1]
    # Gradients of parameters are summed over the steps; in half precision the sum would stop growing at 256.
    weights = _weights([cast(p, opmath(p.dtype)) for p in params], has_biases, projected)
    last: list[State] = []
    for layer in range(len(weights) // directions):
        if layer and train and dropout > 0:
            rng, now = jax.random.split(rng)
            x = _dropout(now, x, dropout)
        outputs = []
        for direction in range(directions):
            n = layer * directions + direction
            out, state = _layer(x, tuple(s[n] for s in states), weights[n], cell, alive, direction == 1)
            outputs.append(out)
            last.append(state)
        x = outputs[0] if directions == 1 else jnp.concatenate(outputs, axis=-1)
    return x, [jnp.stack(parts) for parts in zip(*last, strict=True)]


def unpack(batch_sizes: Array, batch: int, total: int) -> Packed:
    """The layout of `total` packed rows, the first `batch_sizes[0]` of which are the first step, and so on."""
    sizes = cast(batch_sizes, jnp.int32)
    ends = jnp.cumsum(sizes, dtype=jnp.int32)
    places = lax.iota(jnp.int32, batch)
    rows = (ends - sizes)[:, None] + places
    index = lax.iota(jnp.int32, total)
    step = cast(loops.searchsorted(ends, index, side="right"), jnp.int32)
    return Packed(jnp.minimum(rows, total - 1), places < sizes[:, None], step, index - (ends - sizes)[step])
