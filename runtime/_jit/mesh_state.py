"""Moves state that a step keeps between calls to the mesh that the step computes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import torch
from jax.sharding import NamedSharding, PartitionSpec

from ..storage.tensors import cell_of
from .outputs import is_device_tensor
from .traced_step import TracedStep


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
    new = {i: jax.device_put(array, replicated) for i, array in {id(array): array for array in old.values()}.items()}
    for cell, array in old.items():
        cell.write(new[id(array)])  # cells on one array stay on one
    return bool(joining)
