"""State that optimizers and scalers create in their first step, made before that step is traced.

The first step and all later ones are then the same program. What the step turns out not to use is taken away again.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Container, Iterator
from typing import Any

import torch

from ..device.cell import Cell, cell_of
from . import average
from .watch import Watch


class Ready:
    """The state that was made for what a watch found."""

    def __init__(self, watch: Watch) -> None:
        self.parameters: list[tuple[Any, torch.Tensor]] = []  # with their optimizers
        self.scalers: list[Any] = []
        for optimizer in watch.optimizers:
            # Optimizers of torch have this method; what others create, they create in their first step.
            if hasattr(optimizer, "_init_group"):
                for group in optimizer.param_groups:
                    self._optimizer(optimizer, group)
        self.moved = _move_counts(watch) | average.move_counts(module for _, module in watch.modules)
        for scaler in watch.scalers:
            if scaler._enabled and scaler._scale is None and scaler._device == "jax":
                scaler._lazy_init_scale_growth_tracker(torch.device("jax"))
                self.scalers.append(scaler)

    def __bool__(self) -> bool:
        return bool(self.parameters or self.scalers or self.moved)

    def _optimizer(self, optimizer: Any, group: dict[str, Any]) -> None:
        state = optimizer.state
        new = [p for p in group["params"] if p.device.type == "jax" and p.requires_grad and not state.get(p)]
        if not new:
            return
        lists: list[list[Any]] = [[] for _ in list(inspect.signature(optimizer._init_group).parameters)[1:]]
        with _gradients(new), _capturable(group):
            optimizer._init_group(group, *lists)
        for p in new:
            if state.get(p):
                self.parameters.append((optimizer, p))
            else:
                state.pop(p, None)

    def prune(self, used: Container[Cell]) -> bool:
        """Take away what has no cell among `used`; whether there was any."""
        found = False
        for optimizer, p in self.parameters:
            tensors = [v for v in optimizer.state[p].values() if isinstance(v, torch.Tensor) and v.device.type == "jax"]
            if not any(cell_of(t) in used for t in tensors):
                del optimizer.state[p]
                found = True
        for scaler in self.scalers:
            if cell_of(scaler._scale) not in used:
                scaler._scale = scaler._growth_tracker = None
                found = True
        return found


def _move_counts(watch: Watch) -> bool:
    """Move the step counts of optimizers to the device of their parameters; whether there were any on the CPU."""
    moved = False
    for optimizer in watch.optimizers:
        for parameter, state in optimizer.state.items():
            count = state.get("step") if isinstance(state, dict) else None
            if isinstance(count, torch.Tensor) and count.device.type == "cpu" and parameter.device.type == "jax":
                state["step"] = count.to(parameter.device)
                moved = True
    return moved


@contextlib.contextmanager
def _gradients(parameters: list[torch.Tensor]) -> Iterator[None]:
    """While state is made, which is for parameters with a gradient."""
    without = [p for p in parameters if p.grad is None]
    for p in without:
        p.grad = torch.zeros_like(p)
    try:
        yield
    finally:
        for p in without:
            p.grad = None


@contextlib.contextmanager
def _capturable(group: dict[str, Any]) -> Iterator[None]:
    """While step counts are made: on the device."""
    before = group.get("capturable")
    if before is False and not group.get("fused"):
        group["capturable"] = True
    try:
        yield
    finally:
        if before is not None:
            group["capturable"] = before
