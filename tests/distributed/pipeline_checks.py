"""What each rank of two checks about pipelines: losses and weights are those of the CPU."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe, ScheduleInterleaved1F1B

from tests.helpers.agreement import close
from tests.helpers.tolerances import COMPOSED

SIZE, PARTS, WIDTH = 2, 4, 8


def layers(count: int) -> list[nn.Module]:
    torch.manual_seed(0)
    return [nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh()) for _ in range(count)]


def trained_as_on_the_cpu(rank: int, schedule: Any, own: int) -> None:
    """Two steps of SGD; the last rank compares its losses, and each rank its weights."""
    count = SIZE * own
    whole, mine = layers(count), layers(count)
    numbers = [rank + i * SIZE for i in range(own)]
    modules = [mine[n].to("jax") for n in numbers]
    stages = [PipelineStage(m, n, count, torch.device("jax")) for m, n in zip(modules, numbers, strict=True)]
    pipeline = schedule(stages if own > 1 else stages[0], PARTS, loss_fn=nn.functional.mse_loss)
    optimizers = [torch.optim.SGD(nn.ModuleList(m).parameters(), lr=0.5) for m in (whole, modules)]
    for _ in range(2):
        x, y = torch.randn(8, WIDTH), torch.randn(8, WIDTH)
        expected = nn.functional.mse_loss(nn.Sequential(*whole)(x), y)
        expected.backward()
        losses: list[torch.Tensor] = []
        last = {"target": y.to("jax"), "losses": losses} if rank == SIZE - 1 else {}
        pipeline.step(*((x.to("jax"),) if rank == 0 else ()), **last)
        if rank == SIZE - 1:
            close(torch.stack(losses).mean().cpu(), expected.detach(), COMPOSED)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
    for n in numbers:
        close(mine[n].state_dict(), whole[n].state_dict(), COMPOSED)


def check_gpipe(rank: int) -> None:
    trained_as_on_the_cpu(rank, ScheduleGPipe, 1)


def check_1f1b(rank: int) -> None:
    trained_as_on_the_cpu(rank, Schedule1F1B, 1)


def check_interleaved_1f1b(rank: int) -> None:
    trained_as_on_the_cpu(rank, ScheduleInterleaved1F1B, 2)
