"""One program over a mesh: parameters and batches are marked, or the module is wrapped for FSDP."""

import sys

import models
import numpy as np
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr
from torch_xla.experimental.spmd_fully_sharded_data_parallel import SpmdFullyShardedDataParallel as FSDPv2

import tenax

name, path, how = sys.argv[1:]
xr.use_spmd()
assert xr.is_spmd()
devices = xr.global_runtime_device_count()
assert devices == 4
mesh = xs.Mesh(np.arange(devices), (2, 2), ("fsdp", "tensor"))
xs.set_global_mesh(mesh)
assert dict(xs.get_global_mesh().shape()) == {"fsdp": 2, "tensor": 2}
device = torch_xla.device()
model = models.build(name).to(device)
if how == "fsdp":
    model = FSDPv2(model, mesh)
else:
    for parameter_name, parameter in model.named_parameters():
        if "down_proj" in parameter_name:
            xs.mark_sharding(parameter, mesh, ("fsdp", "tensor"))
        elif "_proj" in parameter_name:
            xs.mark_sharding(parameter, mesh, ("tensor", "fsdp"))
    assert isinstance(model[1].up_proj.weight, xs.XLAShardedTensor)
    assert not isinstance(model[3].weight, xs.XLAShardedTensor)
optimizer = models.optimizer_of(name, model.parameters())
loader = pl.MpDeviceLoader(models.batches(name), device, input_sharding=xs.ShardingSpec(mesh, ("fsdp", None)))


def step_fn(x, y):
    hidden = torch.nn.functional.linear(model.get_submodule("module")[0](x) if how == "fsdp" else model[0](x), probe)
    xs.mark_sharding(hidden, mesh, (("fsdp", "tensor"), None, None))
    assert tenax.sharding_of(hidden).shard_shape((16, 6, 8)) == (4, 6, 8)
    optimizer.zero_grad()
    loss = models.loss_of(model, x, y)
    loss.backward()
    optimizer.step()
    return loss


probe = torch.randn(8, 16, device=device)
losses = []
for x, y in loader:
    assert isinstance(x, xs.XLAShardedTensor)
    with torch_xla.step():
        losses.append(step_fn(x, y).detach())
weight = (model.module if how == "fsdp" else model)[1].down_proj.weight
assert tenax.sharding_of(weight).shard_shape((16, 32)) == ((16, 16) if how == "fsdp" else (8, 16))
state = (model.module if how == "fsdp" else model).state_dict()
xm.save({"losses": torch.stack(losses), "model": state}, path)
xs.clear_sharding(weight)
assert not isinstance(weight, xs.XLAShardedTensor)
