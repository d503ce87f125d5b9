"""`torch.optim.swa_utils.AveragedModel` in a traced run.

Its update reads the update count on the host: the first update copies the parameters, later ones average them. A trace
computes both and selects on the device.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.optim.swa_utils import AveragedModel

from .._torch import NAME
from ..trace.core import is_unknown
from ..trace.transfer import read


class _Later:
    """An update count that compares as greater than 0."""

    def __init__(self, count: torch.Tensor) -> None:
        self.count = count
        self.to = count.to

    def __eq__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return True

    def __iadd__(self, more: int) -> torch.Tensor:
        return self.count.add_(more)

    __hash__ = None  # type: ignore[assignment]


def traced_update(averaged: AveragedModel) -> Callable[[torch.nn.Module], None]:
    """`averaged.update_parameters` for a count whose value is unknown while tracing."""
    plain = averaged.update_parameters

    def tensors(module: torch.nn.Module) -> Iterable[torch.Tensor]:
        return itertools.chain(module.parameters(), module.buffers() if averaged.use_buffers else ())

    def update(model: torch.nn.Module) -> None:
        count: Any = averaged.n_averaged
        if count.device.type != NAME or not is_unknown(read(count)):
            plain(model)
            return
        first = count == 0
        averaged.__dict__["n_averaged"] = _Later(count)  # attribute lookup finds this before the buffer
        try:
            plain(model)
        finally:
            del averaged.__dict__["n_averaged"]
        with torch.no_grad():
            for ours, theirs in zip(tensors(averaged.module), tensors(model), strict=True):
                ours.copy_(torch.where(first, theirs.to(ours.device), ours))

    return update


def move_counts(modules: Iterable[torch.nn.Module]) -> bool:
    """Move the update counts of averaged models to the devices of their parameters. Return whether any moved."""
    moved = False
    for module in modules:
        if isinstance(module, AveragedModel) and module.n_averaged.device.type == "cpu":
            device = next((p.device for p in module.parameters() if p.device.type == NAME), None)
            if device is not None:
                module.n_averaged = module.n_averaged.to(device)
                moved = True
    return moved
