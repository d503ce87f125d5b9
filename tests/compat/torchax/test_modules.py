"""Modules, checkpoints and remaining names of torchax."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import torch
from flax import linen
from torch import nn

import tenax.compat.torchax as torchax
from tenax.compat.torchax.interop import (
    JittableModule,
    call_jax,
    gradient_checkpoint,
    jax_jit,
    jax_value_and_grad,
    torch_view,
)
from tenax.errors import TraceError
from tests.helpers.agreement import close


@pytest.fixture(autouse=True)
def promotion() -> Iterator[None]:
    """These programs are written for JAX's usual promotion."""
    with jax.numpy_dtype_promotion("standard"):
        yield


def test_the_key_of_an_environment_stays_until_something_is_drawn() -> None:
    env = torchax.default_env()
    key = jax.random.key(7)
    env.prng_key = key
    assert env.prng_key is key
    torch.rand(2, device="jax")
    assert not jnp.array_equal(jax.random.key_data(env.prng_key), jax.random.key_data(key))
    env.manual_seed(3)
    first = jax.random.key_data(env.prng_key)
    assert jnp.array_equal(first, jax.random.key_data(env.prng_key))
    env.get_and_rotate_prng_key()
    assert not jnp.array_equal(first, jax.random.key_data(env.prng_key))
    with env.override_property(prng=key):
        assert env.prng_key is key


class Dropped(linen.Module):
    """A linen module that draws while it is initialized."""

    @linen.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        return linen.Dense(4)(linen.Dropout(0.5, deterministic=False)(x))


def test_a_flax_module_starts_with_the_values_of_flax() -> None:
    env = torchax.default_env()
    x = jnp.ones((2, 3))
    for flax_module in (linen.Dense(4), Dropped()):
        expected = flax_module.init(env.prng_key, x)
        module = torchax.flax.FlaxNNModule(env, flax_module, (x,))
        name = "params.kernel" if flax_module.name is None and isinstance(flax_module, linen.Dense) else None
        kernel = module.get_parameter(name or "params.Dense_0.kernel").detach()
        close(kernel, jax.tree.leaves(expected)[1])
        other = torchax.flax.FlaxNNModule(env, flax_module, (x,))
        assert not torch.equal(other.get_parameter(name or "params.Dense_0.kernel"), kernel)


def test_layers_are_scanned_with_a_policy() -> None:
    torch.manual_seed(0)
    layers = [nn.Sequential(nn.Linear(3, 3), nn.Tanh()) for _ in range(3)]
    x = torch.rand(2, 3)
    expected = nn.Sequential(*layers)(x)
    expected.sum().backward()
    counts = []
    for policy in (None, jax.checkpoint_policies.everything_saveable):
        scanned = torchax.train.ScannedModule(layers, checkpoint_policy=policy).to("jax")
        assert set(scanned.state_dict()) == {"params.0___weight", "params.0___bias"}
        result = scanned(x.to("jax"))
        close(result, expected)
        result.sum().backward()
        close(scanned.params["0___weight"].grad[1], layers[1][0].weight.grad)
        counts.append(_tanhs(scanned, x))
    assert counts[0] > counts[1]  # computed again


def test_scanned_layers_have_buffers_modes_and_other_arguments() -> None:
    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.drop = nn.BatchNorm1d(3), nn.Dropout(0.5)
            self.register_buffer("shift", torch.ones(3), persistent=False)

        def forward(self, x: torch.Tensor, scale: float, nothing: None) -> torch.Tensor:
            return self.drop(self.norm(x)) * scale + self.shift

    layers, x = [Layer() for _ in range(2)], torch.randn(4, 3)
    scanned = torchax.train.ScannedModule(layers).to("jax")
    assert not torch.equal(*(scanned(x.to("jax"), 2.0, None) for _ in range(2)))
    assert scanned.params["norm___num_batches_tracked"].tolist() == [2, 2]
    scanned.eval()
    state = {k.removeprefix("params.").replace("___", "."): v.cpu() for k, v in scanned.state_dict().items()}
    expected = x
    for i, layer in enumerate(layers):
        layer.load_state_dict({k: v[i] for k, v in state.items()})
        expected = layer.eval()(expected, 2.0, None)
    close(scanned(x.to("jax"), 2.0, None), expected)


def _tanhs(module: nn.Module, x: torch.Tensor) -> int:
    gradient = jax.grad(lambda x: torchax.interop.call_torch(module, x).sum())
    return str(jax.make_jaxpr(gradient)(x.numpy())).count("tanh")


def test_a_checkpointed_function_takes_the_options_of_jax() -> None:
    x = torch.rand(4, device="jax")
    plain = x.clone().requires_grad_()
    (plain.sin() * 2).exp().sum().backward()
    for options in (
        {"policy": jax.checkpoint_policies.nothing_saveable},
        {"policy": jax.checkpoint_policies.dots_saveable, "prevent_cse": False},
        {"static_argnums": (1,), "prevent_cse": False},
    ):
        function = gradient_checkpoint(lambda x, n: (x.sin() * n).exp(), options)
        leaf = x.clone().requires_grad_()
        function(leaf, 2).sum().backward()
        close(leaf.grad, plain.grad)
        close(jax_value_and_grad(lambda x, function=function: function(x, 2).sum())(x)[1], plain.grad)
    weight = torch.ones(4, device="jax", requires_grad=True)
    closing = gradient_checkpoint(lambda x: x * weight, {"policy": jax.checkpoint_policies.nothing_saveable})
    with pytest.raises(TraceError, match="closes over a tensor that requires a gradient"):
        closing(x.clone().requires_grad_())
    dropout = gradient_checkpoint(nn.functional.dropout, {"policy": jax.checkpoint_policies.nothing_saveable})
    leaf = torch.ones(64, device="jax", requires_grad=True)
    out = dropout(leaf, 0.5)
    out.sum().backward()
    close(leaf.grad, out.detach())
    assert (out == 0).any()


def test_a_function_argument_that_hides_a_gradient_raises() -> None:
    weight = torch.ones((), device="jax", requires_grad=True)
    x = torch.rand(3, device="jax")
    scan = torch_view(jax.lax.scan)

    def total(x: torch.Tensor) -> torch.Tensor:
        return scan(lambda c, e: (c + e * weight, None), torch.zeros((), device="jax"), x)[0]

    close(total(x), x.sum())
    with pytest.raises(TraceError, match="closes over a tensor that requires a gradient"):
        total(x.clone().requires_grad_())


def test_a_jittable_module_passes_for_its_module() -> None:
    class Twice(nn.Linear):
        def twice(self, x: torch.Tensor) -> torch.Tensor:
            return 2 * self(x)

    model = Twice(3, 2).to("jax")
    jittable = JittableModule(model)
    assert isinstance(jittable, Twice)
    assert isinstance(jittable, JittableModule)
    x = torch.ones(1, 3, device="jax")
    close(jittable.jittable_call("forward", x), model(x))
    assert torch.equal(jittable.jittable_call("twice", x), jittable.jittable_call("twice", x))
    close(jittable.jittable_call("twice", x), 2 * model(x))
    close(jittable(x), model(x))
    other = copy.deepcopy(jittable)
    assert type(other) is JittableModule
    with torch.no_grad():
        other._model.weight.zero_()
    close(other(x)[0], model.bias)


def test_a_subclass_of_a_jittable_module_compiles_in_its_own_way() -> None:
    made = []

    class Own(JittableModule):
        def make_jitted(self, key: str) -> None:
            made.append(key)
            jitted = jax_jit(functools.partial(self.functional_call, key), kwargs_for_jax_jit=self._extra_jit_args)
            self._jitted[key] = lambda *args: jitted({k: 2 * v for k, v in self.params.items()}, self.buffers, *args)

    x = torch.ones(1, 3, device="jax")
    model = nn.Linear(3, 2).to("jax")
    for options in (None, {"static_argnums": (3,)}):
        close(Own(model, options)(x), 2 * model(x))
    assert made == ["forward", "forward"]


def test_a_module_of_the_meta_device_takes_tensors() -> None:
    with torch.device("meta"):
        jittable = JittableModule(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).eval())
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).eval()
    jittable.params = {k: v.detach().to("jax") for k, v in model.named_parameters()}
    for name, buffer in model.named_buffers():
        jittable.buffers[name] = buffer.to("jax")
    x = torch.randn(3, 2)
    close(jittable(x.to("jax")), model(x))


def test_a_checkpoint_keeps_the_keys_of_dicts(tmp_path: Path) -> None:
    state = {
        "optimizer": {
            "state": {0: {"step": 3, "exp_avg": torch.ones(2, device="jax")}, 1: {}},
            "groups": [{"lr": 0.1}],
        },
        "mixed": {True: (1, [2.5]), 1.5: "text", "a": None, -3: {}},
        "epoch": 7,
    }
    torchax.checkpoint.save_checkpoint(state, str(tmp_path / "a"), step=7)
    loaded = torchax.load_checkpoint(str(tmp_path / "a"))
    close(loaded["optimizer"]["state"][0].pop("exp_avg"), np.ones(2))
    state["optimizer"]["state"][0].pop("exp_avg")  # type: ignore[index]
    assert loaded == state
    assert [type(k) for k in loaded["mixed"]] == [bool, float, str, int]
    with pytest.raises(TypeError, match="the key"):
        torchax.save_checkpoint({torch.float32: 1}, str(tmp_path / "b"))
    torch.save(state, tmp_path / "c.pt")
    assert torchax.load_checkpoint(str(tmp_path / "c.pt")) == state


OPTIMIZERS = {
    "empty states": optax.chain(optax.clip(1.0), optax.adamw(0.1)),
    "masked": optax.masked(optax.adam(0.1), lambda tree: jax.tree.map(lambda x: x.ndim > 1, tree)),
    "several steps": optax.MultiSteps(optax.adam(0.1), 2).gradient_transformation(),
    "hyperparameters": optax.inject_hyperparams(optax.sgd)(0.1, momentum=0.9),
}


@pytest.mark.parametrize("form", ["orbax", "torch"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_state_of_optax_goes_through_a_checkpoint(name: str, form: str, tmp_path: Path) -> None:
    optimizer, weights = OPTIMIZERS[name], nn.Linear(2, 2).to("jax").state_dict()
    state = call_jax(optimizer.init, weights)
    for _ in range(2):
        updates, state = call_jax(optimizer.update, weights, state, weights)
    path = str(tmp_path / "a")
    if form == "orbax":
        torchax.save_checkpoint(state, path)
    else:
        torch.save(state, path)
    loaded = torchax.load_checkpoint(path)
    assert jax.tree.structure(loaded) == jax.tree.structure(state)
    updates, _ = call_jax(optimizer.update, weights, state, weights)
    close(call_jax(optimizer.update, weights, loaded, weights)[0]["weight"], updates["weight"])


class Cache:
    """As `transformers.DynamicCache`: a class that no registry knows, with layers of another one."""

    def __init__(self, keys: torch.Tensor) -> None:
        self.layers = [Layer(keys), Layer(2 * keys)]
        self.length, self.kind, self.dtype = keys.shape[0], "dynamic", keys.dtype


class Layer:
    def __init__(self, keys: torch.Tensor) -> None:
        self.keys, self.values = keys, None


class Endless:
    """An object that leads back to itself."""

    itself: Endless
    x: torch.Tensor


class Decoder(nn.Linear):
    def forward(self, x: torch.Tensor, cache: Cache | None = None) -> tuple[torch.Tensor, Cache]:
        known = [] if cache is None else [cache.layers[1].keys]
        return super().forward(x), Cache(torch.cat([*known, super().forward(x)]))


def test_results_of_a_class_that_jax_does_not_know_come_back() -> None:
    model, x = Decoder(2, 2).to("jax"), torch.ones(1, 2, device="jax")
    jittable = JittableModule(model)
    _, cache = jittable(x)
    assert (type(cache), cache.length, cache.kind, cache.dtype) == (Cache, 1, "dynamic", torch.float32)
    assert type(cache.layers[1]) is Layer
    assert cache.layers[1].values is None
    _, longer = jittable(x, cache)
    assert longer.length == 2
    close(longer.layers[1].keys, model(x, model(x)[1])[1].layers[1].keys)
    longer.layers[1].keys.sum().backward()
    assert model.weight.grad is not None
    found = jax_jit(lambda x: {"made": model(x)[1]})(x)["made"]
    close(found.layers[0].keys, model(x)[0])
    endless = Endless()
    endless.itself, endless.x = endless, x
    with pytest.raises(TypeError, match="not a valid JAX type"):
        jax_jit(lambda x: endless)(x)


def test_an_optimizer_of_torch_goes_through_a_checkpoint(tmp_path: Path) -> None:
    model = nn.Linear(2, 2).to("jax")
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2, device="jax")).sum().backward()
    optimizer.step()
    torchax.save_checkpoint(optimizer.state_dict(), str(tmp_path / "a"))
    other = torch.optim.Adam(model.parameters())
    other.load_state_dict(torchax.load_checkpoint(str(tmp_path / "a")))
    for ours, theirs in zip(other.state.values(), optimizer.state.values(), strict=True):
        close(ours["exp_avg"], theirs["exp_avg"])
        close(ours["step"], theirs["step"])


def test_exported_programs_have_their_avals_and_raw_form() -> None:
    model = nn.Linear(3, 2)
    batch = torch.export.Dim("batch")
    program = torch.export.export(model, (torch.ones(4, 3),), dynamic_shapes=({0: batch},))
    (aval,) = torchax.export.extract_avals(program)
    assert (len(aval.shape), aval.shape[1], aval.dtype) == (2, 3, np.float32)
    assert not isinstance(aval.shape[0], int)
    names, tensors, function = torchax.export.exported_program_to_jax(program, export_raw=True)
    assert names == ["weight", "bias"]
    close(function([t.jax() for t in tensors], (jnp.ones((2, 3)),))[0], model(torch.ones(2, 3)))


def test_small_modules_have_their_names() -> None:
    with pytest.raises(NotImplementedError, match=r"torchax\.util\.merge: tenax lacks this name"):
        torchax.util.merge([], [])
    assert isinstance(torch.ones(2, device="jax")[:1], torchax.view.View)
    assert torchax.types.JaxValue is not None
    assert call_jax(jnp.sin, torch.ones(1, device="jax")).device.type == "jax"
