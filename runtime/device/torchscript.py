"""TorchScript modules, whose tensors are moved, saved and loaded in C++."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ..storage.ordinals import NAME

Plain = Callable[..., Any]


def move(module: nn.Module, fn: Callable[[torch.Tensor], torch.Tensor]) -> nn.Module:
    """Move a module. Its parameters are new objects, tied as before."""
    moved: dict[torch.Tensor, torch.Tensor] = {}
    for tables, is_parameter in (("_parameters", True), ("_buffers", False)):
        for tensors in [getattr(part, tables) for part in module.modules()]:
            for name, tensor in tensors.items():
                if tensor is not None and tensor not in moved:
                    with torch.no_grad():
                        new = fn(tensor)
                    moved[tensor] = nn.Parameter(new, tensor.requires_grad) if is_parameter else new
                tensors[name] = None if tensor is None else moved[tensor]
    return module


def load(plain: Plain, f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
    """`torch.jit.load`, which reads the file on the CPU: C++ would write into the memory of the device."""
    if map_location is None or torch.device(map_location).type != NAME:
        return plain(f, map_location, *args, **kwargs)
    return plain(f, "cpu", *args, **kwargs).to(map_location)


def save(plain: Plain, module: nn.Module, *args: Any, **kwargs: Any) -> Any:
    """`save` of a module, of a copy on the CPU: C++ would read the memory of the device."""
    return plain(_on_host(module), *args, **kwargs)


def save_to_buffer(plain: Plain, module: nn.Module, *args: Any, **kwargs: Any) -> Any:
    """`save_to_buffer` of a module, in the same way."""
    return plain(_on_host(module), *args, **kwargs)


def _on_host(module: nn.Module) -> nn.Module:
    ours = any(t.device.type == NAME for t in (*module.parameters(), *module.buffers()))
    return copy.deepcopy(module).to("cpu") if ours else module
