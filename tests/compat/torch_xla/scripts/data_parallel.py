"""The multithreading program of the classic guide: a thread for each device."""

import sys

import models
import torch
import torch_xla.core.xla_model as xm
import torch_xla.distributed.data_parallel as dp

name, path = sys.argv[1:]
devices = xm.get_xla_supported_devices(max_devices=4)
assert devices == ["xla:0", "xla:1", "xla:2", "xla:3"]
network = models.build(name)
model_parallel = dp.DataParallel(network, device_ids=devices)
train_loader = [(x[i::4], y[i::4]) for x, y in models.batches(name) for i in range(4)]


def train_loop_fn(model, loader, device, context):
    optimizer = context.getattr_or("optimizer", lambda: models.optimizer_of(name, model.parameters()))
    assert xm.xla_device() == device == next(model.parameters()).device
    assert xm.xrt_world_size() == 4 and devices[xm.get_ordinal()] == f"xla:{device.index}"
    losses = []
    for x, y in loader:
        optimizer.zero_grad()
        loss = models.loss_of(model, x, y)
        loss.backward()
        xm.optimizer_step(optimizer)
        losses.append(loss.detach())
    return torch.stack(losses).cpu(), optimizer


results = model_parallel(train_loop_fn, train_loader)
again = model_parallel(lambda model, loader, device, context: context.optimizer, train_loader)
assert [r[1] for r in results] == again


def failure(loop_fn):
    try:
        model_parallel(loop_fn, train_loader)
    except (ValueError, RuntimeError) as error:
        return str(error)
    return "no error"


def bad_loop_fn(model, loader, device, context):
    if device.index == 2:
        raise ValueError("replica 2 is bad")
    xm.rendezvous("never")


def missing_loop_fn(model, loader, device, context):
    if device.index != 2:
        xm.rendezvous("never")


assert failure(bad_loop_fn) == "replica 2 is bad"
assert "another replica of the 4 has returned or raised" in failure(missing_loop_fn)
on_cpu = dp.DataParallel(network, device_ids=[])
assert on_cpu(lambda model, loader, device, context: str(device), []) == ["cpu"]
losses = torch.stack([r[0] for r in results]).mean(0)
xm.save({"losses": losses, "model": model_parallel.models[3].state_dict()}, path)
