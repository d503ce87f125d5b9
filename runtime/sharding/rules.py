"""Rules that assign a spec to each tensor of a module."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jax.sharding import Mesh, PartitionSpec
from torch import nn


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
