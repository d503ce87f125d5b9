"""`tenax.shard`, its rules and presets, `tenax.mesh`, `tenax.sharding_of`, and models made in their shards."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
import torch
from functorch.compile import aot_function, nop
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from torch import nn

import tenax
import tenax.checkpoint
import tenax.compat.torchax as torchax
from tenax.interop import t2j
from tenax.sharding import fsdp, initialize, tensor_parallel
from tests.helpers.agreement import close
from tests.helpers.meshes import mesh, on_mesh, spec
from tests.helpers.tolerances import COMPOSED

VALUES = torch.arange(64.0).reshape(8, 8)


class Block(nn.Module):
    """Attention and two projections."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(16, 32)
        self.q_proj, self.o_proj = nn.Linear(32, 32), nn.Linear(32, 32, bias=False)
        self.up_proj, self.down_proj = nn.Linear(32, 128), nn.Linear(128, 32)
        self.norm = nn.LayerNorm(32)
        self.head = nn.Linear(32, 16, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens)
        x = x + self.o_proj(self.q_proj(x).sin())
        return self.head(self.norm(x + self.down_proj(self.up_proj(x).relu())))


def specs(module: nn.Module) -> dict[str, Any]:
    return {name: spec(p.detach()) for name, p in module.named_parameters()}


def test_a_tensor_is_placed_by_a_spec() -> None:
    for x in (VALUES, VALUES.to("jax"), on_mesh(VALUES, P("model")), VALUES.t(), VALUES.to("jax")[1:5]):
        found = tenax.shard(x, P("data"), mesh())
        assert spec(found) == P("data") and torch.equal(found.cpu(), x.cpu())
    assert spec(found.t()) == P(None, "data")
    assert tenax.sharding_of(torch.ones(2, device="jax")).device_set == {jax.devices()[0]}
    assert tenax.sharding_of(torch.ones(2, device="jax:1")).device_set == {jax.devices()[1]}


def test_a_tensor_is_placed_by_a_sharding_and_keeps_its_gradient() -> None:
    x = VALUES.to("jax").requires_grad_()
    y = tenax.shard(x * 2, NamedSharding(mesh(), P("data")))
    y.square().sum().backward()
    close(x.grad.cpu(), VALUES * 8)


def test_a_parameter_is_moved_itself() -> None:
    weight = nn.Parameter(VALUES.to("jax"))
    assert tenax.shard(weight, P("data"), mesh()) is weight and spec(weight.detach()) == P("data")


def test_the_mesh_of_a_block_is_taken() -> None:
    with pytest.raises(ValueError, match=r"tenax.shard: there is no mesh; expected .* `with tenax.mesh\(mesh\):`"):
        tenax.shard(VALUES, P())
    with tenax.mesh(mesh(AxisType.Explicit)):
        assert spec(tenax.shard(VALUES, P("data"))) == P("data")
    with jax.set_mesh(mesh(AxisType.Explicit)):
        assert spec(tenax.shard(VALUES, P("model"))) == P("model")
    with pytest.raises(TypeError, match=r"tenax.shard: got a str as mesh; expected jax\.make_mesh"):
        tenax.shard(torch.ones(8), P("data"), "data")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"expected jax\.make_mesh"), tenax.mesh("data"):  # type: ignore[arg-type]
        pass


def test_a_spec_constrains_a_program() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return tenax.shard(x * 2, P(None, "model"), mesh())

    x = on_mesh(VALUES, P("data"))
    assert spec(function(x)) == P(None, "model")
    assert spec(tenax.jit(function)(x)) == P(None, "model")
    assert spec(tenax.jit(function)(VALUES.to("jax"))) == P(None, "model")
    assert jax.jit(t2j(function))(x.jax()).sharding.spec == P(None, "model")


def test_a_spec_constrains_a_graph_that_torch_traces() -> None:
    x = VALUES.to("jax").requires_grad_()
    traced = aot_function(lambda x: tenax.shard(x * 2, P("data"), mesh()).sin(), nop)
    y = traced(x)
    y.sum().backward()
    assert spec(y) == spec(x.grad) == P("data")
    close(y, (VALUES * 2).sin())


@pytest.mark.parametrize(
    ("shape", "by", "message"),
    [
        (
            (6, 8),
            P("data"),
            r"a tensor of shape \[6, 8\] by P\('data',\) on the mesh \(data=4, model=2\): 4 devices do ",
        ),
        ((8, 8), P("rows"), r"the mesh has no axis 'rows'; expected one of 'data', 'model'"),
        ((8,), P("data", "model"), r"the spec has 2 entries; expected at most 1"),
        ((8, 8), P("data", "data"), r"the axis 'data' stands twice"),
        ((8, 12), P(None, ("data", "model")), r"8 devices do not divide dimension 1 of size 12; expected a multiple"),
    ],
)
def test_a_spec_that_does_not_fit_is_refused(shape: tuple[int, ...], by: P, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tenax.shard(torch.ones(shape), by, mesh())


def test_rules_name_the_tensor_that_does_not_fit() -> None:
    with pytest.raises(ValueError, match=r"tenax.shard: 0.weight of shape \[3, 4\]"):
        tenax.shard(nn.Sequential(nn.Linear(4, 3)), {"*.weight": P("data")}, mesh())
    with pytest.raises(TypeError, match="for a module; expected a mapping"):
        tenax.shard(nn.Linear(4, 4), P("data"), mesh())


def test_a_module_is_placed_by_patterns_and_by_a_function() -> None:
    model = Block()
    expected = {k: v.clone() for k, v in model.state_dict().items()}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    held = [*model.parameters()]
    assert tenax.shard(model, {"*_proj.weight": P("data"), "embed.*": P("model")}, mesh()) is model
    assert all(a is b for a, b in zip(held, model.parameters(), strict=True))
    assert optimizer.param_groups[0]["params"][0].device.type == "jax"
    assert model.head.weight is model.embed.weight
    found = specs(model)
    assert found["up_proj.weight"] == P("data") and found["embed.weight"] == P("model")
    assert found["norm.weight"] == found["up_proj.bias"] == P()
    for name, value in model.state_dict().items():
        assert torch.equal(value.cpu(), expected[name])
    tenax.shard(model, lambda name, tensor: P(None, "model") if tensor.dim() == 2 else None, mesh())
    assert specs(model)["up_proj.weight"] == P(None, "model")


def test_presets_place_models_by_shape() -> None:
    model = tenax.shard(Block(), fsdp("data"), mesh())
    assert specs(model) == {
        **dict.fromkeys(specs(model), P()),
        "q_proj.weight": P("data"),
        "o_proj.weight": P("data"),
        "up_proj.weight": P("data"),
        "down_proj.weight": P(None, "data"),
    }
    model = tenax.shard(Block(), tensor_parallel("model"), mesh())
    assert specs(model) == {
        **dict.fromkeys(specs(model), P()),
        "embed.weight": P("model"),
        "q_proj.weight": P("model"),
        "q_proj.bias": P("model"),
        "o_proj.weight": P(None, "model"),
        "up_proj.weight": P("model"),
        "up_proj.bias": P("model"),
        "down_proj.weight": P(None, "model"),
    }
    model = tenax.shard(Block(), tensor_parallel("model", fsdp="data"), mesh())
    assert specs(model)["up_proj.weight"] == P("model", "data")
    assert specs(model)["down_proj.weight"] == P("data", "model")
    with pytest.raises(ValueError, match="the mesh has no axis 'rows'; expected one of 'data', 'model'"):
        tenax.shard(Block(), fsdp("rows"), mesh())


@pytest.mark.parametrize("rules", [fsdp("data", 1), tensor_parallel("model"), tensor_parallel("model", "data", 1)])
def test_presets_train_as_one_cpu_device(rules: Any) -> None:
    torch.manual_seed(0)
    expected = Block()
    model = Block()
    model.load_state_dict(expected.state_dict())
    tenax.shard(model, rules, mesh())
    tokens = torch.randint(16, (8, 6))
    losses = {}
    for kind, module in (("cpu", expected), ("mesh", model)):
        optimizer = torch.optim.AdamW(module.parameters(), lr=0.01)

        def step(x: torch.Tensor, module: Any = module, optimizer: Any = optimizer) -> torch.Tensor:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(module(x).flatten(0, 1), x.flatten().roll(-1))
            loss.backward()
            optimizer.step()
            return loss

        run = step if kind == "cpu" else tenax.jit(step)
        given = tokens if kind == "cpu" else tenax.shard(tokens, P("data"), mesh())
        losses[kind] = [run(given).item() for _ in range(6)]
    close(torch.tensor(losses["mesh"]), torch.tensor(losses["cpu"]), COMPOSED)


def test_a_model_is_made_in_its_shards_from_the_device_meta() -> None:
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(64, 512), nn.BatchNorm1d(512), nn.Linear(512, 64))
    torch.manual_seed(3)
    tenax.shard(model, fsdp("data"), mesh())
    assert [s.data.shape for s in model[0].weight.detach().jax().addressable_shards] == [(128, 64)] * 8
    with torch.device("jax"):
        torch.manual_seed(3)
        expected = nn.Sequential(nn.Linear(64, 512), nn.BatchNorm1d(512), nn.Linear(512, 64))
    for (name, found), wanted in zip(model.state_dict().items(), expected.state_dict().values(), strict=True):
        assert torch.equal(found.cpu(), wanted.cpu()), name


def test_tensors_that_no_module_initialises_are_named() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.ones(8))

    with torch.device("meta"):
        model = nn.Sequential(Scaled())
    with pytest.raises(TypeError, match=r"scale of 0 \(Scaled\) is on the device 'meta'.*tenax.sharding.initialize"):
        tenax.shard(model, {}, mesh())
    found = initialize(lambda: nn.Sequential(Scaled(), nn.Linear(8, 8)), {"*": P("data")}, mesh())
    assert specs(found) == dict.fromkeys(specs(found), P("data"))
    assert torch.equal(found[0].scale.detach().cpu(), torch.ones(8))


def test_initialize_draws_what_the_constructor_draws() -> None:
    torch.manual_seed(5)
    found = initialize(Block, fsdp("data"), mesh())
    more = torch.rand(2, device="jax")
    torch.manual_seed(5)
    with torch.device("jax"):
        expected = Block()
    assert found.head.weight is found.embed.weight
    for name, value in expected.state_dict().items():
        close(found.state_dict()[name].cpu(), value.cpu())
    assert torch.equal(more.cpu(), torch.rand(2, device="jax").cpu())


def test_visualize_sharding_prints_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    tenax.visualize_sharding(on_mesh(VALUES, P("data")))
    assert "CPU 0,1" in capsys.readouterr().out
    tenax.visualize_sharding(tenax.shard(Block(), fsdp("data"), mesh()))
    assert "up_proj.weight" in (text := capsys.readouterr().out) and "4,096" in text
    tenax.visualize_sharding(on_mesh(VALUES.reshape(2, 4, 8), P("model")))
    assert "0:1" in capsys.readouterr().out


def test_checkpoints_and_state_dicts_keep_shardings(tmp_path: Any) -> None:
    model = tenax.shard(Block(), fsdp("data"), mesh())
    other = tenax.shard(Block(), tensor_parallel("model"), mesh())
    other.load_state_dict(model.state_dict())
    assert specs(other)["up_proj.weight"] == P("model")
    path = tmp_path / "model.pt"
    torch.save(model.state_dict(), path)
    third = tenax.shard(Block(), fsdp("data"), mesh())
    third.load_state_dict(torch.load(path, map_location="cpu"))
    for name, value in model.state_dict().items():
        assert torch.equal(other.state_dict()[name].cpu(), value.cpu())
        assert torch.equal(third.state_dict()[name].cpu(), value.cpu())
    assert specs(third) == specs(model)


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit])
def test_torchax_marks_and_jits_with_shardings(kind: AxisType) -> None:
    at = NamedSharding(mesh(kind), P("data"))
    x = VALUES.to("jax")
    assert spec(torchax.train.mark_sharding(x, at)) == P("data")
    options = {"in_shardings": (at, None), "out_shardings": NamedSharding(mesh(kind), P(None, "model"))}
    found = torchax.interop.jax_jit(lambda a, b: a @ b, kwargs_for_jax_jit=options)(x, x)
    assert spec(found) == P(None, "model")
    close(found.cpu(), VALUES @ VALUES)
    mapped = torchax.interop.jax_shard_map(
        lambda a: a * 2, {"mesh": mesh(kind), "in_specs": P("data"), "out_specs": P("data")}
    )
    close(mapped(x).cpu(), VALUES * 2)


def test_a_checkpoint_is_loaded_onto_other_meshes_and_onto_none(tmp_path: Any) -> None:
    model = tenax.shard(nn.Linear(8, 8), {"*": P("data")}, mesh())
    tenax.checkpoint.save(tmp_path / "saved", {"model": model})
    four = Mesh(np.array(jax.devices()[:4]), ("rows",))
    other, free = tenax.shard(nn.Linear(8, 8), {"*": P("rows")}, four), nn.Linear(8, 8).to("jax")
    for target in (other, free):
        tenax.checkpoint.load(tmp_path / "saved", {"model": target})
        assert torch.equal(target.weight.cpu(), model.weight.cpu())
    assert tenax.sharding_of(other.weight.detach()).mesh.shape == {"rows": 4}
    assert spec(free(on_mesh(VALUES, P("data"))).detach()) == P("data")  # which nobody placed


def test_what_comes_back_to_the_first_device_may_join_a_mesh() -> None:
    back = torch.ones(8, 8).to("jax:1").to("jax:0")
    assert tenax.sharding_of(back).device_set == {jax.devices()[0]}
    assert spec(on_mesh(VALUES, P("data")) + back) == P("data")
    weight = tenax.shard(torch.zeros(8, 8), P("data"), mesh())
    weight.copy_(torch.ones(8, 8, device="jax:1"))
    assert spec(weight) == P("data") and weight.sum() == 64
