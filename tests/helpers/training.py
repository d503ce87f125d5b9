"""Models, data and training steps as people write them, for tests that train on both devices."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from tests.helpers.agreement import close
from tests.helpers.tolerances import Allowance


def mlp(*sizes: int, act: type[nn.Module] = nn.Tanh) -> nn.Sequential:
    layers: list[nn.Module] = []
    for a, b in itertools.pairwise(sizes):
        layers += [nn.Linear(a, b), act()]
    return nn.Sequential(*layers[:-1])


def data(n: int = 16, features: int = 6, classes: int = 4) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(n, features, generator=generator), torch.randint(0, classes, (n,), generator=generator)


def both(model: nn.Module) -> tuple[nn.Module, nn.Module]:
    return model, copy.deepcopy(model).to("jax")


def assert_same_state(ours: nn.Module, reference: nn.Module, allowance: Allowance | None = None) -> None:
    close(ours.state_dict(), reference.state_dict(), allowance)


def train(
    model: nn.Module,
    optimizer: Callable[[Iterator[nn.Parameter]], torch.optim.Optimizer],
    loss: Callable[..., Any],
    *batch: Any,
    steps: int = 3,
    clip: float = 0.0,
    compiled: Callable[[Any], Any] = lambda step: step,
) -> list[Any]:
    """An ordinary loop: what `loss(model, *batch)` gives in each step, a loss or a tuple that begins with one."""
    chosen = optimizer(model.parameters())

    @compiled
    def step(*batch: Any) -> Any:
        chosen.zero_grad()
        results = loss(model, *batch)
        (results[0] if isinstance(results, tuple) else results).backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        chosen.step()
        return torch.utils._pytree.tree_map(torch.Tensor.detach, results)

    return [step(*batch) for _ in range(steps)]


OPTIMIZERS = {
    "SGD": {"lr": 0.1},
    "SGD momentum": {"lr": 0.1, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01},
    "SGD nesterov": {"lr": 0.1, "momentum": 0.9, "nesterov": True, "foreach": False},
    "Adam": {"lr": 0.01, "amsgrad": True},
    "AdamW": {"lr": 0.01, "weight_decay": 0.1},
    "AdamW fused": {"lr": 0.01, "fused": True},
    "AdamW single": {"lr": 0.01, "foreach": False},
    "Adamax": {"lr": 0.01},
    "NAdam": {"lr": 0.01},
    "RAdam": {"lr": 0.01},
    "RMSprop": {"lr": 0.01, "momentum": 0.9, "centered": True},
    "Rprop": {"lr": 0.01},
    "Adagrad": {"lr": 0.01, "lr_decay": 0.1},
    "Adadelta": {"lr": 0.5},
    "ASGD": {"lr": 0.01},
    "Adafactor": {"lr": 0.01},
}


def trainer(model: nn.Module, kind: str, options: dict[str, object], decay: bool = True, zero_last: bool = False):
    """A training step as people write it, and its optimizer."""
    optimizer = getattr(torch.optim, kind.split()[0])(model.parameters(), **options)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9) if decay else None

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if not zero_last:
            optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if schedule is not None:
            schedule.step()
        if zero_last:
            optimizer.zero_grad()
        return loss

    return step, optimizer
