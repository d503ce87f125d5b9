"""Prepares the state that a step keeps between calls, so that its first call and all later ones run the same program.

Before the first step is traced, the state is created that optimizers and scalers make in it; what the step does not use
is removed again. State is moved to the mesh that a step computes on, and step counts share an array while they are
equal.
"""

from __future__ import annotations

import inspect
from collections.abc import Container, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import torch
from jax.sharding import NamedSharding, PartitionSpec

from ..storage.cell import Cell
from ..storage.placement import moved
from ..storage.tensors import NAME, cell_of, covers_array
from .optimizer_parts import move_update_counts
from .outputs import is_device_tensor
from .state_graph import StateGraph
from .traced_step import TracedStep
from .wrappers import parts_of


class OptimizerStateInit:
    """The state that was created for the optimizers, scalers and averaged models in a state graph."""

    def __init__(self, graph: StateGraph) -> None:
        self.parameters: list[tuple[Any, torch.Tensor]] = []  # parameters that got state, with their optimizers
        self.scalers: list[Any] = []
        for _, optimizer in graph.reached.optimizers.values():
            # torch's optimizers have this method; others create their state in the first step.
            if hasattr(optimizer, "_init_group"):
                for group in optimizer.param_groups:
                    self._init_group(optimizer, group)
        self.moved = _move_step_counts(graph)
        _share_equal_counts(graph)
        self.moved |= move_update_counts(module for _, module in graph.reached.modules.values())
        for _, scaler in graph.reached.scalers.values():
            if scaler._enabled and scaler._scale is None and scaler._device == NAME:
                scaler._lazy_init_scale_growth_tracker(torch.device(NAME))
                self.scalers.append(scaler)

    def __bool__(self) -> bool:
        return bool(self.parameters or self.scalers or self.moved)

    def _init_group(self, optimizer: Any, group: dict[str, Any]) -> None:
        state = optimizer.state
        without = [p for p in group["params"] if not state.get(p)]
        begin = [p for p in without if p.device.type == NAME and (p.requires_grad or p.grad is not None)]
        if not begin:
            return
        lists: list[list[Any]] = [[] for _ in list(inspect.signature(optimizer._init_group).parameters)[1:]]
        capturable, without_gradient = group.get("capturable"), [p for p in begin if p.grad is None]
        for p in without_gradient:  # an optimizer creates state only for parameters that have one
            p.grad = torch.zeros_like(p)
        if capturable is False and not group.get("fused"):  # so that the step counts are on the device
            group["capturable"] = True
        try:
            optimizer._init_group(group, *lists)
        finally:
            for p in without_gradient:
                p.grad = None
            if capturable is not None:
                group["capturable"] = capturable
        if isinstance(optimizer, torch.optim.SGD) and group["momentum"] and not group["dampening"]:
            for p in begin:  # the first step stores the gradient, which is also what it adds to zeros
                state[p]["momentum_buffer"] = torch.zeros_like(p)
        for p in without:  # parameters on other devices may have gradients, too
            if p.device.type == NAME and state.get(p):
                self.parameters.append((optimizer, p))
            else:
                state.pop(p, None)

    def remove_unused(self, used: Container[Cell]) -> bool:
        """Remove created state that has no cell in `used`. Return whether there was any."""
        removed = False
        for optimizer, p in self.parameters:
            tensors = [v for v in optimizer.state[p].values() if isinstance(v, torch.Tensor)]
            if not any(cell_of(part) in used for t in tensors for part in parts_of(t).values()):
                del optimizer.state[p]
                removed = True
        for scaler in self.scalers:
            if cell_of(scaler._scale) not in used:
                scaler._scale = scaler._growth_tracker = None
                removed = True
        return removed


def _move_step_counts(graph: StateGraph) -> bool:
    """Move the step counts of optimizers to the devices of their parameters. Return whether any moved."""
    moved = False
    for _, optimizer in graph.reached.optimizers.values():
        for parameter, state in optimizer.state.items():
            count = state.get("step") if isinstance(state, dict) else None
            if isinstance(count, torch.Tensor) and count.device.type == "cpu" and parameter.device.type == NAME:
                state["step"] = count.to(parameter.device)
                moved = True
    return moved


def _share_equal_counts(graph: StateGraph) -> None:
    """Put 0-d state of equal value, such as step counts, on one array for each optimizer, so that a program computes
    once what is the same for all parameters."""
    for _, optimizer in graph.reached.optimizers.values():
        found = [
            (name, cell_of(value))
            for parameter, state in optimizer.state.items()
            for name, value in (state.items() if isinstance(parameter, torch.Tensor) else ())
            if isinstance(value, torch.Tensor) and _is_count(value) and (name == "step" or parameter.dim())
        ]
        arrays = {id(array): array for array in (cell.read() for _, cell in found)}
        values = dict(zip(arrays, jax.device_get([*arrays.values()]), strict=True))
        first: dict[Any, Cell] = {}
        for name, cell in found:
            value = values[id(cell.content)]
            lead = first.setdefault((name, cell.index, value.dtype, value.tobytes()), cell)
            if lead.content is not cell.content:
                cell.take(lead)


def join_mesh(step: TracedStep, arguments: Sequence[Any]) -> bool:
    """Replicate unplaced state over the mesh that a run met. Return whether there was any.

    JAX would copy such an array to the mesh in every call; and if the step writes it, the array is on the mesh after
    the first call, so the second call would have to recompile. Arguments differ between calls and are not moved.
    """
    shardings = [cell.aval.sharding for cell in step.inputs.touched]
    meshes = [s.mesh for s in shardings if isinstance(s, NamedSharding)]
    if not meshes:
        return False
    given = {cell_of(x) for x in arguments if isinstance(x, torch.Tensor) and is_device_tensor(x)}
    joining = [c for c in step.inputs.touched - given if not c.index and c.aval.sharding is None]
    replicated = NamedSharding(meshes[0], PartitionSpec())
    old = {cell: cell.read() for cell in joining}
    new = {i: moved(array, replicated) for i, array in {id(array): array for array in old.values()}.items()}
    for cell, array in old.items():
        cell.write(new[id(array)])  # cells on one array stay on one
    return bool(joining)


def separate_unequal(step: TracedStep) -> bool:
    """Give 0-d tensors on one array an array of their own if a run leaves them on different ones, because the program
    would not fit its second call. Return whether there were any."""
    leads = dict(step.outputs.followers)
    written = {*(cell for cell, _ in step.outputs.written), *(step.backward.written if step.backward else ())}
    groups: dict[int, dict[Cell | None, list[Cell]]] = {}
    for cell, array in step.inputs.cells.items():
        lead = leads.get(cell, cell)
        groups.setdefault(id(array), {}).setdefault(lead if lead in written else None, []).append(cell)
    parts = [part for group in groups.values() for part in [*group.values()][1:]]
    for part in parts:
        array = jnp.array(part[0].read(), copy=True)
        for cell in part:
            cell.replace(array)
    return bool(parts)


def _is_count(tensor: torch.Tensor) -> bool:
    """Whether a tensor is a 0-d array of one device."""
    if tensor.dim() or not is_device_tensor(tensor):
        return False
    cell = cell_of(tensor)
    return covers_array(tensor, cell) and cell.aval.sharding is None
