"""DistributedDataParallel on device "jax", one process per rank.

    torchrun --nproc-per-node 2 examples/ddp.py

Each rank trains on its share of every batch. DDP averages the gradients by the collectives of JAX, so the ranks keep
the same weights.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import tenax  # noqa: F401  (registers device "jax" and the backend "tenax")


def main() -> None:
    dist.init_process_group("tenax")
    rank = dist.get_rank()

    torch.manual_seed(0)
    x = torch.randn(512, 16)
    y = (x[:, :4].sum(1) > 0).long()
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data, shuffle=True)
    loader = DataLoader(data, batch_size=32, sampler=sampler)

    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 2)).to("jax")
    model = DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    for epoch in range(3):
        sampler.set_epoch(epoch)
        total = torch.zeros((), device="jax")
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs.to("jax")), targets.to("jax"))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        dist.all_reduce(total, dist.ReduceOp.AVG)
        if rank == 0:
            print(f"epoch {epoch}: loss {total.item() / len(loader):.4f}")

    dist.destroy_process_group()


if __name__ == "__main__":
    main()
