"""Modules of flax and equinox train in torch as they do in JAX."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import torch
from flax import linen, nnx
from torch import nn

import tenax
from tenax.interop import from_equinox, from_flax, from_nnx, t2j
from tests.helpers.agreement import close
from tests.helpers.tolerances import COMPOSED
from tests.helpers.training import train

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)


class Net(linen.Module):
    @linen.compact
    def __call__(self, x: Any, train: bool = False) -> Any:
        x = linen.Dense(4)(x)
        x = linen.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        x = linen.Dropout(0.5, deterministic=not train)(jnp.tanh(x))
        return linen.Dense(2)(x)


class Plain(linen.Module):
    @linen.compact
    def __call__(self, x: Any, train: bool = False) -> Any:
        x = linen.BatchNorm(use_running_average=not train, momentum=0.9)(linen.Dense(4)(x))
        return linen.Dense(2)(jnp.tanh(x))


def squares(module: nn.Module, **kwargs: Any) -> torch.Tensor:
    return module(torch.tensor(X, device="jax"), **kwargs).square().mean()


def sgd(parameters: Iterator[nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9)


def test_a_linen_module_trains_as_with_optax() -> None:
    model = Plain()
    variables = model.init(jax.random.key(0), X)
    module = from_flax(model, variables, mutable=["batch_stats"])
    assert {n for n, _ in module.named_parameters()} >= {"params.Dense_0.kernel", "params.BatchNorm_0.scale"}
    assert {n for n, _ in module.named_buffers()} == {"batch_stats.BatchNorm_0.mean", "batch_stats.BatchNorm_0.var"}
    losses = train(module, sgd, partial(squares, train=True))

    tx = optax.sgd(0.1, momentum=0.9)
    params, stats = variables["params"], variables["batch_stats"]
    state = tx.init(params)

    def loss(params: Any, stats: Any) -> Any:
        out, new = model.apply({"params": params, "batch_stats": stats}, X, train=True, mutable=["batch_stats"])
        return (out**2).mean(), new["batch_stats"]

    @jax.jit
    def step(params: Any, stats: Any, state: Any) -> Any:
        (value, stats), grads = jax.value_and_grad(loss, has_aux=True)(params, stats)
        updates, state = tx.update(grads, state)
        return value, optax.apply_updates(params, updates), stats, state

    for ours in losses:
        value, params, stats, state = step(params, stats, state)
        close(ours, value)
    close(module.get_parameter("params.Dense_1.kernel"), params["Dense_1"]["kernel"])
    close(module.get_buffer("batch_stats.BatchNorm_0.mean"), stats["BatchNorm_0"]["mean"])
    applied = model.apply({"params": params, "batch_stats": stats}, X)
    close(module.eval()(torch.tensor(X, device="jax")), applied, COMPOSED)


def test_dropout_of_linen_follows_torchs_seed_and_mode() -> None:
    model = Net()
    module = from_flax(model, model.init(jax.random.key(0), X), mutable=["batch_stats"], rngs=["dropout"])
    x = torch.tensor(X, device="jax")
    torch.manual_seed(0)
    a, b = module(x, train=True), module(x, train=True)
    torch.manual_seed(0)
    c = module(x, train=True)
    assert not torch.allclose(a, b)
    close(a, c.detach().cpu())
    assert torch.equal(module.eval()(x), module(x))


def test_an_nnx_module_trains_and_moves_its_statistics() -> None:
    def make() -> Any:
        rngs = nnx.Rngs(0)
        return nnx.Sequential(nnx.Linear(3, 4, rngs=rngs), nnx.BatchNorm(4, rngs=rngs), nnx.Dropout(0.5, rngs=rngs))

    theirs = make()
    module = from_nnx(make())
    assert "layers.0.kernel" in dict(module.named_parameters())
    x = torch.tensor(X, device="jax")
    for _ in range(2):  # the random stream advances on both sides
        close(module(x), theirs(jnp.asarray(X)))
    close(module.get_buffer("layers.1.mean"), theirs.layers[1].mean[...])
    before = module.get_parameter("layers.0.kernel").detach().clone()
    train(module, sgd, squares, steps=1)
    assert not torch.equal(before, module.get_parameter("layers.0.kernel"))
    theirs.eval()
    fresh = from_nnx(theirs)
    close(fresh.eval()(x), theirs(jnp.asarray(X)))


def test_an_equinox_module_has_parameters_gradients_and_a_copy() -> None:
    model = eqx.nn.MLP(3, 2, 4, 1, key=jax.random.key(0))
    module = from_equinox(model)
    assert [n for n, _ in module.named_parameters()][:2] == ["layers.0.weight", "layers.0.bias"]
    twin = copy.deepcopy(module)
    x = torch.tensor(X[0], device="jax", requires_grad=True)
    module(x).sum().backward()
    grads, dx = eqx.filter_grad(lambda args: args[0](args[1]).sum())((model, jnp.asarray(X[0])))
    close(module.get_parameter("layers.0.weight").grad, grads.layers[0].weight)
    close(x.grad, dx)
    close(torch.func.vmap(module)(torch.tensor(X, device="jax")), jax.vmap(model)(X))
    with torch.no_grad():
        module.get_parameter("layers.0.weight").zero_()
    close(twin(x), model(jnp.asarray(X[0])))
    dropout = from_equinox(eqx.nn.Dropout(0.5), key="key")
    ones = torch.ones(64, device="jax")
    assert set(dropout(ones).tolist()) == {0, 2}
    assert dropout.eval()(ones).tolist() == [1] * 64


def test_a_wrapped_module_is_pure_to_jax_and_runs_in_a_jitted_step() -> None:
    model = eqx.nn.MLP(3, 2, 4, 1, key=jax.random.key(0))
    module = from_equinox(model)
    f = t2j(module)
    state = t2j(module.state_dict())
    grads = jax.jit(jax.grad(lambda s: f(X[0], state_dict=s).sum()))(state)
    close(grads["layers.0.weight"], eqx.filter_grad(lambda m: m(X[0]).sum())(model).layers[0].weight)

    @tenax.jit
    def step(x: torch.Tensor) -> torch.Tensor:
        module.zero_grad()
        out = module(x).sum()
        out.backward()
        return out

    step(torch.tensor(X[0], device="jax"))
    close(module.get_parameter("layers.0.weight").grad, grads["layers.0.weight"])


def test_what_is_no_module_of_the_library_is_refused() -> None:
    for convert, text in ((from_nnx, r"nnx\.Module"), (from_equinox, r"equinox\.Module")):
        with pytest.raises(TypeError, match=text):
            convert(nn.Linear(2, 2))
    with pytest.raises(TypeError, match="from_nnx takes nnx"):
        from_flax(nnx.Linear(2, 2, rngs=nnx.Rngs(0)), {})
