"""A module that a pure function runs keeps its own tensors, also where submodules and tensors have several names."""

from __future__ import annotations

import copy
import itertools
import random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

import tenax
from tenax.compat.torchax.interop import JittableModule
from tenax.interop import checkpoint, functional, t2j
from tests.helpers.agreement import close
from tests.helpers.arrays import X


class Twice(nn.Module):
    """One layer under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = self.a

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.b(self.a(x).tanh())


class Node(nn.Module):
    """A random module of 3 features: children of which some are shared, tied weights and buffers, a counter."""

    def __init__(self, dice: random.Random, depth: int, pool: list[nn.Module]) -> None:
        super().__init__()
        self.children_ = nn.ModuleList(child(dice, depth, pool) for _ in range(dice.randint(1, 3)))
        self.named = nn.ModuleDict({key: dice.choice([*self.children_]) for key in "uv"[: dice.randint(0, 2)]})
        self.scale = nn.Parameter(torch.tensor([0.5, 1.5, 1.0]))
        if dice.random() < 0.5:
            self.again = self.scale
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("offset", torch.full((3,), 0.25), persistent=dice.random() < 0.5)
        if dice.random() < 0.5:
            self.register_buffer("twin", self.offset)
        linears = [m for m in self.modules() if isinstance(m, nn.Linear)]
        if len(linears) > 1 and dice.random() < 0.7:
            first, second = dice.sample(linears, 2)
            first.weight = second.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count = self.count + 1
        self.offset.add_(0.5)
        for layer in (*self.children_, *self.named.values()):
            x = layer(x).tanh() * self.scale + getattr(self, "twin", self.offset)
        return x * getattr(self, "again", self.scale) + self.count


def child(dice: random.Random, depth: int, pool: list[nn.Module]) -> nn.Module:
    if pool and dice.random() < 0.4:
        return dice.choice(pool)
    made: nn.Module = Node(dice, depth - 1, pool) if depth and dice.random() < 0.5 else nn.Linear(3, 3)
    if dice.random() < 0.2:
        made = nn.Sequential(made, made)
    pool.append(made)
    return made


def tensors(module: nn.Module) -> dict[str, tuple[torch.Tensor, np.ndarray]]:
    named = itertools.chain(
        module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False)
    )
    return {name: (t, t.detach().cpu().numpy().copy()) for name, t in named}


def unchanged(module: nn.Module, before: dict[str, tuple[torch.Tensor, np.ndarray]]) -> None:
    now = tensors(module)
    assert list(now) == list(before)
    for name, (tensor, value) in before.items():
        assert now[name][0] is tensor, name
        np.testing.assert_array_equal(now[name][1], value)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("device", ["cpu", "jax"])
def test_a_random_module_with_shared_parts_agrees_with_torch_and_keeps_its_tensors(seed: int, device: str) -> None:
    torch.manual_seed(seed)
    module = Node(random.Random(seed), 2, [])
    twin = copy.deepcopy(module)
    expected = twin(torch.tensor(X)).detach()
    module = module.to(device)
    for node in module.modules():  # torch moves each buffer alone
        if hasattr(node, "twin"):
            node.twin = node.offset
    before = tensors(module)
    f = t2j(module)
    for _ in range(2):
        close(f(X), expected)
    unchanged(module, before)
    apply, params, buffers = functional(module)
    out, new = jax.jit(apply)(params, buffers, X)
    unchanged(module, before)
    close(out, expected)
    assert {id(t) for _, t in module.named_parameters()} == {id(module.get_parameter(k)) for k in params}
    for name, value in twin.named_buffers():
        close(new[name], value)
    apply(jax.tree.map(jnp.zeros_like, params), buffers, X)
    unchanged(module, before)
    with pytest.raises(RuntimeError):
        f(np.ones((2, 5), np.float32))
    unchanged(module, before)
    if device == "jax":
        with torch.no_grad():
            x = torch.tensor(X, device="jax")
            jitted = JittableModule(module)
            jitted.functional_call("forward", {k: v * 0 for k, v in jitted.params.items()}, {}, x)
            assert all(dict(module.named_parameters())[k] is before[k][0] for k in params)
            module.load_state_dict(copy.deepcopy(module.state_dict()))
    close(t2j(module)(X).shape, expected.shape)


def test_a_layer_under_two_names_keeps_its_weights() -> None:
    module = Twice()
    weight, expected = module.a.weight, module(torch.tensor(X)).detach()
    apply, params, buffers = functional(module)
    assert set(params) == {"a.weight", "a.bias"}
    assert not apply({k: v * 0 for k, v in params.items()}, buffers, X)[0].any()
    f = t2j(module)
    close(f(X), expected)
    close(jax.jit(f)(X), expected)
    close(f(X), expected)
    assert module.a.weight is weight
    assert isinstance(module.b.weight, nn.Parameter)
    grads = jax.grad(lambda p: apply(p, buffers, X)[0].sum())(params)
    module(torch.tensor(X)).sum().backward()
    close(grads["a.weight"], weight.grad)


def test_of_two_names_of_one_place_the_last_counts_as_in_load_state_dict() -> None:
    module = Twice()
    state = t2j(module.state_dict())
    other = {**state, "b.weight": state["b.weight"] * 2}
    result = t2j(module)(X, state_dict=other)
    twin = copy.deepcopy(module)
    twin.load_state_dict({k: torch.tensor(np.asarray(v)) for k, v in other.items()})
    close(result, twin(torch.tensor(X)).detach())


def test_a_buffer_in_two_places_is_written_through_both() -> None:
    module = nn.Sequential(nn.BatchNorm1d(3), nn.BatchNorm1d(3))
    module[1].running_mean = module[0].running_mean
    twin = copy.deepcopy(module)
    apply, params, buffers = functional(module)
    out, new = jax.jit(apply)(params, buffers, X)
    close(out, twin(torch.tensor(X)).detach())
    assert "1.running_mean" not in buffers
    close(new["0.running_mean"], twin[0].running_mean)
    close(t2j(module)(X, return_state_dict=True)[1]["1.running_mean"], twin[0].running_mean)


def test_what_a_forward_registers_and_caches_is_gone_afterwards() -> None:
    class Caches(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))
            self.last: Any = None

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.last = x * self.weight
            self.parts = [self.last]
            self.register_buffer("made", self.last)
            self.weight = nn.Parameter(self.weight * 2)
            self.layer = nn.Linear(3, 3)
            return self.last

    module = Caches()
    weight = module.weight
    jax.jit(lambda x: t2j(module)(x, rng=jax.random.key(0)))(X)
    assert module.weight is weight
    assert module.last is None
    assert not hasattr(module, "parts")
    assert not hasattr(module, "made")
    assert not hasattr(module, "layer")
    copy.deepcopy(module)


@pytest.mark.parametrize("make", [nn.utils.weight_norm, parametrizations.weight_norm])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_weight_that_torch_computes_is_no_tracer_afterwards(make: Any) -> None:
    module = make(nn.Linear(3, 2))
    expected = module(torch.tensor(X)).detach()
    close(jax.jit(t2j(module))(X), expected)
    close(module.weight @ torch.ones(3), module.weight.sum(1))
    close(module(torch.tensor(X)), expected)


def test_an_lstm_can_be_copied_and_called_after_a_trace() -> None:
    module = nn.LSTM(3, 2)
    expected = module(torch.tensor(X))[0].detach()
    close(jax.jit(lambda x: t2j(module)(x)[0])(X), expected)
    assert module._flat_weights[0] is module.weight_ih_l0
    close(copy.deepcopy(module)(torch.tensor(X))[0], expected)


def test_a_scanned_module_is_a_pure_function_without_a_state() -> None:
    layers = [nn.Linear(3, 3).to("jax") for _ in range(3)]
    expected = nn.Sequential(*layers)(torch.tensor(X, device="jax"))
    close(jax.jit(t2j(tenax.ScannedModule(layers)))(X), expected)


def test_a_checkpointed_module_with_a_shared_layer_trains() -> None:
    module = Twice().to("jax")
    twin = copy.deepcopy(module)
    x = torch.tensor(X, device="jax")
    checkpoint(module)(x).sum().backward()
    twin(x).sum().backward()
    close(module.a.weight.grad, twin.a.weight.grad)
    assert module.a.weight.is_leaf
