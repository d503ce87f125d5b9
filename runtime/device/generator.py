"""`torch.Generator(device="jax")`."""

from __future__ import annotations

from typing import Any

import torch

from .. import patches
from ..storage.ordinals import NAMES, device_index


class DeviceGenerator(torch.Generator):
    """The type of `torch.Generator(device="jax")`: a CPU generator from which the device's random keys are drawn."""

    index: int

    def __new__(cls, device: Any = "jax") -> DeviceGenerator:
        """Create a generator for `device`, which must exist."""
        generator = super().__new__(cls)
        generator.index = device_index(torch.device(device))
        return generator

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The device for which the numbers are drawn."""
        return torch.device("jax", self.index)


class _GeneratorMeta(type(torch.Generator)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, DeviceGenerator.__base__)  # type: ignore[arg-type]


def install() -> None:
    """Replace `torch.Generator` with a subclass that knows the device; the C++ type itself cannot be changed."""
    patches.wrap("torch.Generator", _with_device)


def _with_device(plain: Any) -> Any:
    class Generator(plain, metaclass=_GeneratorMeta):  # type: ignore[misc]
        __doc__ = plain.__doc__

        def __new__(cls, device: Any = "cpu") -> torch.Generator:  # type: ignore[misc]
            ours = torch.device(device).type in NAMES
            return DeviceGenerator(device) if ours else plain(device)

    Generator.__module__ = plain.__module__
    return Generator
