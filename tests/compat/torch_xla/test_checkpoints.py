"""Checkpoints of `torch_xla.experimental.distributed_checkpoint`."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.api import CheckpointException

import tenax.compat.torch_xla.core.xla_model as xm
import tenax.compat.torch_xla.distributed.spmd as xs
from tenax.compat.torch_xla.experimental.distributed_checkpoint import (
    CheckpointManager,
    SPMDLoadPlanner,
    SPMDSavePlanner,
    prime_optimizer,
)

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled:UserWarning")
device = xm.xla_device()
X = torch.linspace(-1, 1, 16).view(4, 4)


def trained(parts: int) -> tuple[nn.Linear, torch.optim.Optimizer]:
    """A layer, sharded over some devices, after a step."""
    layer = nn.Linear(4, 4).to(device)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=0.1)
    xs.mark_sharding(layer.weight, xs.Mesh(np.arange(parts), (parts,), ("x",)), ("x", None))
    layer(X.to(device)).square().sum().backward()
    optimizer.step()
    return layer, optimizer


def state_of(layer: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    return {"model": layer.state_dict(), "optim": optimizer.state_dict(), "step": 3}


def test_a_sharded_state_is_loaded_by_the_planners_into_another_sharding(tmp_path: Path) -> None:
    saved, found = trained(4), trained(2)
    dcp.save(state_of(*saved), storage_writer=dcp.FileSystemWriter(tmp_path), planner=SPMDSavePlanner())
    state = state_of(*found) | {"step": 0}
    dcp.load(state, storage_reader=dcp.FileSystemReader(tmp_path), planner=SPMDLoadPlanner())
    assert state["step"] == 3
    assert found[0].weight.sharding_spec == "{devices=[2,1]0,1}"
    assert torch.equal(found[0].weight.cpu(), saved[0].weight.cpu())
    moments = [optimizer.state[layer.weight]["exp_avg"].cpu() for layer, optimizer in (saved, found)]
    assert torch.equal(*moments)


def test_a_manager_keeps_the_checkpoints_of_the_last_steps(tmp_path: Path) -> None:
    layer, optimizer = trained(4)
    manager = CheckpointManager(str(tmp_path / "run"), save_interval=10, max_to_keep=2)
    weights = {}
    for step in range(31):
        if step % 10 == 0:
            weights[step] = layer.weight.detach().cpu()
        save = manager.save_async if step % 20 else manager.save
        assert save(step, state_of(layer, optimizer)) == (step % 10 == 0)
        with torch.no_grad():
            layer.weight.add_(1)  # after the copy of the state
    manager.join()
    assert manager.all_steps() == [20, 30]
    again = CheckpointManager(str(tmp_path / "run"), 10)
    assert again.all_steps() == [20, 30]
    other = nn.Linear(4, 4).to(device)
    primed = prime_optimizer(torch.optim.AdamW(other.parameters(), lr=0.1))
    for step in (20, 30):
        state = state_of(other, primed)
        again.restore(step, state)
        other.load_state_dict(state["model"])
        assert torch.equal(other.weight.cpu(), weights[step])
    assert again.save(31, {}, force=True) and again.all_steps() == [20, 30, 31]
    with pytest.raises(ValueError, match=r"step 10; expected one of \[20, 30, 31\]"):
        again.restore(10, {})


def test_a_checkpoint_that_cannot_be_written_is_an_error_of_join(tmp_path: Path) -> None:
    manager = CheckpointManager(str(tmp_path), 1)
    assert manager.save_async(1, {"lock": threading.Lock()})
    with pytest.raises(CheckpointException, match="cannot pickle"):
        manager.join()
    assert manager.all_steps() == []
    manager.join()


def test_managers_refuse_what_they_cannot_do() -> None:
    with pytest.raises(ValueError, match="save_interval=0, max_to_keep=0, max_pending_async=1; expected at least 1, 0"):
        CheckpointManager("unused", 0)
    with pytest.raises(NotImplementedError, match="gs://bucket/run; expected a folder"):
        CheckpointManager("gs://bucket/run", 1)
