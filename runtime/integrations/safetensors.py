"""Loading safetensors onto the device by its name.

The library's Rust code has a fixed list of device names, but takes a number as the index of torch's accelerator. With
upstream support, `torch.device` would read the names.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from .. import patches
from ..storage.ordinals import NAME, device_index


def install(module: str) -> None:
    """Extend `safetensors.torch`, which was just imported."""
    patches.wrap(f"{module}.load_file", _by_name)


def _by_name(plain: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(plain)
    def load_file(filename: Any, device: Any = "cpu", **options: Any) -> Any:
        if isinstance(device, (str, torch.device)) and str(device).startswith(NAME):
            device = device_index(device)
        return plain(filename, device, **options)

    return load_file
