"""Derivatives of recurrent networks, which are written out, in every mode and for every subset of what they are by."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import nn
from torch.autograd import forward_ad

from tenax.aten.registry import signature_of
from tenax.dispatch.shape_inference import describe_results, infer_results
from tenax.storage.spec import TensorSpec
from tests.helpers.agreement import close

Tensor = torch.Tensor

NETWORKS: dict[str, tuple[type[nn.RNNBase], dict[str, Any]]] = {
    "lstm": (nn.LSTM, {}),
    "lstm with projection": (nn.LSTM, {"proj_size": 3}),
    "gru": (nn.GRU, {}),
    "tanh": (nn.RNN, {}),
    "relu": (nn.RNN, {"nonlinearity": "relu"}),
}


def _pair(name: str, **options: Any) -> tuple[nn.RNNBase, nn.RNNBase]:
    torch.manual_seed(0)
    kind, more = NETWORKS[name]
    module = kind(5, 6, dtype=torch.float64, **more, **options)
    return module, copy.deepcopy(module).to("jax")


def _leaves(module: nn.RNNBase, count: int) -> list[Tensor]:
    """An input (time, batch, in) and initial states on the CPU."""
    rows = module.num_layers * (2 if module.bidirectional else 1)
    sizes = [module.proj_size or module.hidden_size, module.hidden_size][:count]
    given = [torch.randn(7, 4, 5), *(torch.randn(rows, 4, size) for size in sizes)]
    return [x.double().requires_grad_() for x in given]


def _run(module: nn.RNNBase, given: Sequence[Tensor], packed: bool) -> Tensor:
    x, *states = given
    if packed:
        x = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([7, 5, 5, 2]))
    output, last = module(x, tuple(states) if len(states) == 2 else states[0])
    output = output.data if packed else output
    return output.sin().sum() + sum(2 * state.cos().sum() for state in (last if len(states) == 2 else [last]))


def _both(name: str, **options: Any) -> tuple[nn.RNNBase, nn.RNNBase, list[Tensor], list[Tensor]]:
    reference, module = _pair(name, **options)
    given = _leaves(reference, 2 if name.startswith("lstm") else 1)
    return reference, module, given, [x.detach().to("jax").requires_grad_() for x in given]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("packed", [False, True], ids=["padded", "packed"])
@pytest.mark.parametrize("bidirectional", [False, True], ids=["forward", "both directions"])
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NETWORKS)
def test_gradients(name: str, bidirectional: bool, packed: bool) -> None:
    reference, module, given, ours = _both(name, bidirectional=bidirectional, num_layers=2)
    expected = torch.autograd.grad(_run(reference, given, packed), [*given, *reference.parameters()])
    close(torch.autograd.grad(_run(module, ours, packed), [*ours, *module.parameters()]), expected)


@pytest.mark.parametrize("chosen", ["x", "state", "weight_hh_l0", "bias_hh_l0", "weight_ih_l0"])
@pytest.mark.parametrize("name", ["lstm", "gru", "tanh"])
def test_gradients_of_one_argument(name: str, chosen: str) -> None:
    reference, module, given, ours = _both(name)

    def gradient(module: nn.RNNBase, given: list[Tensor]) -> Tensor:
        x, *states = given
        leaf = {"x": x, "state": states[0]}.get(chosen)
        leaf = getattr(module, chosen) if leaf is None else leaf
        for other in (x, *states, *module.parameters()):
            other.requires_grad_(other is leaf)
        return torch.autograd.grad(_run(module, given, packed=False), leaf)[0]

    close(gradient(module, ours), gradient(reference, given))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NETWORKS)
def test_second_derivatives(name: str) -> None:
    reference, module, given, ours = _both(name)

    def second(module: nn.RNNBase, given: list[Tensor]) -> Sequence[Tensor]:
        first = torch.autograd.grad(_run(module, given, packed=False), given, create_graph=True)
        return torch.autograd.grad(sum(g.square().sum() for g in first), [*given, module.weight_hh_l0])

    close(second(module, ours), second(reference, given))


@pytest.mark.parametrize("name", ["lstm", "gru"])
def test_forward_mode(name: str) -> None:
    reference, module, given, ours = _both(name)
    tangent = torch.randn(7, 4, 5, dtype=torch.float64)

    def derivative(module: nn.RNNBase, given: list[Tensor], tangent: Tensor) -> Tensor:
        x, *states = (g.detach() for g in given)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, tangent)
            output = module(dual, tuple(states) if len(states) == 2 else states[0])[0]
            return forward_ad.unpack_dual(output).tangent

    close(derivative(module, ours, tangent.to("jax")), derivative(reference, given, tangent))


def test_half_precision_gradients_do_not_stop_growing() -> None:
    """Over 600 steps, sums in bfloat16 would stop at 256."""
    module = nn.RNN(1, 1, nonlinearity="relu").to("jax", torch.bfloat16)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
        module.bias_hh_l0.fill_(1.0)
    module(torch.zeros(600, 1, 1, device="jax", dtype=torch.bfloat16))[0].sum().backward()
    assert module.bias_hh_l0.grad is not None
    assert module.bias_hh_l0.grad.item() == 600
    assert module.weight_hh_l0.grad is not None
    assert module.weight_hh_l0.grad.item() == 600  # 599 in bfloat16


@pytest.mark.parametrize("name", ["lstm with projection", "gru"])
def test_outputs_are_stored_step_by_step(name: str) -> None:
    for batch, steps, first in ((1, 5, True), (3, 1, True), (3, 5, True), (3, 5, False)):
        reference, module = _pair(name, batch_first=first, bidirectional=True)
        x = torch.randn((batch, steps, 5) if first else (steps, batch, 5), dtype=torch.float64)
        with torch.no_grad():
            expected, found = reference(x)[0], module(x.to("jax"))[0]
        close(found, expected)
        assert found.stride() == expected.stride() == module(x.to("jax"))[0].stride()


def test_torch_describes_two_steps_of_a_long_input() -> None:
    module, x = nn.LSTM(5, 6), torch.empty(1000, 4, 5)
    states = [torch.zeros(1, 4, 6)] * 2
    arguments = [x, states, [*module.parameters()], True, 1, 0.0, False, False, False]
    signature = signature_of("lstm.input")
    described = describe_results(infer_results(signature, arguments))
    assert described[0].size == (2, 4, 6)
    assert signature.corrected(arguments, [*described])[0] == TensorSpec.contiguous((1000, 4, 6), torch.float32)
