"""Pipeline parallelism on device "jax": each process has some of the layers, and batches flow through in parts.

    torchrun --nproc-per-node 2 examples/pipeline.py
    torchrun --nproc-per-node 4 examples/pipeline.py --schedule 1f1b
    torchrun --nproc-per-node 2 examples/pipeline.py --schedule interleaved

The schedules are those of `torch.distributed.pipelining`. An interleaved one gives each process two stages that do not
follow each other, so that processes wait less.
"""

from __future__ import annotations

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe, ScheduleInterleaved1F1B

import tenax  # noqa: F401  (registers device "jax" and the backend "tenax")

WIDTH, CLASSES, PARTS = 32, 4, 4
SCHEDULES = {"gpipe": ScheduleGPipe, "1f1b": Schedule1F1B, "interleaved": ScheduleInterleaved1F1B}


def stage_of(index: int, stages: int) -> nn.Module:
    """The layers of a stage; the first reads features, the last gives classes."""
    torch.manual_seed(index)
    inner = nn.Sequential(nn.Linear(16 if index == 0 else WIDTH, WIDTH), nn.Tanh())
    return nn.Sequential(inner, nn.Linear(WIDTH, CLASSES)) if index == stages - 1 else inner


def train(schedule: str, steps: int) -> list[float]:
    """The losses of the steps, on the rank that has the last stage; elsewhere nothing."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    own = 2 if schedule == "interleaved" else 1
    numbers = [rank + i * ranks for i in range(own)]
    modules = [stage_of(n, own * ranks).to("jax") for n in numbers]
    device = torch.device("jax")
    stages = [PipelineStage(m, n, own * ranks, device) for m, n in zip(modules, numbers, strict=True)]
    pipeline = SCHEDULES[schedule](stages if own > 1 else stages[0], PARTS, loss_fn=nn.functional.cross_entropy)
    optimizer = torch.optim.AdamW([p for m in modules for p in m.parameters()], lr=1e-2)
    generator = torch.Generator().manual_seed(0)
    losses = []
    for _ in range(steps):
        x = torch.randn(64, 16, generator=generator)
        y = x[:, :CLASSES].argmax(1)
        parts: list[torch.Tensor] = []
        inputs = (x.to("jax"),) if rank == 0 else ()
        last = {"target": y.to("jax"), "losses": parts} if rank == ranks - 1 else {}
        pipeline.step(*inputs, **last)
        optimizer.step()
        optimizer.zero_grad()
        if parts:
            losses.append(torch.stack(parts).mean().item())
    return losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schedule", choices=SCHEDULES, default="gpipe")
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    dist.init_process_group("tenax")
    losses = train(options.schedule, options.steps)
    for i in range(0, len(losses), max(1, options.steps // 5)):
        print(f"step {i:3}: loss {losses[i]:.4f}")
    if losses:
        print(f"step {len(losses) - 1:3}: loss {losses[-1]:.4f}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
