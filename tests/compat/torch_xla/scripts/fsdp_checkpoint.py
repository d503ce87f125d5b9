"""A classic FSDP script: units by a policy, checkpointed; shards saved by each rank, loaded, and made one model."""

import functools
import sys

import models
import torch
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_multiprocessing as xmp
from torch_xla.distributed.fsdp import (
    XlaFullyShardedDataParallel,
    checkpoint_module,
    consolidate_sharded_model_checkpoints,
)
from torch_xla.distributed.fsdp.wrap import transformer_auto_wrap_policy

FSDP = XlaFullyShardedDataParallel


def wrapped(name, device):
    policy = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={models.LlamaBlock})
    return FSDP(
        models.build(name).to(device),
        compute_dtype=torch.float32,
        flatten_parameters=False,
        shard_param_on_dim_0=True,
        pin_layout_in_collective_ops=True,
        auto_wrap_policy=policy,
        auto_wrapper_callable=lambda m, *args, **kwargs: FSDP(checkpoint_module(m), *args, **kwargs),
    )


def saved(model, optimizer, path):
    state = {"model": model.state_dict(), "shard_metadata": model.get_shard_metadata()}
    xm.save(state | {"optimizer": optimizer.state_dict()}, path, master_only=False)


def _mp_fn(index, name, path):
    device, world = xm.xla_device(), xm.xrt_world_size()
    file = f"{path}_rank-{index:08d}-of-{world:08d}.pth"
    model = wrapped(name, device)
    assert sum(isinstance(m, FSDP) for m in model.modules()) == 3 and isinstance(model[1], FSDP)
    optimizer = models.optimizer_of(name, model.parameters())
    losses = []
    for step, (x, y) in enumerate(models.batches(name)):
        if step == 10:
            saved(model, optimizer, file)
            model = wrapped(name, device)
            optimizer = models.optimizer_of(name, model.parameters())
            checkpoint = torch.load(file, map_location="cpu")
            model.load_state_dict(checkpoint["model"])
            optimizer.load_state_dict(checkpoint["optimizer"])
        optimizer.zero_grad()
        loss = models.loss_of(model, x[index::world].to(device), y[index::world].to(device))
        loss.backward()
        assert model.clip_grad_norm_(1e3).item() < 1e3
        optimizer.step()
        xm.mark_step()
        losses.append(loss.detach())
    saved(model, optimizer, file)
    mean = xm.mesh_reduce("losses", torch.stack(losses), lambda all_: torch.stack(all_).mean(0))  # all have saved
    if xm.is_master_ordinal(local=False):
        whole, full = consolidate_sharded_model_checkpoints(f"{path}_rank")
        assert torch.load(full)["model"].keys() == whole.keys()
        xm.save({"losses": mean, "model": whole}, path)  # on one rank alone


if __name__ == "__main__":
    xmp.spawn(_mp_fn, args=tuple(sys.argv[1:]))
