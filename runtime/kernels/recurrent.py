"""torch's recurrent networks `lstm`, `gru`, `rnn_tanh` and `rnn_relu`, for padded and for packed input."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tenax.kernels.rnn import RecurrentCell, gru_cell, lstm_cell, relu_cell, run, tanh_cell, unpack
from tenax.words import Array

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
