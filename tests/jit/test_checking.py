"""`tenax.jit(check=n)` compares calls with eager mode."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
from torch import nn

import tenax
from tests.helpers.agreement import close
from tests.helpers.tolerances import ACCUMULATED


def trained(check: int) -> tuple[list[float], tuple[Any, ...]]:
    """The losses of five steps, and what they left on the host."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.BatchNorm1d(8), nn.Linear(8, 1)).to("jax")
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    seen: list[int] = []

    @tenax.jit(check=check)
    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        schedule.step()
        seen.append(len(seen))
        return loss.detach()

    # Of equal rows, the gradients through the normalization would be rounding errors.
    losses = [step(x).item() for x in torch.randn(5, 6, 4).to("jax")]
    return losses, (seen, schedule.last_epoch, torch.rand((), device="jax").item())


@pytest.mark.parametrize("check", [1, 2])
def test_a_checked_step_trains_as_an_unchecked_one(check: int) -> None:
    losses, left = trained(0)
    checked, after = trained(check)
    assert after == left
    close(torch.tensor(checked), torch.tensor(losses), ACCUMULATED)


def test_a_change_that_no_guard_notices_is_reported() -> None:
    lock = threading.Lock()
    scaled = tenax.jit(lambda x: x * (1 + lock.locked()), check=True)
    x = torch.ones(3, device="jax")
    scaled(x)
    with lock, pytest.raises(tenax.CheckError, match=r"result 0 differs .* by 1, of values up to"):
        scaled(x)


def test_a_module_is_checked() -> None:
    model = tenax.jit(nn.Linear(3, 2).to("jax"), check=1)
    x = torch.ones(1, 3, device="jax")
    model(x).sum().backward()
    assert model.weight.grad is not None
