"""A program for PyTorch/XLA that saves, loads and goes on: `xm.save`, `xser.save` or `torch.save`, with `xmp.spawn`."""

import os
import sys

import torch
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_multiprocessing as xmp
import torch_xla.runtime as xr
import torch_xla.utils.serialization as xser
from torch import nn


def batch(step, rank):
    generator = torch.Generator().manual_seed(100 * step + rank)
    return torch.randn(8, 6, generator=generator), torch.randint(0, 2, (8,), generator=generator)


def build(device):
    torch.manual_seed(11)
    model = nn.Sequential(nn.Linear(6, 12), nn.LayerNorm(12), nn.ReLU(), nn.Linear(12, 2)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2, amsgrad=True)
    return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 5, 0.5)


def train(trained, device, steps, losses):
    model, optimizer, scheduler = trained
    for step in steps:
        x, y = (t.to(device) for t in batch(step, xr.global_ordinal()))
        optimizer.zero_grad(set_to_none=False)
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        xm.optimizer_step(optimizer, barrier=True)
        scheduler.step()
        losses.append(loss.detach())


def expected(size):
    model, optimizer, scheduler = build("cpu")
    losses = []
    for step in range(20):
        optimizer.zero_grad()
        loss = sum(nn.functional.cross_entropy(model(x), y) for x, y in (batch(step, r) for r in range(size))) / size
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def _mp_fn(index, path, how):
    device = xm.xla_device()
    trained = build(device)
    losses = []
    train(trained, device, range(10), losses)
    names = "model", "optimizer", "scheduler"
    state = {name: part.state_dict() for name, part in zip(names, trained, strict=True)} | {
        "step": 10,
        "losses": [*losses],
    }
    if how == "xser":
        xser.save(state, path, master_only=True)
    elif how == "xm":
        xm.save(state, path)
    elif xm.is_master_ordinal():
        torch.save(state, path)
    xm.rendezvous("saved")
    loaded = build(device)
    for parameter in loaded[0].parameters():
        parameter.data.normal_()
    where = "cpu" if how == "xm" else device
    state = xser.load(path) if how == "xser" else torch.load(path, map_location=where, weights_only=False)
    for name, part in zip(names, loaded, strict=True):
        part.load_state_dict(state[name])
    train(loaded, device, range(state["step"], 20), losses)
    mean = xm.mesh_reduce("losses", torch.stack(losses), lambda found: torch.stack(found).mean(0))
    xm.save({"losses": mean, "expected": expected(xr.world_size())}, os.path.join(os.path.dirname(path), "losses.pt"))


if __name__ == "__main__":
    xmp.spawn(_mp_fn, args=(os.path.join(sys.argv[1], "checkpoint.pt"), sys.argv[2]))
