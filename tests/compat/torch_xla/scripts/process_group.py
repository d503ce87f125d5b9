"""`init_process_group("xla")` with DDP, and FSDP, in two processes."""

import sys

import models
import torch
import torch.distributed as dist
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_backend
from torch.nn.parallel import DistributedDataParallel
from torch_xla.distributed.fsdp import XlaFullyShardedDataParallel


def _mp_fn(index, name, path, how):
    device = torch_xla.device()
    if how == "ddp":
        dist.init_process_group("xla", init_method="xla://")
        model = DistributedDataParallel(models.build(name).to(device), gradient_as_bucket_view=True)
    else:
        model = XlaFullyShardedDataParallel(models.build(name))
    world = xm.xrt_world_size()
    optimizer = models.optimizer_of(name, model.parameters())
    losses = []
    for x, y in models.batches(name):
        optimizer.zero_grad()
        loss = models.loss_of(model, x[index::world].to(device), y[index::world].to(device))
        loss.backward()
        optimizer.step()
        xm.mark_step()
        losses.append(loss.detach())
    mean = xm.all_reduce("sum", torch.stack(losses), 1 / world)
    whole = lambda t: t.full_tensor() if hasattr(t, "full_tensor") else t  # noqa: E731
    xm.save({"losses": mean, "model": {k: whole(v) for k, v in model.module.state_dict().items()}}, path)


if __name__ == "__main__":
    torch_xla.launch(_mp_fn, args=tuple(sys.argv[1:]))
