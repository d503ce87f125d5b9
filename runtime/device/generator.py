"""Makes `torch.Generator(device="jax")` a `DeviceGenerator`."""

from __future__ import annotations

from typing import Any

import torch

from .. import patches
from .._torch.device import CPU_GENERATOR
from ..storage.ordinals import NAMES
from ..storage.random import drawing


class _GeneratorMeta(type(torch.Generator)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, CPU_GENERATOR)


def install() -> None:
    """Replace `torch.Generator` with a subclass that knows the device; the C++ type itself cannot be changed."""
    patches.wrap("torch.Generator", _with_device)


def _with_device(plain: Any) -> Any:
    class Generator(plain, metaclass=_GeneratorMeta):  # type: ignore[misc]
        __doc__ = plain.__doc__

        def __new__(cls, device: Any = "cpu") -> torch.Generator:  # type: ignore[misc]
            generator = _of_device(device) if torch.device(device).type in NAMES else plain(device)
            if drawing.stream is not None:
                drawing.stream.generators[generator._cdata] = generator
            return generator

    Generator.__module__, Generator.__qualname__ = "torch", "Generator"  # which pickle imports
    return Generator


def _of_device(device: Any) -> Any:
    from .device_generator import DeviceGenerator

    return DeviceGenerator(device)
