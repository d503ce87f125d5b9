"""Multi-layer recurrent networks as one `lax.scan` per layer and direction, with the parameters of `nn.RNNBase`.

The input is multiplied by its weight in one matrix product over all steps; the scan has only what depends on the
previous step. Its derivative is written out (`_recurrence`): the gradients of the weights are then one product over all
steps as well, which automatic differentiation would compute and add step by step. Packed sequences are laid out as
(time, batch) with a mask: a sequence that has ended, or in reverse has not begun, keeps its state.

Single steps of an LSTM or GRU (`_thnn_*`) are given the matrix products of the gates. Their gate order and workspaces
are those of torch's CUDA kernels (aten/src/ATen/native/cuda/RNN.cu); a workspace is private to a forward and its
backward.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_derivatives import SymbolicZero

from tenax.kernels import loops
from tenax.kernels.search import insertion
from tenax.platforms import platform
from tenax.words import Array, cast, opmath

State = tuple[Array, ...]


class RecurrentCell(NamedTuple):
    """One step of a recurrent network.

    Args:
        step: (gates of the input, gates of the state, state) -> the new state, whose first part is the output before
            projection, and what `slopes` reads.
        slopes: (what `step` has saved, old state, new state) -> the factors of the derivative. It is called once, on
            arrays of all steps.
        tangent: (factors, tangents of both gates, tangent of the old state) -> the tangent of the new state.
        joins: whether the step depends only on the sum of both gates.
    """

    step: Callable[[Array, Array, State], tuple[State, State]]
    slopes: Callable[[State, State, State], State]
    tangent: Callable[[State, Array, Array, State], State]
    joins: bool = True


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


def _lstm_step(x: Array, h: Array, state: State) -> tuple[State, State]:
    """Gates in the order input, forget, cell, output."""
    i, f, g, o = jnp.split(x + h, 4, axis=-1)
    i, f, g, o = jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(g), jax.nn.sigmoid(o)
    c = f * state[1] + i * g
    return (o * jnp.tanh(c), c), (i, f, g, o)


def _lstm_slopes(saved: State, old: State, new: State) -> State:
    (i, f, g, o), t = saved, jnp.tanh(new[1])
    return g * i * (1 - i), old[1] * f * (1 - f), i * (1 - g * g), f, t * o * (1 - o), o * (1 - t * t)


def _lstm_tangent(slopes: State, x: Array, h: Array, state: State) -> State:
    by_i, by_f, by_g, by_old, by_o, by_new = slopes
    i, f, g, o = jnp.split(x + h, 4, axis=-1)
    c = by_old * state[1] + by_i * i + by_f * f + by_g * g
    return by_o * o + by_new * c, c


def _gru_step(x: Array, h: Array, state: State) -> tuple[State, State]:
    """Gates in the order reset, update, new; the reset gate applies after the hidden product, as in cuDNN."""
    xr, xz, xn = jnp.split(x, 3, axis=-1)
    hr, hz, hn = jnp.split(h, 3, axis=-1)
    r, z = jax.nn.sigmoid(xr + hr), jax.nn.sigmoid(xz + hz)
    n = jnp.tanh(xn + r * hn)
    return (n + z * (state[0] - n),), (r, z, n, hn)


def _gru_slopes(saved: State, old: State, new: State) -> State:
    r, z, n, hn = saved
    by_n = (1 - z) * (1 - n * n)
    return by_n * hn * r * (1 - r), (old[0] - n) * z * (1 - z), by_n, by_n * r, z


def _gru_tangent(slopes: State, x: Array, h: Array, state: State) -> State:
    by_r, by_z, by_xn, by_hn, by_old = slopes
    xr, xz, xn = jnp.split(x, 3, axis=-1)
    hr, hz, hn = jnp.split(h, 3, axis=-1)
    return (by_r * (xr + hr) + by_z * (xz + hz) + by_xn * xn + by_hn * hn + by_old * state[0],)


def _elman(activation: Callable[[Array], Array], slope: Callable[[Array], Array]) -> RecurrentCell:
    """Elman's network; `slope` is the derivative of the activation, of its result."""

    def step(x: Array, h: Array, state: State) -> tuple[State, State]:
        return (activation(x + h),), ()

    def slopes(saved: State, old: State, new: State) -> State:
        return (slope(new[0]),)

    def tangent(slopes: State, x: Array, h: Array, state: State) -> State:
        return (slopes[0] * (x + h),)

    return RecurrentCell(step, slopes, tangent)


lstm_cell = RecurrentCell(_lstm_step, _lstm_slopes, _lstm_tangent)
gru_cell = RecurrentCell(_gru_step, _gru_slopes, _gru_tangent, joins=False)
tanh_cell = _elman(jnp.tanh, lambda y: 1 - y * y)
relu_cell = _elman(lambda x: jnp.maximum(x, 0), lambda y: cast(y > 0, y.dtype))


def _times(x: Array, weight: Array, bias: Array | None) -> Array:
    """x @ weight + bias, in the dtype of x; the parameters may be wider."""
    product = x @ cast(weight, x.dtype)
    return product if bias is None else cast(cast(product, bias.dtype) + bias, x.dtype)


class _Given(NamedTuple):
    """What the recurrence of a layer is computed from: the parameters, and the input's gates (time, batch, gates)."""

    gates: Array
    hidden: Array  # (hidden, gates)
    bias: Array | None
    project: Array | None  # (hidden, proj)
    state: State


def _scan(cell: RecurrentCell, reverse: bool, alive: Array | None, given: _Given, saves: bool) -> tuple[State, Any]:
    """The last state and, for each step, the output; with `saves` the state, that before projection, and `saved`."""

    def step(state: State, inputs: tuple[Array, Array | None]) -> tuple[State, Any]:
        gates, here = inputs
        if platform() == "cpu":  # where XLA does not vectorize a step that reads a slice
            gates = lax.optimization_barrier(gates)
        made, saved = cell.step(gates, _times(state[0], given.hidden, given.bias), state)
        new = _kept(here, made if given.project is None else (_times(made[0], given.project, None), *made[1:]), state)
        return new, (new, made, saved) if saves else new[0]

    last, each = loops.scan(step, given.state, (given.gates, alive), reverse=reverse)
    return last, each


def _kept(here: Array | None, new: State, old: State) -> State:
    """The new state; the old one for sequences that are not `here`."""
    return new if here is None else tuple(jnp.where(here[:, None], a, b) for a, b in zip(new, old, strict=True))


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _recurrence(cell: RecurrentCell, reverse: bool, alive: Array | None, given: _Given) -> tuple[Array, State]:
    """One direction of one layer: the outputs (time, batch, size), and the last state."""
    last, outputs = _scan(cell, reverse, alive, given, saves=False)
    return outputs, last


@partial(_recurrence.defjvp, symbolic_zeros=True)
def _recurrence_jvp(cell: RecurrentCell, reverse: bool, primals: Any, tangents: Any) -> Any:
    """The derivative: a scan that is linear in the tangents; what the weights contribute is computed before it."""
    alive, given = primals
    by = jax.tree.map(lambda tangent: None if isinstance(tangent, SymbolicZero) else tangent, tangents[1])
    last, (states, made, saved) = _scan(cell, reverse, alive, given, saves=True)
    old = tuple(_before(first, each, reverse) for first, each in zip(given.state, states, strict=True))
    slopes = cell.slopes(saved, old, made)
    from_input, from_state = by.gates, _product(old[0], by.hidden, by.bias)
    if cell.joins and from_input is not None and from_state is not None:
        from_input, from_state = from_input + from_state, None
    from_project = None if by.project is None else _times(made[0], by.project, None)

    def step(state: State, inputs: Any) -> tuple[State, Array]:
        slopes, x, h, projected, here = inputs
        gates = _times(state[0], given.hidden, None)
        new = cell.tangent(slopes, jnp.zeros_like(gates) if x is None else x, gates if h is None else gates + h, state)
        if given.project is not None:
            output = _times(new[0], given.project, None)
            new = (output if projected is None else output + projected, *new[1:])
        new = _kept(here, new, state)
        return new, new[0]

    start = tuple(jnp.zeros_like(s) if t is None else t for s, t in zip(given.state, by.state, strict=True))
    each = (slopes, from_input, from_state, from_project, alive)
    last_tangent, outputs_tangent = loops.scan(step, start, each, reverse=reverse)
    return (states[0], last), (outputs_tangent, last_tangent)


def _before(first: Array, each: Array, reverse: bool) -> Array:
    """The states before each step, given the first one and those after each step."""
    return jnp.concatenate([each[1:], first[None]] if reverse else [first[None], each[:-1]])


def _product(x: Array, weight: Array | None, bias: Array | None) -> Array | None:
    """x @ weight + bias, of which either may be missing."""
    if weight is None:
        return None if bias is None else cast(jnp.broadcast_to(bias, (*x.shape[:-1], *bias.shape)), x.dtype)
    return _times(x, weight, bias)


def _layer(
    x: Array, state: State, w: Weights, cell: RecurrentCell, alive: Array | None, reverse: bool
) -> tuple[Array, State]:
    """One direction of one layer over (time, batch, in): the outputs, and the last state."""
    gates = _times(x, w.input.T, w.input_bias)
    # Transposed once, because XLA's CPU backend is slower at the small products of a step otherwise.
    given = _Given(gates, w.hidden.T, w.hidden_bias, None if w.project is None else w.project.T, state)
    return _recurrence(cell, reverse, alive, given)


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
    cell: RecurrentCell,
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
    step = insertion(ends, index, jnp.less_equal)
    return Packed(jnp.minimum(rows, total - 1), places < sizes[:, None], step, index - (ends - sizes)[step])


States = Array | Sequence[Array]  # one, or the hidden and the cell states of an LSTM


def _listed(hx: States) -> Sequence[Array]:
    return hx if isinstance(hx, (list, tuple)) else (hx,)


def _padded(
    rng: Array,
    input: Array,
    hx: States,
    params: Sequence[Array],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    *,
    cell: RecurrentCell,
) -> tuple[Array, ...]:
    """A network over (time, batch, in): the outputs, and the last states."""
    x = input.swapaxes(0, 1) if batch_first else input
    x, last = run(rng, cell, x, _listed(hx), params, has_biases, dropout, train, bidirectional, None)
    return x.swapaxes(0, 1) if batch_first else x, *last


def _packed(
    rng: Array,
    data: Array,
    batch_sizes: Array,
    hx: States,
    params: Sequence[Array],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    *,
    cell: RecurrentCell,
) -> tuple[Array, ...]:
    """A network over packed sequences (rows, in): the outputs, and the last states."""
    states = _listed(hx)
    where = unpack(batch_sizes, states[0].shape[1], data.shape[0])
    x, last = run(rng, cell, data[where.rows], states, params, has_biases, dropout, train, bidirectional, where.alive)
    return x[where.step, where.place], *last


lstm_input = partial(_padded, cell=lstm_cell)
lstm_data = partial(_packed, cell=lstm_cell)
gru_input = partial(_padded, cell=gru_cell)
gru_data = partial(_packed, cell=gru_cell)
rnn_tanh_input = partial(_padded, cell=tanh_cell)
rnn_tanh_data = partial(_packed, cell=tanh_cell)
rnn_relu_input = partial(_padded, cell=relu_cell)
rnn_relu_data = partial(_packed, cell=relu_cell)


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
