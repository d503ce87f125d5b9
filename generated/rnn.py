"""Lowerings of the family `rnn`.

Generated from ops_spec/rnn.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

from jax.typing import ArrayLike

from tenax.kernels import recurrent as recurrent_kernels
from tenax.words import Array


def gru__input(
    rng: Array,
    input: Array,
    hx: Array,
    params: Sequence[Array],
    has_biases: bool,
    num_layers: int,
    dropout: ArrayLike,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Array, Array]:
    """gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train,
        bool bidirectional, bool batch_first) -> (Tensor, Tensor)

    Spec: ops_spec/rnn.yaml
    """
    return recurrent_kernels.gru_input(
        rng=rng,
        input=input,
        hx=hx,
        params=params,
        has_biases=has_biases,
        num_layers=num_layers,
        dropout=dropout,
        train=train,
        bidirectional=bidirectional,
        batch_first=batch_first,
    )


def gru__data(
    rng: Array,
    data: Array,
    batch_sizes: Array,
    hx: Array,
    params: Sequence[Array],
    has_biases: bool,
    num_layers: int,
    dropout: ArrayLike,
    train: bool,
    bidirectional: bool,
) -> tuple[Array, Array]:
    """gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float
        dropout, bool train, bool bidirectional) -> (Tensor, Tensor)

    Spec: ops_spec/rnn.yaml
    """
    return recurrent_kernels.gru_data(
        rng=rng,
        data=data,
        batch_sizes=batch_sizes,
        hx=hx,
        params=params,
        has_biases=has_biases,
        num_layers=num_layers,
        dropout=dropout,
        train=train,
        bidirectional=bidirectional,
    )


def rnn_tanh__input(
    rng: Array,
    input: Array,
    hx: Array,
    params: Sequence[Array],
    has_biases: bool,
    num_layers: int,
    dropout: ArrayLike,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Array, Array]:
    """rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool
        train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)

    Spec: ops_spec/rnn.yaml
    """
    return recurrent_kernels.rnn_tanh_input(
        rng=rng,
        input=input,
        hx=hx,
        params=params,
        has_biases=has_biases,
        num_layers=num_layers,
        dropout=dropout,
        train=train,
        bidirectional=bidirectional,
        batch_first=batch_first,
    )


def rnn_tanh__data(
    rng: Array,
    data: Array,
    batch_sizes: Array,
    hx: Array,
    params: Sequence[Array],
    has_biases: bool,
    num_layers: int,
    dropout: ArrayLike,
    train: bool,
    bidirectional: bool,
) -> tuple[Array, Array]:
    """rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float
        dropout, bool train, bool bidirectional) -> (Tensor, Tensor)

    Spec: ops_spec/rnn.yaml
    """
    return recurrent_kernels.rnn_tanh_data(
        rng=rng,
        data=data,
        batch_sizes=batch_sizes,
        hx=hx,
        params=params,
        has_biases=has_biases,
        num_layers=num_layers,
        dropout=dropout,
        train=train,
        bidirectional=bidirectional,
    )


def rnn_relu__input(
    rng: Array,
    input: Array,
    hx: Array,
    params: Sequence[Array],
    has_biases: bool,
    num_layers: int,
    dropout: ArrayLike,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Array, Array]:
    """rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool
        train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)

    Spec: ops_spec/rnn.yaml
    """
    return recurrent_kernels.rnn_relu_input(
        rng=rng,
        input=input,
        hx=hx,
        params=params,
        has_biases=has_biases,
        num_layers=num_layers,
        dropout=dropout,
        train=train,
        bidirectional=bidirectional,
        batch_first=batch_first,
    )


def rnn_relu__data(
    rng: Array,
    data: Array,
    batch_sizes: Array,
    hx: Array,
    params: Sequence[Array],
    has_biases: bool,
    num_layers: int,
    dropout: ArrayLike,
    train: bool,
    bidirectional: bool,
) -> tuple[Array, Array]:
    """rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float
        dropout, bool train, bool bidirectional) -> (Tensor, Tensor)

    Spec: ops_spec/rnn.yaml
    """
    return recurrent_kernels.rnn_relu_data(
        rng=rng,
        data=data,
        batch_sizes=batch_sizes,
        hx=hx,
        params=params,
        has_biases=has_biases,
        num_layers=num_layers,
        dropout=dropout,
        train=train,
        bidirectional=bidirectional,
    )
