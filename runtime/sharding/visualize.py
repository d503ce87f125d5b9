"""`tenax.visualize_sharding`: pictures of the shardings of tensors and modules."""

from __future__ import annotations

import math
from typing import Any

import jax
import torch
from jax.sharding import NamedSharding
from torch import nn

from ..trace.transfer import read
from .placing import sharding_of


def visualize_sharding(x: Any) -> None:
    """Print the parts of a tensor and their devices, or a table of the tensors of a module.

    Args:
        x: a tensor on device "jax", or a module on it.

    Raises:
        TypeError: it is neither.
    """
    sharding_of(x)  # raises for what has none
    if isinstance(x, nn.Module):
        _print(_module_table(x))
    elif 0 < x.dim() <= 2:
        jax.debug.visualize_array_sharding(read(x))
    else:
        print_parts(x)


def _print(table: Any) -> None:
    from rich.console import Console

    Console().print(table)


def _module_table(module: nn.Module) -> Any:
    from rich.table import Table

    table = Table("tensor", "shape", "spec", "bytes on each device")
    for name, tensor in (*module.named_parameters(), *module.named_buffers()):
        sharding = sharding_of(tensor)
        spec = str(sharding.spec) if isinstance(sharding, NamedSharding) else str(sharding)
        part = math.prod(sharding.shard_shape(tuple(tensor.shape))) * tensor.element_size()
        table.add_row(name, str([*tensor.shape]), spec, f"{part:,}")
    return table


def print_parts(tensor: torch.Tensor) -> Any:
    """Print a table of the parts of a tensor and their devices, and return it."""
    from rich.table import Table

    parts: dict[str, list[str]] = {}
    for device, index in sharding_of(tensor).devices_indices_map(tuple(tensor.shape)).items():
        bounds = [s.indices(n) for s, n in zip(index, tensor.shape, strict=True)]
        parts.setdefault(str([f"{a}:{b}" for a, b, _ in bounds]).replace("'", ""), []).append(str(device.id))
    table = Table("part", "devices")
    for part, devices in parts.items():
        table.add_row(part, ", ".join(devices))
    _print(table)
    return table
