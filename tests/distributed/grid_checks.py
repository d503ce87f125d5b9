"""What each rank of four checks: groups that overlap, and meshes of two dimensions."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

import tenax
from tests.distributed.parallel_checks import SGD, batch, close, cpu_losses, model


def check_groups_that_overlap_in_different_orders(rank: int) -> None:
    ring = [dist.new_group([i, (i + 1) % 4]) for i in range(4)]
    mine = [ring[rank], ring[rank - 1]]
    tensors = [torch.full((2,), float(rank), device="jax") for _ in mine]
    order = (0, 1) if rank % 2 else (1, 0)
    works = {i: dist.all_reduce(tensors[i], group=mine[i], async_op=True) for i in order}
    for i in (0, 1):
        works[i].wait()
    assert tensors[0].tolist() == [rank + (rank + 1) % 4] * 2
    assert tensors[1].tolist() == [rank + (rank - 1) % 4] * 2
    odd = dist.new_group([3, 1])
    if rank % 2:
        tensor = torch.full((1,), float(rank), device="jax")
        dist.broadcast(tensor, 3, group=odd)
        assert tensor.item() == 3
        rows = [torch.zeros(1, device="jax") for _ in range(2)] if rank == 3 else None
        dist.gather(torch.full((1,), 10.0 * rank, device="jax"), rows, 3, group=odd)
        assert rank != 3 or [r.item() for r in rows] == [10, 30]


def check_collectives_of_two_dimensions_in_one_program(rank: int) -> None:
    grid = init_device_mesh("jax", (2, 2), mesh_dim_names=("data", "model"))
    data, tensor = grid.get_group("data"), grid.get_group("model")

    def both(x: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        dist.all_reduce(x, group=tensor)
        y = functional.wait_tensor(functional.all_gather_tensor(x * 2, 0, data))
        dist.broadcast(y, grid.mesh[0, 1].item() + 2 * grid.get_local_rank("data"), group=tensor)
        total = y.sum()
        dist.all_reduce(total)
        return torch.cat([y, total.reshape(1)])

    step = tenax.jit(both)
    x = torch.tensor([1.0, 10.0], device="jax") ** (rank + 1)
    for _ in range(2):
        assert torch.equal(step(x).cpu(), both(x).cpu()), rank
    assert len(tenax.explain(step).programs[0].collectives) == 4
    odd = dist.new_group([0, 1, 2])
    if rank < 3:
        with pytest.raises(NotImplementedError, match="dimensions of one mesh"):
            tenax.jit(lambda x: (dist.all_reduce(x, group=odd), dist.all_reduce(x)))(x)


def check_sharded_and_tensor_parallel(rank: int) -> None:
    """FSDP2 over one dimension, tensor parallel over the other: parameters are strided shards."""
    grid = init_device_mesh("jax", (2, 2), mesh_dim_names=("data", "model"))
    net = model().to("jax")
    parallelize_module(net, grid["model"], {"second": ColwiseParallel(), "last": RowwiseParallel()})
    for layer in (net.second, net.last):
        fully_shard(layer, mesh=grid["data"])
    fully_shard(net, mesh=grid["data"])
    close(losses(net, rank // 2), cpu_losses(3))


def losses(net: nn.Module, part: int, parts: int = 2) -> list[float]:
    optimizer = SGD(net.parameters(), foreach=False)
    found = []
    for step in range(3):
        x, y = (t.chunk(parts)[part].to("jax") for t in batch(step))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean, dist.ReduceOp.AVG)
        found.append(mean.item())
    return found
