"""A step of training in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch
import torch.nn.functional as F  # noqa: N812 (as everybody writes it)
from torch import nn

T = TypeVar("T")
Step = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def cross_entropy(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The mean over all positions; the classes are the last axis."""
    return F.cross_entropy(logits.flatten(0, -2), target.flatten())


def train_step(module: nn.Module, optimizer: torch.optim.Optimizer) -> Step:
    """A function of a batch and its targets that gives the loss."""

    def step(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = cross_entropy(module(x), target)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def finished(run: Callable[[], T], device: str) -> Callable[[], T]:
    """`run`, and a wait until the device has finished all work: a loss is there before the parameters are updated."""
    if device == "cpu":
        return run

    def wait() -> T:
        result = run()
        torch.get_device_module(device).synchronize()
        return result

    return wait
