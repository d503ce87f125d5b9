"""A classic training script: a process for each device, a loader for each process."""

import sys

import models
import torch
import torch_xla
import torch_xla.core.functions as xf
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
import torch_xla.distributed.parallel_loader as pl
import torch_xla.distributed.xla_multiprocessing as xmp
import torch_xla.runtime as xr
import torch_xla.test.test_utils as test_utils

WRAPPED_MODEL = xmp.MpModelWrapper(models.build(sys.argv[1]))
SERIAL_EXEC = xmp.MpSerialExecutor()


def get_dataset(name):
    xs, ys = zip(*models.batches(name), strict=True)
    return torch.utils.data.TensorDataset(torch.cat(xs), torch.cat(ys))


def check_collectives(index, world, device):
    total = xm.all_reduce(xm.REDUCE_SUM, torch.full((3,), index + 1.0, device=device))
    assert total.tolist() == [world * (world + 1) / 2] * 3
    pair = [torch.ones(2, device=device), torch.full((2, 2), float(index), device=device)]
    assert xm.all_reduce("max", pair, scale=0.5) is None
    assert pair[1].tolist() == [[(world - 1) / 2] * 2] * 2
    assert xm.all_gather(torch.tensor([[index]], device=device), dim=1).tolist() == [[*range(world)]]
    part = xm.reduce_scatter("sum", torch.arange(2.0 * world, device=device), 1.0, 0, world)
    assert part.tolist() == [world * 2.0 * index, world * (2.0 * index + 1)]
    swapped = xm.all_to_all(torch.arange(world, device=device) + 10 * index, 0, 0, world)
    assert swapped.tolist() == [10 * i + index for i in range(world)]
    shifted = xm.collective_permute(torch.tensor([index + 1.0], device=device), [(i, i + 1) for i in range(world - 1)])
    assert shifted.item() == index
    alone = xm.all_reduce("sum", torch.ones(1, device=device), groups=[[i] for i in range(world)])
    assert alone.item() == 1

    def compiled(t, other):
        xm.all_reduce("max", [other])
        return xm.all_reduce("sum", t * 2, 0.5) + xm.all_reduce("sum", t, groups=[[i] for i in range(world)])

    x, other = torch.full((3,), index + 1.0, device=device), torch.tensor([index], device=device)
    result = torch.compile(compiled, backend="openxla", fullgraph=True)(x, other)
    assert result.tolist() == [world * (world + 1) / 2 + index + 1] * 3 and other.item() == world - 1
    x = torch.ones(2, device=device, requires_grad=True)
    (xf.all_reduce("sum", x) * (index + 1) + xf.all_gather(x, 0).sum()).sum().backward()
    assert x.grad.tolist() == [world * (world + 1) / 2 + 2 * world] * 2
    assert xm.rendezvous("ranks", bytes([index])) == [bytes([i]) for i in range(world)]
    assert xm.do_on_ordinals(lambda x: x.device.type, (x,), (0,)) == ("cpu" if index == 0 else None)


def _mp_fn(index, flags):
    name, world = flags["name"], xm.xrt_world_size()
    assert index == xm.get_ordinal() == xm.get_local_ordinal() == xr.global_ordinal()
    assert xm.is_master_ordinal() == (index == 0)
    dataset = SERIAL_EXEC.run(lambda: get_dataset(name))
    sampler = torch.utils.data.distributed.DistributedSampler(dataset, num_replicas=world, rank=index, shuffle=False)
    loader = torch.utils.data.DataLoader(dataset, batch_size=16 // world, sampler=sampler, drop_last=True)
    device = xm.xla_device()
    model = WRAPPED_MODEL.to(device)
    optimizer = models.optimizer_of(name, model.parameters())
    tracker = xm.RateTracker()
    losses = []

    def train_loop_fn(loader):
        model.train()
        for step, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            loss = models.loss_of(model, x, y)
            loss.backward()
            xm.optimizer_step(optimizer)
            tracker.add(len(x))
            losses.append(loss.detach())
            if step % 10 == 0:
                rates = tracker.rate(), tracker.global_rate()
                xm.add_step_closure(test_utils.print_training_update, args=(device, step, loss, *rates))

    if flags["loader"] == "parallel":
        train_loop_fn(pl.ParallelLoader(loader, [device]).per_device_loader(device))
    else:
        train_loop_fn(pl.MpDeviceLoader(loader, device))
    mean = xm.mesh_reduce("losses", torch.stack(losses), lambda all_: torch.stack(all_).mean(0))
    check_collectives(index, world, device)
    assert "Metric: CompileTime" in met.metrics_report() and met.counter_value("UncachedCompile") > 0
    xm.save({"losses": mean, "model": model.state_dict()}, flags["path"], global_master=True)
    xm.master_print("trained by", world, flush=True)


if __name__ == "__main__":
    flags = {"name": sys.argv[1], "path": sys.argv[2]}
    if sys.argv[3] == "launch":
        torch_xla.launch(_mp_fn, args=(flags | {"loader": "device"},))
    else:
        xmp.spawn(_mp_fn, args=(flags | {"loader": "parallel"},), nprocs=None, start_method="fork")
