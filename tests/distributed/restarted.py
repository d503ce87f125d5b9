"""A program under torchrun that saves after each step, and loses a rank in its first attempt.

`torchrun ... -m tests.distributed.restarted FOLDER` trains a fully sharded model for STEPS steps, each from the last
checkpoint. Rank 1 is killed while step KILLED is saved, if torchrun has not restarted the ranks. In the end the losses
are compared, bit for bit, with those of training that nothing interrupts. `-m tests.distributed.restarted FOLDER
compare` compares the last checkpoint with what was trained, on any number of ranks.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import tenax  # noqa: F401

STEPS, KILLED = 4, 2


def model() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4)).to("jax")
    fully_shard(net, mesh=init_device_mesh("jax", (dist.get_world_size(),)))
    return net, torch.optim.AdamW(net.parameters(), lr=0.05)


def train(net: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> float:
    generator = torch.Generator().manual_seed(100 * step + dist.get_rank())
    x, y = (torch.randn(4, n, generator=generator).to("jax") for n in (8, 4))
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    total = loss.detach().clone()
    dist.all_reduce(total)
    return total.item()


def state(net: nn.Module, optimizer: torch.optim.Optimizer, full: bool = False) -> dict[str, Any]:
    parameters, moments = get_state_dict(net, optimizer, options=StateDictOptions(full_state_dict=full))
    return {"model": parameters, "optimizer": moments}


def last(folder: Path) -> int:
    """The number of complete checkpoints: torch writes their metadata at the end."""
    return next(n for n in range(STEPS, -1, -1) if not n or (folder / f"step{n}" / ".metadata").exists())


def load(folder: Path, number: int) -> tuple[nn.Module, torch.optim.Optimizer]:
    net, optimizer = model()
    if number:
        held = state(net, optimizer)
        dcp.load(held, checkpoint_id=folder / f"step{number}")
        set_state_dict(net, optimizer, model_state_dict=held["model"], optim_state_dict=held["optimizer"])
    return net, optimizer


def interrupted(folder: Path) -> None:
    first = os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
    begun = last(folder)
    net, optimizer = load(folder, begun)
    found = []
    for n in range(begun + 1, STEPS + 1):
        found.append(train(net, optimizer, n))
        if first and n == KILLED and dist.get_rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        dcp.save(state(net, optimizer), checkpoint_id=folder / f"step{n}")
    other = model()
    expected = [train(*other, n) for n in range(1, STEPS + 1)]
    assert found == expected[begun:], (found, expected)
    whole = state(net, optimizer, full=True)
    if dist.get_rank() == 0:
        torch.save(whole, folder / "whole.pt")
        print(f"resumed after {begun} of {STEPS} steps", flush=True)


def compared(folder: Path) -> None:
    found = state(*load(folder, STEPS), full=True)
    if dist.get_rank() == 0:
        expected = torch.load(folder / "whole.pt")
        pairs = [*zip(*(torch.utils._pytree.tree_leaves(s) for s in (found, expected)), strict=True)]
        tensors = [(a, b) for a, b in pairs if isinstance(a, torch.Tensor)]
        assert len(tensors) >= 12
        assert all(torch.equal(a.cpu(), b.cpu()) for a, b in tensors)
        print(f"{dist.get_world_size()} ranks have the same state", flush=True)


if __name__ == "__main__":
    dist.init_process_group("tenax")
    (compared if sys.argv[2:] == ["compare"] else interrupted)(Path(sys.argv[1]))
    dist.destroy_process_group()
