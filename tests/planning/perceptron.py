"""A model, its training step and its arguments, which the tests of targets compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

WIDTH = 512


def perceptron(device: str) -> tuple[nn.Module, torch.optim.Optimizer, Callable[..., torch.Tensor], tuple[Any, ...]]:
    with torch.device(device):
        model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 10))
        batch = torch.zeros(32, WIDTH), torch.zeros(32, dtype=torch.long)
    optimizer = torch.optim.AdamW(model.parameters())

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return model, optimizer, step, batch


def build() -> tuple[Callable[..., torch.Tensor], tuple[Any, ...]]:
    _, _, step, batch = perceptron("meta")
    return step, batch


def heads(requires_grad: bool = False) -> list[torch.Tensor]:
    shape = 2, 4, 256, 64
    return [torch.zeros(shape, dtype=torch.bfloat16, device="meta", requires_grad=requires_grad) for _ in "qkv"]
