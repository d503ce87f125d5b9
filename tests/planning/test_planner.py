"""`tenax.distributed.plan`: numbers of a step on a mesh, compared with those of the step that runs there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import pytest
import torch
from jax.sharding import PartitionSpec as P
from torch import nn

import tenax
from tenax.distributed import CHIPS, Chip, StepPlan, plan
from tenax.planning.report import Exchange, Memory, extended
from tenax.sharding import fsdp, tensor_parallel

MESH = {"data": 4, "model": 2}
WIDTH, BATCH = 64, 16


class Stack(nn.Module):
    """Perceptrons, each of a pair of projections."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.ModuleDict({"up_proj": nn.Linear(WIDTH, 4 * WIDTH), "down_proj": nn.Linear(4 * WIDTH, WIDTH)})
            for _ in range(layers)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = x + layer["down_proj"](layer["up_proj"](x).relu())
        return x


def step_of(model: nn.Module) -> Callable[[torch.Tensor], torch.Tensor]:
    optimizer = torch.optim.AdamW(model.parameters())

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    return step


def build(layers: int = 2) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return step_of(Stack(layers)), (torch.zeros(BATCH, WIDTH),)


def made_outside() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return step_of(Stack(1)), (torch.zeros(BATCH, WIDTH, device="cpu"),)


def test_a_plan_has_the_numbers_of_the_step_that_runs() -> None:
    rules = tensor_parallel("model", fsdp="data", least=1)
    found = plan(build, MESH, rules, chip="H100")
    mesh = jax.make_mesh((4, 2), ("data", "model"))
    model = tenax.shard(Stack(2), rules, mesh)
    step = tenax.jit(step_of(model))
    step(tenax.shard(torch.zeros(BATCH, WIDTH), P("data"), mesh))
    (program,) = tenax.explain(step).programs
    parameters = 4 * sum(p.numel() for p in model.parameters())
    weights = sum(p.detach().jax().addressable_shards[0].data.nbytes for p in model.parameters())
    assert found.memory.weights == weights < parameters / 4
    assert 2 * weights <= found.memory.optimizer <= 2 * weights + 8 * 8  # moments, and counts of steps
    assert found.memory.total == program.peak_bytes
    assert sum(e.times for e in found.exchanges) == sum(c.times for c in program.collectives)
    assert sum(e.bytes for e in found.exchanges) == sum(c.bytes * c.times for c in program.collectives)
    # Forward, and two products of each backward but for the first layer's input.
    products = 2 * BATCH * WIDTH * 4 * WIDTH
    assert found.flops == products * (3 * 4 - 1)
    assert any(__file__ in e.line and e.scope.startswith("model.layers.*") for e in found.exchanges)
    assert found.fits is True


def test_layers_extend_linearly() -> None:
    found = plan(build, MESH, fsdp("data", least=1), layers=5)
    compiled = plan(partial(build, 5), MESH, fsdp("data", least=1))
    assert found.layers == (1, 2, 5)
    assert "5 layers, linearly from 1 and 2" in str(found)
    assert found.flops == compiled.flops
    assert found.memory.weights == compiled.memory.weights
    assert abs(found.memory.optimizer - compiled.memory.optimizer) < 64


def test_what_no_chip_can_hold_is_said() -> None:
    chip = Chip("small", flops=1e12, memory=1e4, bandwidth=1e9, network=1e9)
    memory, exchange = Memory(8e3, 16e3, 1e3, 4e3, 10), Exchange("all-reduce", 2, 1e6, "model.fc", "train.py:7")
    found = StepPlan(MESH, memory, 8e9, 1e6, (exchange,), 0.5, chip)
    assert found.fits is False
    assert found.times == (1e-3, 1e-3, 2e-3)  # a sum goes around twice
    assert "29 kB of 10 kB: does not fit" in str(found)
    assert "2.0 ms, bound by network" in str(found)
    assert "2 of all-reduce, 1 MB in model.fc, train.py:7" in str(found)
    two = StepPlan(MESH, Memory(10e3, 20e3, 1e3, 5e3, 10), 12e9, 2e6, (), 0.5, chip, (2,))
    more = extended(StepPlan(MESH, memory, 8e9, 1e6, (exchange,), 0.5, chip, (1,)), two, 4)
    assert more.flops == 20e9 and more.memory == (14e3, 28e3, 1e3, 7e3, 10) and more.exchanges == ()


def test_what_cannot_be_planned_is_named() -> None:
    with pytest.raises(ValueError, match="the chip 'H1000' is not known; expected one of A100, H100"):
        plan(build, MESH, {}, chip="H1000")
    with pytest.raises(ValueError, match="a mesh of 1024 devices; expected at most 512"):
        plan(build, {"data": 1024}, {})
    with pytest.raises(ValueError, match="is on cpu; expected the device 'meta'"):
        plan(made_outside, MESH, {})
    with pytest.raises(ValueError, match=r"layers.0.up_proj.weight .*the mesh has no axis 'rows'"):
        plan(build, MESH, {"*.weight": P("rows")})
    assert CHIPS["H100"].memory == 80e9


def test_a_mesh_of_more_devices_than_there_are_is_planned_in_a_new_process() -> None:
    found = plan(build, {"data": 16}, fsdp("data", least=1))
    assert found.devices == 16
    assert jax.device_count() == 8
    assert found.memory.weights * 16 == 4 * sum(p.numel() for p in Stack(2).parameters())
