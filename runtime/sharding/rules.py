"""Rules that assign a spec to each tensor of a module, and the check that a spec fits a tensor and a mesh."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from torch import nn

from ..storage.placement import trimmed


@dataclass(frozen=True, slots=True)
class Preset:
    """Rules that depend on the module that owns a tensor and on the mesh."""

    choose: Callable[[str, torch.Tensor, nn.Module, Mesh], PartitionSpec]


Rules = Mapping[str, Any] | Callable[[str, torch.Tensor], Any] | Preset


def spec_of(rules: Rules, name: str, tensor: torch.Tensor, owner: nn.Module, mesh: Mesh) -> Any:
    """The spec of a tensor by its full name, such as `layers.0.fc.weight`; None to replicate it.

    Raises:
        TypeError: `rules` are of another type.
    """
    if isinstance(rules, Preset):
        return rules.choose(name, tensor, owner, mesh)
    if isinstance(rules, PartitionSpec) or not (isinstance(rules, Mapping) or callable(rules)):
        raise TypeError(
            f"tenax.shard: got {rules!r} for a module; expected a mapping from patterns of names to PartitionSpecs, a "
            "function (name, tensor) -> PartitionSpec, or a preset of tenax.sharding"
        )
    if not isinstance(rules, Mapping):
        return rules(name, tensor)
    return next((spec for pattern, spec in rules.items() if fnmatch.fnmatchcase(name, pattern)), None)


def named_tensors(module: nn.Module) -> list[tuple[str, torch.Tensor, nn.Module]]:
    """The parameters and buffers of a module, each once, with its name and the module that owns it."""
    found: dict[int, tuple[str, torch.Tensor, nn.Module]] = {}
    for prefix, owner in module.named_modules():
        for own, tensor in (*owner._parameters.items(), *owner._buffers.items()):
            if tensor is not None:
                found.setdefault(id(tensor), (f"{prefix}.{own}" if prefix else own, tensor, owner))
    return [*found.values()]


def shardings_of(module: nn.Module, rules: Rules, mesh: Mesh) -> dict[int, NamedSharding]:
    """The shardings by rules of the tensors of a module, by the ids of these."""
    return {
        id(tensor): named_sharding(name, tensor.shape, spec_of(rules, name, tensor, owner, mesh), mesh)
        for name, tensor, owner in named_tensors(module)
    }


def named_sharding(name: str, shape: Sequence[int], spec: Any, mesh: Mesh) -> NamedSharding:
    """The sharding of a tensor's axes by a spec.

    Args:
        name: name of the tensor, for errors.
        shape: shape of the tensor.
        spec: a `PartitionSpec`, or None to replicate the tensor.
        mesh: a mesh with automatic axes.

    Raises:
        TypeError: `spec` is not a PartitionSpec.
        ValueError: the mesh lacks an axis, the spec uses one twice, has more entries than the tensor has dimensions, or
            does not divide a dimension.
    """
    if spec is None:
        spec = PartitionSpec()
    if not isinstance(spec, PartitionSpec):
        raise TypeError(f"tenax.shard: {name}: got {spec!r}; expected a jax.sharding.PartitionSpec")
    sizes = ", ".join(f"{axis}={size}" for axis, size in mesh.shape.items())
    where = f"tenax.shard: {name} of shape {[*shape]} by {spec} on the mesh ({sizes})"
    if len(spec) > len(shape):
        raise ValueError(f"{where}: the spec has {len(spec)} entries; expected at most {len(shape)}")
    used: set[str] = set()
    for d, axes in enumerate(map(axes_of, spec)):
        for axis in axes:
            if axis not in mesh.shape:
                known = ", ".join(map(repr, mesh.axis_names))
                raise ValueError(f"{where}: the mesh has no axis {axis!r}; expected one of {known}")
            if axis in used:
                raise ValueError(f"{where}: the axis {axis!r} stands twice; expected each axis once")
            used.add(axis)
        parts = math.prod(mesh.shape[axis] for axis in axes)
        if shape[d] % parts:
            raise ValueError(
                f"{where}: {parts} devices do not divide dimension {d} of size {shape[d]}; expected a multiple of "
                f"{parts} (pad the tensor), or None in the place of {spec[d]!r}"
            )
    return NamedSharding(mesh, trimmed(spec))


def axes_of(entry: Any) -> tuple[str, ...]:
    """The mesh axes of an entry of a spec."""
    if entry is None or entry is PartitionSpec.UNCONSTRAINED:
        return ()
    return (entry,) if isinstance(entry, str) else tuple(entry)
