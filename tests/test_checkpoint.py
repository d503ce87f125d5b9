"""`tenax.checkpoint` and safetensors: what is loaded is what was saved, and training goes on bit for bit."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import safetensors.torch
import torch
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from torch import nn

import tenax
from tenax import checkpoint
from tests.helpers.processes import run

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:orbax.*")


def net() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 2)).to("jax")


class Training:
    """A module with dropout and batch norm, an optimizer, a schedule and a data stream of the device's."""

    def __init__(self, make: Callable[[Any], torch.optim.Optimizer], run: Callable[[Any], Any]) -> None:
        self.module = net()
        self.optimizer = make(self.module.parameters())
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimizer, 2)
        self.forward = run(self.module)

    @property
    def state(self) -> dict[str, Any]:
        return {"module": self.module, "optimizer": self.optimizer, "schedule": self.schedule}

    def steps(self, n: int) -> None:
        for _ in range(n):
            x = torch.randn(6, 4, device="jax") + torch.randn(6, 4).to("jax")
            self.optimizer.zero_grad()
            self.forward(x).square().mean().backward()
            self.optimizer.step()
            self.schedule.step()

    def held(self) -> list[Any]:
        tensors = [*self.module.state_dict().values()]
        for state in self.optimizer.state_dict()["state"].values():
            tensors += state.values()
        return [np.asarray(t.cpu()) if isinstance(t, torch.Tensor) else t for t in tensors]


@pytest.mark.parametrize("run", [lambda m: m, lambda m: torch.compile(m, backend="tenax")], ids=["eager", "compiled"])
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "make",
    [
        lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
        lambda p: torch.optim.AdamW(p, 0.1),
        lambda p: torch.optim.Adam(p, 0.1, fused=True),
    ],
    ids=["sgd", "adamw", "fused"],
)
def test_training_that_is_resumed_goes_on_bit_for_bit(make: Any, run: Any, tmp_path: Path) -> None:
    torch.manual_seed(0)
    whole = Training(make, run)
    whole.steps(3)
    checkpoint.save(tmp_path / "three", {**whole.state, "step": 3})
    whole.steps(3)
    torch.manual_seed(1)
    resumed = Training(make, run)
    assert checkpoint.load(tmp_path / "three", resumed.state) == {"step": 3}
    resumed.steps(3)
    for x, y in zip(resumed.held(), whole.held(), strict=True):
        assert np.array_equal(x, y)


def test_trees_of_tensors_and_numbers_keep_their_structure(tmp_path: Path) -> None:
    state = {
        "tree": {"a": [torch.arange(3, device="jax"), (1.5, None, "x")], 7: {"b": torch.ones(2, dtype=torch.bfloat16)}},
        "wide": torch.tensor([2**40, -1], device="jax"),
        "double": torch.tensor([1 / 3], dtype=torch.float64, device="jax"),
        "half": torch.arange(4.0, device="jax").to(torch.bfloat16),
        "view": torch.arange(6.0, device="jax").view(2, 3).t(),
        "empty": torch.empty(0, device="jax"),
        "scalar": torch.tensor(3.0, device="jax"),
        "kind": torch.float16,
        "limits": [float("inf"), 2**70],
    }
    checkpoint.save(tmp_path / "tree", state)
    found = checkpoint.load(tmp_path / "tree", {})
    assert found.keys() == state.keys()
    assert found["tree"]["a"][1] == (1.5, None, "x") and found["kind"] is torch.float16
    assert found["limits"] == state["limits"] and found["tree"]["a"][0].tolist() == [0, 1, 2]
    assert found["tree"][7]["b"].device.type == "cpu" and found["tree"][7]["b"].dtype is torch.bfloat16
    for name in ("wide", "double", "half", "view", "empty", "scalar"):
        assert (found[name].device, found[name].dtype) == (state[name].device, state[name].dtype)  # type: ignore[attr-defined]
        assert torch.equal(found[name], state[name])  # type: ignore[arg-type]


def test_tied_weights_are_written_once_and_stay_tied(tmp_path: Path) -> None:
    def tied() -> nn.Module:
        module = nn.Sequential(nn.Linear(64, 64, bias=False), nn.Linear(64, 64, bias=False)).to("jax")
        module[1].weight = module[0].weight
        return module

    first, second = tied(), tied()
    checkpoint.save(tmp_path / "tied", {"module": first})
    checkpoint.load(tmp_path / "tied", {"module": second})
    assert second[1].weight is second[0].weight and torch.equal(first[0].weight, second[0].weight)
    assert sum(f.stat().st_size for f in (tmp_path / "tied").rglob("*") if f.is_file()) < 1.6 * 64 * 64 * 4


def sharded(module: nn.Module, sharding: NamedSharding) -> nn.Module:
    for p in module.parameters():
        p.data = tenax.Tensor(jax.device_put(p.jax(), sharding))
    return module


def test_sharded_state_is_restored_to_the_sharding_of_its_place(tmp_path: Path) -> None:
    mesh = Mesh(np.array(jax.devices()[:2]), ("x",))
    rows, columns = NamedSharding(mesh, P("x")), NamedSharding(mesh, P(None, "x"))
    first = sharded(nn.Linear(4, 4, bias=False).to("jax"), rows)
    optimizer = torch.optim.SGD(first.parameters(), 0.1, momentum=0.9)
    first.weight.grad = tenax.Tensor(jax.device_put(jax.numpy.ones((4, 4)), rows))
    optimizer.step()
    checkpoint.save(tmp_path / "sharded", {"module": first, "optimizer": optimizer})
    for sharding in (rows, columns):
        second = sharded(nn.Linear(4, 4, bias=False).to("jax"), sharding)
        again = torch.optim.SGD(second.parameters(), 0.1, momentum=0.9)
        checkpoint.load(tmp_path / "sharded", {"module": second, "optimizer": again})
        momentum = again.state[second.weight]["momentum_buffer"]
        assert second.weight.jax().sharding == sharding and momentum.jax().sharding == sharding
        assert np.array_equal(second.weight.jax(), first.weight.jax())
        assert np.array_equal(momentum.jax(), np.ones((4, 4)))
    plain = nn.Linear(4, 4, bias=False).to("jax")
    checkpoint.load(tmp_path / "sharded", {"module": plain})
    assert len(plain.weight.jax().devices()) == 1 and np.array_equal(plain.weight.jax(), first.weight.jax())


def test_what_cannot_be_saved_is_named(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"config\.0\.f is a function; expected a tensor"):
        checkpoint.save(tmp_path / "x", {"config": [{"f": net}]})
    checkpoint.save(tmp_path / "x", {"step": 1})
    with pytest.raises(ValueError, match="exists"):
        checkpoint.save(tmp_path / "x", {"step": 2})
    checkpoint.save(tmp_path / "x", {"step": 3}, overwrite=True)
    assert checkpoint.load(tmp_path / "x", {}) == {"step": 3}
    with pytest.raises(KeyError, match=r"nothing was saved as 'module'; expected one of .*'step'"):
        checkpoint.load(tmp_path / "x", {"module": net()})


# -- safetensors -------------------------------------------------------------------------------------------------------


def test_safetensors_hold_tensors_of_the_device(tmp_path: Path) -> None:
    x = torch.randn(3, 4, device="jax")
    state = {"x": x, "rows": x[1:], "half": x.to(torch.bfloat16), "wide": torch.arange(3, device="jax")}
    with pytest.raises(RuntimeError, match="share memory"):
        safetensors.torch.save_file(state, tmp_path / "x")
    state["rows"] = state["rows"].clone()
    safetensors.torch.save_file(state, tmp_path / "x")
    found = safetensors.torch.load_file(tmp_path / "x")
    for name, value in state.items():
        assert found[name].dtype is value.dtype and torch.equal(found[name], value.cpu())
    safetensors.torch.save_file({"rows": x[1:]}, tmp_path / "view")
    assert torch.equal(safetensors.torch.load_file(tmp_path / "view")["rows"], x[1:].cpu())
    with pytest.raises(ValueError, match="non contiguous"):
        safetensors.torch.save_file({"t": x.t()}, tmp_path / "t")


def test_safetensors_know_tied_weights(tmp_path: Path) -> None:
    module = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)).to("jax")
    module[1].weight = module[0].weight
    safetensors.torch.save_model(module, tmp_path / "model")
    assert len(safetensors.torch.load_file(tmp_path / "model")) == 3
    other = copy.deepcopy(module)
    with torch.no_grad():
        for p in other.parameters():
            p.zero_()
    safetensors.torch.load_model(other, tmp_path / "model")
    assert other[1].weight is other[0].weight and torch.equal(other[0].weight, module[0].weight)


@pytest.mark.parametrize("how", ["changed", "truncated"])
def test_a_corrupt_checkpoint_is_noticed(how: str, tmp_path: Path) -> None:
    program = f"import pathlib, sys, tests.helpers.corruption as c; c.{how}(pathlib.Path(sys.argv[1]))"
    run(program, str(tmp_path / "c"))


def test_a_missing_checkpoint_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere is not a folder"):
        checkpoint.load(tmp_path / "nowhere", {})
