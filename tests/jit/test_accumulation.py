"""Compiled functions whose optimizer steps in some calls only, or not at all: what a scheduler changes meanwhile needs
no new program."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import SGD, AdamW, Optimizer
from torch.optim.lr_scheduler import CosineAnnealingLR, ExponentialLR, LRScheduler, OneCycleLR

import tenax
from tenax._jit.jitted import compiled_of
from tenax.errors import TraceError
from tests.helpers.agreement import close

CALLS = 14
OPTIMIZERS: dict[str, Callable[[Any], Optimizer]] = {
    "SGD": lambda p: SGD(p, lr=0.01, momentum=0.5),
    "AdamW": lambda p: AdamW([{"params": [q]} for q in p], lr=0.1),
    "fused AdamW": lambda p: AdamW(p, lr=0.1, fused=True),
}
SCHEDULERS: dict[str, Callable[[Optimizer], LRScheduler]] = {
    "lr": lambda o: ExponentialLR(o, 0.9),
    "lr of all epochs": lambda o: CosineAnnealingLR(o, 20),
    "lr and momentum or betas": lambda o: OneCycleLR(o, 0.1, total_steps=30),
}


def accumulated(device: str, jit: Any, optimizer: str, scheduler: str, inside: bool) -> tuple[list[Any], Any]:
    """Losses and parameters of steps after each second call; the scheduler steps within the function, or outside."""
    torch.manual_seed(0)
    model = nn.Linear(4, 1).to(device)
    step_of = OPTIMIZERS[optimizer](model.parameters())
    rate = SCHEDULERS[scheduler](step_of)

    @jit
    def train(x: torch.Tensor, last: bool) -> torch.Tensor:
        loss = model(x).square().mean()
        loss.backward()
        if last:
            step_of.step()
            if inside:
                rate.step()
            step_of.zero_grad()
        return loss.detach()

    losses = []
    for call in range(CALLS):
        losses.append(train(torch.linspace(-1, 1, 12, device=device).view(3, 4) + call % 3, call % 2 == 1))
        if call % 2 and not inside:
            rate.step()
    return [*losses, *model.parameters()], train


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_accumulated_gradients_need_no_program_for_each_rate(optimizer: str, scheduler: str, inside: bool) -> None:
    expected, _ = accumulated("cpu", lambda f: f, optimizer, scheduler, inside)
    found, train = accumulated("jax", tenax.jit, optimizer, scheduler, inside)
    close(found, expected)
    assert len(compiled_of(train).history) <= 4


@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_numbers_of_groups_that_are_read_are_those_of_the_call(optimizer: str, scheduler: str, steps: bool) -> None:
    def read(device: str, jit: Any) -> tuple[list[Any], Any]:
        torch.manual_seed(0)
        model = nn.Linear(4, 1).to(device)
        step_of = OPTIMIZERS[optimizer](model.parameters())
        rate = SCHEDULERS[scheduler](step_of)
        noted: dict[str, Any] = {}

        @jit
        def train(x: torch.Tensor) -> tuple[Any, ...]:
            group = step_of.param_groups[0]
            step_of.zero_grad()
            model(x).square().mean().backward()
            with torch.no_grad():
                for p in model.parameters():
                    p.mul_(1 - group["lr"] * 0.3)
            if steps:
                step_of.step()
            noted["lr"] = group["lr"]
            return (
                group["lr"],
                group.get("momentum"),
                group.get("betas"),
                x * group["lr"],
                2 if group["lr"] > 0.05 else 3,
            )

        found = []
        for _ in range(8):
            found += [*train(torch.linspace(-1, 1, 12, device=device).view(3, 4)), dict(noted)]
            if not steps:
                step_of.step()
            rate.step()
        return [*found, *model.parameters()], train

    expected, _ = read("cpu", lambda f: f)
    found, train = read("jax", tenax.jit)
    close(found, expected)
    assert len(compiled_of(train).history) <= 5


@pytest.mark.parametrize("lr", [0.5, 1])
@pytest.mark.parametrize(
    "read",
    [
        lambda lr: lr,
        lambda lr: isinstance(lr, (int, float)),
        lambda lr: 2 if lr else 3,
        lambda lr: (round(lr), round(lr, 2)),
        copy.deepcopy,
        lambda lr: {0.5: 1, 0.35: 2}.get(lr, 3),
    ],
)
def test_what_python_does_with_a_rate_follows_its_value(read: Callable[[float], Any], lr: float) -> None:
    def run(device: str, jit: Any) -> list[Any]:
        model = nn.Linear(2, 1).to(device)
        optimizer = SGD(model.parameters(), lr=lr)
        scheduler = ExponentialLR(optimizer, 0.7)

        @jit
        def step(x: torch.Tensor) -> Any:
            model(x).sum().backward()
            found = read(optimizer.param_groups[0]["lr"])
            optimizer.step()
            return found

        found = []
        for _ in range(3):
            found.append(step(torch.ones(2, device=device)))
            scheduler.step()
        optimizer.param_groups[0]["lr"] = 0.0
        return [*found, step(torch.ones(2, device=device))]

    assert run("jax", tenax.jit) == run("cpu", lambda f: f)


def test_a_group_may_be_kept_in_a_variable() -> None:
    model = nn.Linear(2, 1).to("jax")
    optimizer = SGD(model.parameters(), lr=1.0)
    group = optimizer.param_groups[0]

    @tenax.jit
    def step(x: torch.Tensor) -> tuple[torch.Tensor, int]:
        model(x).sum().backward()
        optimizer.step()
        return torch.ones((), device="jax") * group["lr"], 2 if group["lr"] > 0.3 else 3

    found = []
    for rate in (1.0, 0.5, 0.25):
        group["lr"] = rate
        scaled, chosen = step(torch.ones(2, device="jax"))
        found.append((scaled.item(), chosen))
    assert found == [(1.0, 2), (0.5, 2), (0.25, 3)]


# SGD asks whether its momentum is 0, which the host does not know of one that a scheduler moves within the function.
@pytest.mark.parametrize(
    ("optimizer", "scheduler"),
    sorted({*itertools.product(OPTIMIZERS, SCHEDULERS)} - {("SGD", "lr and momentum or betas")}),
)
def test_a_scheduler_moves_numbers_that_are_read(optimizer: str, scheduler: str) -> None:
    def run(device: str, jit: Any) -> list[Any]:
        torch.manual_seed(0)
        model = nn.Linear(4, 1).to(device)
        step_of = OPTIMIZERS[optimizer](model.parameters())
        rate = SCHEDULERS[scheduler](step_of)
        group = step_of.param_groups[0]

        @jit
        def train(x: torch.Tensor) -> tuple[Any, ...]:
            model(x).square().mean().backward()
            before = group["lr"]
            step_of.step()
            rate.step()
            step_of.step()
            rate.step()
            return before, x.sum() * 0 + group["lr"]

        found = [x for _ in range(5) for x in train(torch.linspace(-1, 1, 12, device=device).view(3, 4))]
        return [*found, group["lr"], *model.parameters()]

    close(run("jax", tenax.jit), run("cpu", lambda f: f))


def test_the_number_that_a_scheduler_leaves_is_not_known() -> None:
    model = nn.Linear(2, 1).to("jax")
    optimizer = SGD(model.parameters(), lr=1.0)
    scheduler = ExponentialLR(optimizer, 0.5)

    @tenax.jit
    def step(x: torch.Tensor) -> float:
        model(x).sum().backward()
        optimizer.step()
        scheduler.step()
        return optimizer.param_groups[0]["lr"]

    with pytest.raises(TraceError, match=r"as it is before scheduler\.step\(\)"):
        step(torch.ones(2, device="jax"))


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(
    "read", [lambda s: s.last_epoch, lambda s: s.get_last_lr()[0], lambda s: min(1, s.last_epoch / 4)]
)
def test_attributes_of_a_scheduler_are_those_of_the_call(read: Callable[[Any], float], inside: bool) -> None:
    def run(device: str, jit: Any) -> list[Any]:
        model = nn.Linear(2, 1, bias=False).to(device)
        nn.init.ones_(model.weight)
        optimizer = SGD(model.parameters(), lr=0.5)
        scheduler = ExponentialLR(optimizer, 0.5)

        @jit
        def step(x: torch.Tensor) -> tuple[Any, ...]:
            before = read(scheduler)
            model(x * before).sum().backward()
            optimizer.step()
            if inside:
                scheduler.step()
            return before, read(scheduler)

        found = []
        for _ in range(5):
            found += step(torch.ones(2, device=device))
            if not inside:
                scheduler.step()
        return [*found, *model.parameters()]

    close(run("jax", tenax.jit), run("cpu", lambda f: f))
