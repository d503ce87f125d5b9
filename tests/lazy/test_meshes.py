"""Tensors on a mesh in lazy mode: a step is one program, which XLA partitions as a whole."""

from __future__ import annotations

from collections.abc import Callable

import jax
import numpy as np
import pytest
import torch
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from torch import nn

import tenax
import tenax.compat.torch_xla.distributed.spmd as xs
from tenax._lazy.mode import own_tape
from tenax._lazy.programs import History
from tests.helpers.agreement import close
from tests.helpers.meshes import mesh, spec
from tests.helpers.tolerances import COMPOSED


@pytest.fixture(autouse=True)
def history() -> History:
    """What this thread runs in lazy mode during a test."""
    tape = own_tape()
    tape.history = History()
    return tape.history


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(16, 32), nn.BatchNorm1d(32), nn.GELU(), nn.Linear(32, 8))


def trained(net: nn.Module, batches: list[torch.Tensor], after: Callable[[], object]) -> list[torch.Tensor]:
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    losses = []
    for batch in batches:
        optimizer.zero_grad()
        loss = net(batch).square().mean()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
        after()
    return [loss.cpu() for loss in losses]


def test_a_training_step_is_one_program_whose_state_stays_sharded(history: History) -> None:
    batches = [torch.randn(8, 16) for _ in range(4)]
    expected = trained(model(), batches, lambda: None)
    net = tenax.shard(model(), {"*.weight": P("data"), "*": P()}, mesh())
    placed = tenax.sharding_of(net)
    with tenax.lazy():
        found = trained(net, [tenax.shard(x, P("data"), mesh()) for x in batches], tenax.sync)
        weight = net[0].weight
        assert spec(weight.grad) == spec(weight) == P("data")
    close(found, expected, COMPOSED)
    assert tenax.sharding_of(net) == placed
    assert [runs.count for runs in history.programs.values()] == [4]
    (program,) = history.programs
    state = 3 * len([*net.parameters()]) + len([*net.buffers()])
    assert len(program.key[2]) == state, "all of it is donated"


def test_a_mark_within_a_step_is_a_constraint_of_its_program(history: History) -> None:
    x, w = torch.randn(8, 4, 16), torch.randn(32, 16)
    grid = xs.Mesh(np.arange(8), (4, 2), ("data", "model"))
    with tenax.lazy():
        leaf = w.to("jax").requires_grad_()
        out = nn.functional.linear(xs.mark_sharding(x.to("jax"), grid, ("data", None, None)), leaf)
        marked = xs.mark_sharding_with_gradients(out, grid, ("data", None, "model"))
        marked.sin().sum().backward()
        assert not history.runs
        close(leaf.grad, torch.autograd.functional.vjp(lambda w: (x @ w.t()).sin().sum(), w)[1], COMPOSED)
    assert history.runs == 1
    assert spec(marked.detach()) == P("data", None, "model")


def test_eager_mode_knows_where_results_of_lazy_mode_are() -> None:
    with tenax.lazy():
        made = tenax.shard(torch.ones(8, 4), P("data"), mesh()) + 1
    assert spec(torch.zeros_like(made)) == P("data")
    made[:, 1:3] = 0
    assert spec(made) == P("data") and made.sum().item() == 32


def test_parts_of_tensors_are_cut_without_gathering_them(history: History) -> None:
    with tenax.lazy():
        x = tenax.shard(torch.arange(768.0).view(32, 24), P("data", "model"), mesh())
        total = sum(part * 2 for part in x.chunk(3, -1))
        close(total, sum(part * 2 for part in torch.arange(768.0).view(32, 24).chunk(3, -1)))
    (program,) = history.programs
    assert "all-gather" not in program._call.compiled.as_text()


def test_another_mesh_is_not_part_of_the_program(history: History) -> None:
    half = Mesh(np.array(jax.devices()[:4]), ("data",))
    with tenax.lazy():
        x = tenax.shard(torch.ones(8), P("data"), mesh())
        y = tenax.shard(torch.ones(8), P("data"), half)
        doubled, tripled = x * 2, y * 3
        assert not history.runs
        assert doubled.sum().item() == 16 and tripled.sum().item() == 24
        with pytest.raises(RuntimeError, match=r"Expected all tensors to be on the same device.* expected one mesh"):
            x + y
