"""What the programs share: their table, a training loop, and the comparison of their results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Run = Callable[[str], Any]  # the name of a device to tensors
PROGRAMS: dict[str, Run] = {}
CLASSICS: dict[str, str] = {}  # what the programs do that need no library but torch
ALLOWED = 1e-3  # relative error of a program of several steps


def program(function: Run) -> Run:
    """Register a program under its library's name, with `-` for `_`."""
    PROGRAMS[function.__name__.replace("_", "-")] = function
    return function


def classic(does: str) -> Callable[[Run], Run]:
    """Register a program that needs no library but torch, and what it does."""

    def register(function: Run) -> Run:
        CLASSICS[function.__name__.replace("_", "-")] = does
        return program(function)

    return register


def train(model: torch.nn.Module, loss: Callable[[torch.nn.Module], torch.Tensor], steps: int = 3) -> Any:
    """The losses of a few steps of SGD, and the trained parameters."""
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=0.01)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss(model)
        value.backward()
        optimizer.step()
        losses.append(value.detach())
    return torch.stack(losses), [p.detach() for p in trained]


def difference(found: Any, expected: Any, least: float = 1e-6) -> float:
    """The largest error, relative to the largest value of each tensor, or to `least` if that is more.

    Raises:
        ValueError: shapes or dtypes differ, a result is not finite, or none is on the device.
    """
    worst = 0.0
    ours, theirs = (torch.utils._pytree.tree_leaves(results) for results in (found, expected))
    if not any(x.device.type == "jax" for x in ours):
        raise ValueError("no result is on the device")
    for x, y in zip(ours, theirs, strict=True):
        if x.shape != y.shape or x.dtype != y.dtype:
            raise ValueError(f"{tuple(x.shape)} {x.dtype}; expected {tuple(y.shape)} {y.dtype}")
        a, b = x.detach().cpu().double(), y.detach().double()
        if not (a.isfinite().all() and b.isfinite().all()):
            raise ValueError("results are not finite")
        if b.numel():
            worst = max(worst, float((a - b).abs().max() / b.abs().max().clamp(min=least)))
    return worst
