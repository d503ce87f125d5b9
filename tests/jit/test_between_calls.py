"""Between calls of a compiled module its weights may be read, written, saved, moved and trained."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import tenax
from tests.helpers.agreement import agree, close
from tests.helpers.tolerances import COMPOSED, SUMMED
from tests.helpers.training import both


def predicts_alike(compiled: nn.Module, reference: nn.Module) -> None:
    x = torch.randn(2, 3, 5, 5, dtype=next(reference.parameters()).dtype)
    with torch.no_grad():
        agree(compiled(x.to("jax")), reference(x), COMPOSED)


def _save(m: nn.Module) -> None:
    torch.save(m.state_dict(), file := io.BytesIO())
    file.seek(0)
    m.load_state_dict(torch.load(file, weights_only=True))


def _swap(m: nn.Module) -> None:
    m[0].weight.data = m[0].weight.data * 2


def _train(m: nn.Module) -> None:
    optimizer = torch.optim.SGD(m.parameters(), 0.1, momentum=0.9)
    step: Any = lambda x: (m(x).square().mean().backward(), optimizer.step(), optimizer.zero_grad())  # noqa: E731
    step = tenax.jit(step) if m[0].weight.device.type == "jax" else step
    for _ in range(2):
        step(torch.ones(2, 3, 5, 5, device=m[0].weight.device))


def _move(m: nn.Module) -> None:
    device = m[0].weight.device
    m.to("cpu").to(device)


BETWEEN: dict[str, Callable[[nn.Module], Any]] = {
    "nothing": lambda m: None,
    "a read": lambda m: m[0].weight.sum(),
    "a write": lambda m: m[0].weight.data.mul_(2),
    "a whole write": lambda m: nn.init.constant_(m[0].weight, 0.5),
    "a write to a view": lambda m: m[0].weight.data[1].zero_(),
    "a view of another dtype": lambda m: m[0].weight.data.view(torch.int32).zero_(),
    "data": _swap,
    "saved and loaded": _save,
    "trained": _train,
    "a deep copy": lambda m: copy.deepcopy(m)[0].weight.data.zero_(),
    "an eager call": lambda m: m(torch.ones(2, 3, 5, 5, device=m[0].weight.device)),
    "to float64 and back": lambda m: m.double().float(),
    "to the CPU and back": _move,
    "a clone": lambda m: m[0].weight.data.clone().zero_(),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_what_happens_between_calls_counts(name: str) -> None:
    theirs, ours = both(nn.Sequential(nn.Conv2d(3, 6, 3), nn.ReLU(), nn.Conv2d(6, 4, (2, 1))))
    compiled = tenax.jit(ours)
    for _ in range(2):
        predicts_alike(compiled, theirs)
        for module in (theirs, ours):
            BETWEEN[name](module)
    predicts_alike(compiled, theirs)
    for mine, wanted in zip(ours.parameters(), theirs.parameters(), strict=True):
        close(mine, wanted)


def test_an_average_of_trained_weights_agrees_with_the_cpu() -> None:
    results = []
    for device in ("cpu", "jax"):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Conv1d(2, 4, 3), nn.Tanh(), nn.Conv1d(4, 2, 3)).to(device)
        average = copy.deepcopy(model).requires_grad_(False)
        predict = tenax.jit(average) if device == "jax" else average
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        losses = []
        for i in range(6):
            x = torch.full((2, 2, 8), 0.1 * i, device=device)
            model(x).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            with torch.no_grad():
                for a, p in zip(average.parameters(), model.parameters(), strict=True):
                    a.lerp_(p, 0.2)
                losses.append(predict(x).sum().item())
        results.append(losses)
    close(torch.tensor(results[1]), torch.tensor(results[0]), SUMMED)
