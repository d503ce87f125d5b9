"""Programs written for torchax run with its import line changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
import pytest
import torch
from flax import linen
from torch import nn
from torch.nn import functional

import tenax.compat.torchax as torchax
from tenax.compat.torchax.interop import JittableModule, call_jax, jax_jit, jax_view, torch_view
from tests.helpers.agreement import close
from tests.helpers.tolerances import ROUNDED


@pytest.fixture(autouse=True)
def promotion() -> Iterator[None]:
    """These programs are written for JAX's usual promotion."""
    with jax.numpy_dtype_promotion("standard"):
        yield


class MyModel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(28 * 28, 16)
        self.fc2 = nn.Linear(16, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.view(-1, 28 * 28)
        return self.fc2(functional.relu(self.fc1(x)))

    def hidden(self, x: torch.Tensor, *, scale: float = 1.0) -> torch.Tensor:
        return self.fc1(x.view(-1, 28 * 28)) * scale


def test_the_quick_start_runs_a_model() -> None:
    torchax.enable_globally()
    model = MyModel()
    inputs = torch.randn(3, 28, 28)
    expected = model(inputs)
    result = model.to("jax")(inputs.to("jax"))
    assert isinstance(result, torchax.tensor.Tensor)
    assert isinstance(result.jax(), jax.Array)
    close(result, expected)
    close(result.torch(), expected)
    assert result.jax_device.platform == jax.devices()[0].platform
    with torchax.disable_temporarily():
        assert torch.ones(1).device.type == "cpu"
    torchax.disable_globally()


def test_a_model_runs_in_the_default_environment_and_under_jax_jit() -> None:
    env = torchax.default_env()
    with env:
        env.manual_seed(0)
        model = MyModel().to("jax")
        inputs = torch.randn(3, 28, 28, device="jax")

    def model_func(state: Any, inputs: Any) -> Any:
        return torch.func.functional_call(model, state, inputs)

    compiled = jax_jit(model_func)
    close(compiled(model.state_dict(), inputs), model(inputs))
    jitted = JittableModule(model)
    close(jitted(inputs), model(inputs))
    jitted(inputs).sum().backward()
    assert model.fc1.weight.grad is not None
    jitted.make_jitted("hidden")
    close(jitted.hidden(inputs, scale=2.0), model.hidden(inputs, scale=2.0))
    zeros = {k: torch.zeros_like(v) for k, v in jitted.params.items()}
    assert not jitted.functional_call("forward", zeros, jitted.buffers, inputs).any()


def test_extract_jax_gives_a_function_of_arrays() -> None:
    model = MyModel()
    weights, function = torchax.extract_jax(model)
    x = np.ones((2, 28, 28), np.float32)
    close(jax.jit(function)(weights, (x,)), model(torch.tensor(x)))
    grads = jax.grad(lambda w: function(w, (x,)).sum())(weights)
    assert grads["fc1.weight"].shape == (16, 784)


def test_views_pass_between_the_libraries() -> None:
    x = torch.arange(4.0, device="jax")
    assert isinstance(jax_view({"a": x})["a"], jax.Array)
    assert isinstance(torch_view([x.jax()])[0], torch.Tensor)
    close(torch_view(jnp.sin)(x), np.sin(np.arange(4)))
    close(jax_view(torch.sin)(x.jax()), np.sin(np.arange(4)))
    close(call_jax(jnp.dot, x, x), 14)
    close(torchax.interop.call_torch(torch.dot, x.jax(), x.jax()), 14)
    assert jax_view(torch.bfloat16) == jnp.bfloat16
    close(torchax.interop.fori_loop(0, 3, lambda i, c: c + x.sum() * i, torch.zeros((), device="jax")), 18)
    y = torch.ones(3, device="jax", requires_grad=True)
    torchax.interop.j2t_autograd(lambda a: jnp.sin(a) * 2)(y).sum().backward()
    close(y.grad, np.full(3, 2 * np.cos(1)))
    close(x.apply_jax(jnp.cumsum), np.array([0, 1, 3, 6]))
    x.apply_jax_(jnp.cumsum)
    close(x, np.array([0, 1, 3, 6]))


def test_transformations_take_torch_functions() -> None:
    x = torch.arange(4.0, device="jax")
    value, grad = torchax.interop.jax_value_and_grad(lambda x: (x**3).sum())(x)
    close((value, grad), (36.0, 3 * np.arange(4) ** 2))
    mesh = jax.make_mesh((2,), ("i",), devices=jax.devices()[:2], axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")
    x.shard_(jax.sharding.NamedSharding(mesh, spec))
    assert len(x.jax().devices()) == 2
    options = {"mesh": mesh, "in_specs": spec, "out_specs": spec}
    close(torchax.interop.jax_shard_map(lambda x: x - x.mean(), options)(x), np.array([-0.5, 0.5, -0.5, 0.5]))
    y = torch.ones(2, device="jax", requires_grad=True)
    torchax.interop.gradient_checkpoint(lambda y: y.exp().sin())(y).sum().backward()
    close(y.grad, np.full(2, np.cos(np.e) * np.e))
    draw = jax_jit(lambda x: torch.rand_like(x))
    assert not torch.equal(draw(x), draw(x))


def test_a_train_step_of_optax_trains() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.1), nn.Linear(8, 1)).to("jax")
    jittable = JittableModule(model)
    optimizer = optax.adam(0.05)

    def model_fn(weights: Any, buffers: Any, args: Any) -> Any:
        return jittable.functional_call("forward", weights, buffers, args)

    for policy in (None, jax.checkpoint_policies.nothing_saveable):
        weights, buffers = {k: v.detach() for k, v in jittable.params.items()}, jittable.buffers
        step = torchax.train.make_train_step(model_fn, functional.mse_loss, optimizer, remat_policy=policy)
        step = jax_jit(step, kwargs_for_jax_jit={"donate_argnums": (2,)})
        state = call_jax(optimizer.init, weights)
        x = torch.randn(32, 4, device="jax")
        y = x.sum(1, keepdim=True)
        losses = []
        for _ in range(30):
            loss, weights, state = step(weights, buffers, state, x, y)
            losses.append(loss.item())
        assert losses[-1] < 0.3 * losses[0]


@pytest.mark.parametrize("mode", ["jax", "dynamo"])
def test_compile_takes_functions_and_modules(mode: Any) -> None:
    options = torchax.CompileOptions(mode=mode)
    x = torch.ones(2, 28, 28, device="jax")
    model = MyModel().to("jax")
    close(torchax.compile(model, options)(x), model(x))
    close(torchax.compile(lambda x: x.sin() + 1, options)(x), x.sin() + 1)
    with pytest.raises(NotImplementedError, match=r"torch\.export"):
        torchax.compile(model, torchax.CompileOptions(mode="export"))


def test_checkpoints_come_back(tmp_path: Path) -> None:
    state = MyModel().to("jax").state_dict()
    torchax.save_checkpoint(dict(state), str(tmp_path / "a"), step=3)
    close(torchax.load_checkpoint(str(tmp_path / "a" / "3")), dict(state))
    torchax.save_checkpoint({"epoch": 12}, str(tmp_path / "a"), step=12)
    assert torchax.load_checkpoint(str(tmp_path / "a"))["epoch"] == 12
    (tmp_path / "empty").mkdir()
    for place in ("empty", "nowhere"):
        with pytest.raises(FileNotFoundError):
            torchax.load_checkpoint(str(tmp_path / place))
    torch.save(state, tmp_path / "b.pt")
    loaded = torchax.load_checkpoint(str(tmp_path / "b.pt"))
    assert loaded["fc1.weight"].device.type == "jax"


def test_amp_flax_and_export_have_their_names() -> None:
    x = torch.ones(2, 3, device="jax")
    with torchax.amp.autocast("jax", torch.bfloat16):
        assert (x @ x.T).dtype == torch.bfloat16
    policies, kinds = torchax.amp.autocast_policy, torchax.amp.CastPolicy
    assert policies[torch.ops.aten.mm.default] is kinds.LOWER_PRECISION_FP
    assert policies[torch.ops.aten.prod.dim_int] is kinds.FP32_SET_OPT_DTYPE
    with pytest.raises(TypeError, match="does not support item assignment"):
        policies[torch.ops.aten.mm.default] = kinds.FP32
    env = torchax.default_env()
    module = torchax.flax.FlaxNNModule(env, linen.Dense(4), (x,))
    module(x).sum().backward()
    assert module.get_parameter("params.kernel").grad.shape == (3, 4)
    model = nn.Linear(3, 2)
    weights, function = torchax.export.exported_program_to_jax(torch.export.export(model, (torch.ones(2, 3),)))
    close(jax.jit(function)(weights, (np.ones((2, 3), np.float32),))[0], model(torch.ones(2, 3)))
    program = torch.export.export(model, (torch.ones(2, 3),))
    assert "stablehlo" in torchax.export.exported_program_to_stablehlo(program)[1].mlir_module()
    assert torchax.to_xla({"a": torch.ones(1)})["a"].device.type == "jax"


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.e = nn.Embedding(5, 3)
        self.h = nn.Linear(3, 5, bias=False)
        self.h.weight = self.e.weight

    def forward(self, i: torch.Tensor) -> torch.Tensor:
        return self.h(self.e(i))


def test_a_tied_parameter_is_replaced_under_all_of_its_names() -> None:
    torch.manual_seed(0)
    model = Tied().to("jax")
    jittable = JittableModule(model)
    assert list(jittable.params) == ["e.weight"]
    assert set(JittableModule(model, dedup_parameters=False).params) == {"e.weight", "h.weight"}
    i = torch.tensor([1, 4, 1], device="jax")
    for name in ("e.weight", "h.weight"):
        assert not jittable.functional_call("forward", {name: torch.zeros(5, 3, device="jax")}, {}, i).any()
    both = {"e.weight": model.e.weight, "h.weight": model.e.weight * 2}
    close(jittable.functional_call("forward", both, {}, i), 2 * model(i))
    assert model.h.weight is model.e.weight
    for dedup, names in ((True, {"e.weight"}), (False, {"e.weight", "h.weight"})):
        state, function = torchax.extract_jax(model, dedup_parameters=dedup)
        assert set(state) == names
        close(function(state, (i.jax(),)), model(i).detach())
    jittable.make_jitted("forward")
    close(jittable._jitted["forward"](i), model(i))
    with torch.no_grad():
        model.e.weight.mul_(2)
    close(jittable._jitted["forward"](i), model(i))
    with pytest.raises(KeyError, match="no parameter or buffer nowhere"):
        jittable.functional_call("forward", {"nowhere": i}, {}, i)


def test_a_train_step_with_tied_parameters_has_the_losses_of_torch() -> None:
    torch.manual_seed(0)
    model = Tied()
    twin = JittableModule(Tied().to("jax"))
    twin.load_state_dict({f"_model.{k}": v for k, v in model.state_dict().items()})
    i, target = torch.tensor([1, 4, 1]), torch.tensor([2, 0, 3])

    def model_fn(weights: Any, buffers: Any, args: Any) -> Any:
        return twin.functional_call("forward", weights, buffers, args)

    tx = optax.sgd(0.5)
    step = jax_jit(torchax.train.make_train_step(model_fn, functional.cross_entropy, tx))
    weights = {k: v.detach() for k, v in twin.params.items()}
    state = call_jax(tx.init, weights)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(3):
        optimizer.zero_grad()
        expected = functional.cross_entropy(model(i), target)
        expected.backward()
        optimizer.step()
        loss, weights, state = step(weights, twin.buffers, state, i.to("jax"), target.to("jax"))
        close(loss, expected.detach())


def test_a_jitted_method_follows_the_mode_of_the_module() -> None:
    jittable = JittableModule(nn.Sequential(nn.Dropout(0.5)).to("jax"))
    jittable.make_jitted("forward")
    x = torch.ones(64, device="jax")
    assert (jittable._jitted["forward"](x) == 0).any()
    jittable.eval()
    close(jittable._jitted["forward"](x), x)


def test_to_xla_moves_a_module_and_returns_it() -> None:
    model = nn.Linear(2, 2)
    for moved in (torchax.default_env().to_xla(model), torchax.to_xla({"m": model})["m"]):
        assert moved is model
        assert model.weight.device.type == "jax"


def test_apply_jax_in_place_writes_what_the_aliases_share() -> None:
    x = torch.zeros(4, device="jax")
    view, whole = x[:2], x.view(2, 2)
    view.apply_jax_(lambda a: a + 1)
    close(x, np.array([1, 1, 0, 0]))
    x.apply_jax_(lambda a: a + 1)
    close(view, np.array([2, 2]))
    whole.t().apply_jax_(lambda a: a.at[0, 1].set(7))
    close(x, np.array([2, 2, 7, 1]))
    for change in (lambda a: a.astype(jnp.bfloat16), lambda a: a[:1]):
        with pytest.raises(RuntimeError, match="for a view of shape"):
            view.apply_jax_(change)
    x.apply_jax_(lambda a: a.astype(jnp.bfloat16))
    assert x.dtype == torch.bfloat16
    close(x + 1, np.array([3, 3, 8, 2]))
    x.apply_jax_(lambda a: a[:3])
    assert x.shape == (3,)
    parameter = nn.Parameter(torch.ones(2, device="jax"))
    out = (parameter**2).sum()
    parameter.apply_jax_(lambda a: a * 3)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_jit_takes_shardings_and_static_arguments() -> None:
    one = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    mesh = jax.make_mesh((2,), ("i",), devices=jax.devices()[:2], axis_types=(jax.sharding.AxisType.Auto,))
    split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("i"))
    x = torch.arange(4.0, device="jax")
    for options in (
        {"in_shardings": (one, one), "out_shardings": one},
        {"in_shardings": one},
        {"in_shardings": split, "out_shardings": split},
        {"in_shardings": (split, None), "out_shardings": split},
        {"out_shardings": split},
    ):
        result = jax_jit(lambda x, y: x * y + torch.zeros_like(x), kwargs_for_jax_jit=options)(x, x)
        close(result, x * x)
        assert len(result.jax().devices()) == (2 if split in options.values() else 1)
    draw = jax_jit(lambda x: torch.rand_like(x), kwargs_for_jax_jit={"in_shardings": (one,)})
    assert not torch.equal(draw(x), draw(x))


def test_a_jittable_module_takes_the_options_of_jit() -> None:
    class Power(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.BatchNorm1d(3)

        def forward(self, x: torch.Tensor, power: int) -> torch.Tensor:
            return self.norm(x) * (x if power == 1 else x**power)

    model = Power().to("jax")
    twin = Power()
    one = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    x = torch.randn(4, 3)
    for options in ({"static_argnums": (3,), "donate_argnums": (0,)}, {"static_argnums": 3, "out_shardings": one}):
        jittable = JittableModule(model, extra_jit_args=options)
        result, expected = jittable(x.to("jax"), 2), twin(x, 2)
        close(result, expected)
        result.sum().backward()
        expected.sum().backward()
        close(model.norm.bias.grad, twin.norm.bias.grad)
        close(model.norm.running_mean, twin.norm.running_mean)
    split = JittableModule(nn.Linear(3, 2).to("jax"), extra_jit_args={"in_shardings": (None, None, one)})
    assert split(x.to("jax")).shape == (4, 2)


def test_functional_call_takes_functions() -> None:
    model = MyModel().to("jax")
    jittable = JittableModule(model)
    zeros = {k: torch.zeros_like(v) for k, v in jittable.params.items()}
    x = torch.ones(2, 28, 28, device="jax")
    for function in (MyModel.hidden, model.hidden, lambda m, x: m(x), "hidden"):
        assert not jittable.functional_call(function, zeros, {}, x).any()
    with pytest.raises(TypeError, match="expected a name or a callable"):
        jittable.functional_call(3, zeros, {}, x)


def test_frozen_parameters_and_plain_tensors_are_buffers() -> None:
    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.frozen = nn.Parameter(torch.ones(2), requires_grad=False)
            self.trained = nn.Parameter(torch.ones(2))
            self.plain = torch.ones(2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.frozen * self.trained * self.plain

    model = Odd()
    params, buffers = torchax.interop.extract_all_buffers(model)
    assert (list(params), set(buffers)) == (["trained"], {"frozen", "plain"})
    plain = model.plain
    result = JittableModule(model).functional_call("forward", params, {"plain": plain * 3}, torch.ones(2))
    close(result.detach(), np.full(2, 3))
    assert model.plain is plain
    torchax.interop.set_all_buffers(model, {}, {"plain": torch.full((2,), 5.0)})
    close(model(torch.ones(2)), np.full(2, 5))
    torchax.interop.set_all_buffers(model, {"trained": torch.tensor([2.0])}, {})
    assert model.trained.shape == (1,)
    close(model(torch.ones(2)).detach(), np.full(2, 10))


def test_an_environment_leaves_factories_without_a_device_on_the_cpu() -> None:
    env = torchax.tensor.Environment(torchax.config.Configuration(debug_print_each_op_operands=True))
    assert env.config.debug_print_each_op_operands

    @env
    def make(n: int) -> torch.Tensor:
        """Ones."""
        with env:
            pass
        return torch.ones(n)

    assert make(2).device.type == "cpu"
    assert (make.__name__, make.__doc__) == ("make", "Ones.")
    with torchax.default_env(), torch.device("jax"):
        assert nn.Linear(2, 2).weight.device.type == make(2).device.type == "jax"
    x = make(2).to("jax")
    assert env.v2t_iso(x[:1]).shape == (1,)
    tree = env.j2t_copy({"a": x.jax(), "b": "text"})
    assert (tree["a"].device.type, tree["b"]) == ("cpu", "text")
    assert isinstance(env.t2j_copy(tree)["a"], jax.Array)


def test_flags_of_an_environment_observe_each_operation(caplog: pytest.LogCaptureFixture) -> None:
    env = torchax.tensor.Environment()
    x = torch.ones(2, device="jax")
    env.config.debug_print_each_op = env.config.debug_accuracy_for_each_op = True
    with env:
        x.sin()
    x.cos()
    assert [record.getMessage().partition("(")[0] for record in caplog.records] == ["aten::sin"]


def test_mixed_math_with_numbers_of_the_cpu_can_be_refused() -> None:
    env = torchax.tensor.Environment(torchax.config.Configuration(allow_mixed_math_with_scalar_tensor=False))
    x, number = torch.ones(2, device="jax"), torch.tensor(3.0)
    close(x * number, 3 * x)
    with env:
        close(x * number.to("jax") + number.to(x), 6 * x)
        with pytest.raises(RuntimeError, match="allow_mixed_math_with_scalar_tensor"):
            x * number
    close(x + number, 4 * x)


def test_flags_without_an_effect_say_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torchax.config, "_warned", set())
    with pytest.warns(UserWarning, match="use_int32_for_index=True has no effect: dtypes are those of torch"):
        config = torchax.config.Configuration(use_int32_for_index=True)
    config.use_int32_for_index = True  # warnings are errors
    assert config.use_int32_for_index
    config.force_materialize_views = False
    with pytest.warns(UserWarning, match="force_materialize_views"):
        config.force_materialize_views = True
    flags = set(torchax.config._WITHOUT_EFFECT)
    assert flags < {f.name for f in dataclasses.fields(config)}


def test_a_key_sets_the_random_stream() -> None:
    env = torchax.default_env()
    x = torch.ones(8, device="jax")
    draws = []
    for _ in range(2):
        env.prng_key = jax.random.key(3)
        draws.append(torch.rand_like(x))
        with env.override_property(prng=jax.random.key(5), autocast_dtype=torch.bfloat16):
            assert env.param.autocast_dtype == torch.bfloat16
            draws.append(torch.rand_like(x))
            assert not torch.equal(torch.rand_like(x), draws[-1])
            assert (torch.ones(2, 2, device="jax") @ torch.ones(2, 2, device="jax")).dtype == torch.bfloat16
    assert env.param.prng is env.prng_key
    assert torch.equal(draws[0], draws[2])
    assert torch.equal(draws[1], draws[3])
    assert not torch.equal(draws[0], draws[1])

    @jax.jit
    def draw(key: jax.Array) -> jax.Array:
        def inner() -> torch.Tensor:
            with env.override_property(prng=key):
                return torch.rand(8)

        return torchax.interop.call_torch(inner)

    assert not np.array_equal(draw(jax.random.key(0)), draw(jax.random.key(1)))
    with pytest.raises(TypeError, match="override_property"):
        jax.jit(lambda key: setattr(env, "prng_key", key))(jax.random.key(0))


def test_a_checkpoint_gives_structures_back_and_can_be_rewritten(tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    moments = optax.adam(0.1).init({"w": jnp.ones(3)})
    state = {"epoch": 3, "rate": 0.5, "name": "run", "pair": (torch.ones(2, device="jax"), [4, True]), "opt": moments}
    for epoch in (3, 4):
        torchax.save_checkpoint({**state, "epoch": epoch}, path, step=1)
    loaded = torchax.load_checkpoint(path)
    assert (loaded["epoch"], loaded["rate"], loaded["name"]) == (4, 0.5, "run")
    assert type(loaded["epoch"]) is int
    assert isinstance(loaded["pair"], tuple)
    assert loaded["pair"][1] == [4, True]
    assert loaded["pair"][0].device.type == "jax"
    assert isinstance(loaded["opt"], tuple)
    close(loaded["opt"][0].mu["w"], np.zeros(3))
    with ocp.PyTreeCheckpointer() as plain:  # as torchax writes them
        plain.save(tmp_path / "b", {"epoch": 3, "pair": (jnp.ones(2), 4)})
    loaded = torchax.load_checkpoint(str(tmp_path / "b"))
    assert (loaded["epoch"], loaded["pair"][1]) == (3, 4)
    close(loaded["pair"][0], np.ones(2))


def test_tensors_set_in_the_dictionaries_of_a_jittable_module_are_used() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2, eps=0)).to("jax").eval()
    jittable, x, five = JittableModule(model), torch.ones(3, 2, device="jax"), torch.full((2,), 5.0, device="jax")
    before = jittable(x)
    jittable.buffers["1.running_mean"] = five
    close(before - jittable(x), five.expand(3, 2), ROUNDED)
    five.add_(1)  # the module uses this tensor, not a copy
    close(before - jittable(x), five.expand(3, 2), ROUNDED)
    jittable.params["1.bias"] = five
    assert dict(jittable.named_parameters())["_model.1.bias"].tolist() == [6, 6]
    jittable.params = {name: torch.zeros_like(p) for name, p in jittable.params.items()}
    jittable.buffers = {**jittable.buffers, "1.running_mean": five - 6}
    assert not jittable(x).any()
    assert not jittable.state_dict()["_model.1.running_mean"].any()
    assert all(p.requires_grad for p in jittable.params.values())
    jittable.params["absent"] = five
    with pytest.raises(KeyError, match="absent"):
        jittable(x)


def test_a_tensor_shows_its_array() -> None:
    x = torchax.tensor.Tensor(jnp.arange(3.0), env=torchax.default_env(), requires_grad=True)
    assert (type(x), x.device.type, x.requires_grad) == (torch.Tensor, "jax", True)
    assert isinstance(x[:1], torchax.tensor.View)
    np.testing.assert_array_equal(np.array(x), np.arange(3))
    y = x.detach()
    y._elem = y._elem + 1
    close(x, np.arange(1, 4))
    assert not hasattr(torch.ones(1), "_elem")
    tree = torchax.tensor.wrap(torchax.tensor.unwrap({"y": y, "n": 1}))
    assert (tree["y"].device.type, tree["n"]) == ("jax", 1)
    assert torchax.tensor.move_to_device(torch.ones(1)).device.type == "jax"
    assert torchax.device_module.device_count() == len(jax.devices())

    class Named(torch.Tensor):
        """A subclass with an attribute of that name."""

    named = torch.ones(2).as_subclass(Named)
    named._elem = "its own"
    assert named._elem == "its own"
