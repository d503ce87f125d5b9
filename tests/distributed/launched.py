"""What processes run that `tests/distributed/test_process_group.py` starts."""

from __future__ import annotations

import os

import torch
import torch.distributed as dist

import tenax


def late() -> None:
    torch.ones(1, device="jax").sum().item()
    dist.init_process_group("tenax", store=dist.HashStore(), rank=0, world_size=1)
    x = torch.ones(2, device="jax")
    dist.all_reduce(x)
    print("alone", x.tolist())
    dist.destroy_process_group()
    dist.init_process_group("tenax", store=dist.HashStore(), rank=0, world_size=2)


def detected() -> None:
    dist.init_process_group("tenax", init_method="jax://")
    x = torch.full((2,), 1.0 + dist.get_rank(), device="jax")
    dist.all_reduce(x)
    print("detected", dist.get_rank(), dist.get_world_size(), x.tolist(), flush=True)
    dist.destroy_process_group()


def summed(rank: int, number: int) -> None:
    x = torch.full((2,), 10.0 * number + rank, device="jax")
    for _ in range(3):
        dist.all_reduce(x, dist.ReduceOp.AVG)
    if not rank:
        print("sum of", number, x.tolist(), flush=True)


def beside_others() -> None:
    tenax.launch(summed, 2, [int(os.environ["NUMBER"])])
