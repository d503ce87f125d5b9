"""torch's recurrent networks `lstm`, `gru`, `rnn_tanh` and `rnn_relu`, for padded and for packed input."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tenax.kernels.rnn import RecurrentCell, gru_cell, lstm_cell, relu_cell, run, tanh_cell, unpack
from tenax.words import Array


def _padded(
    rng: Array,
    cell: RecurrentCell,
    input: Array,
    states: Sequence[Array],
    params: Sequence[Array],
    has_biases: bool,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Array, list[Array]]:
    x = input.swapaxes(0, 1) if batch_first else input
    x, last = run(rng, cell, x, states, params, has_biases, dropout, train, bidirectional, None)
    return x.swapaxes(0, 1) if batch_first else x, last


def _packed(
    rng: Array,
    cell: RecurrentCell,
    data: Array,
    batch_sizes: Array,
    states: Sequence[Array],
    params: Sequence[Array],
    has_biases: bool,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Array, list[Array]]:
    where = unpack(batch_sizes, states[0].shape[1], data.shape[0])
    x, last = run(rng, cell, data[where.rows], states, params, has_biases, dropout, train, bidirectional, where.alive)
    return x[where.step, where.place], last


def lstm_input(
    rng: Array,
    input: Array,
    hx: Sequence[Array],
    params: Sequence[Array],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Array, Array, Array]:
    """Long short-term memory over (time, batch, in): the outputs, and the last hidden and cell states."""
    x, last = _padded(rng, lstm_cell, input, hx, params, has_biases, dropout, train, bidirectional, batch_first)
    return x, last[0], last[1]


def lstm_data(
    rng: Array,
    data: Array,
    batch_sizes: Array,
    hx: Sequence[Array],
    params: Sequence[Array],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Array, Array, Array]:
    """Long short-term memory over packed sequences (rows, in): the outputs, and the last hidden and cell states."""
    x, last = _packed(rng, lstm_cell, data, batch_sizes, hx, params, has_biases, dropout, train, bidirectional)
    return x, last[0], last[1]


def _input_of(cell: RecurrentCell) -> Callable[..., tuple[Array, Array]]:
    def network(
        rng: Array,
        input: Array,
        hx: Array,
        params: Sequence[Array],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> tuple[Array, Array]:
        x, last = _padded(rng, cell, input, (hx,), params, has_biases, dropout, train, bidirectional, batch_first)
        return x, last[0]

    return network


def _data_of(cell: RecurrentCell) -> Callable[..., tuple[Array, Array]]:
    def network(
        rng: Array,
        data: Array,
        batch_sizes: Array,
        hx: Array,
        params: Sequence[Array],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
    ) -> tuple[Array, Array]:
        x, last = _packed(rng, cell, data, batch_sizes, (hx,), params, has_biases, dropout, train, bidirectional)
        return x, last[0]

    return network


# Networks with one state, which return the outputs and the last hidden state.
gru_input, gru_data = _input_of(gru_cell), _data_of(gru_cell)
rnn_tanh_input, rnn_tanh_data = _input_of(tanh_cell), _data_of(tanh_cell)
rnn_relu_input, rnn_relu_data = _input_of(relu_cell), _data_of(relu_cell)
