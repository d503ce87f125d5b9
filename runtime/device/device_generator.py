"""`torch.Generator(device="jax")`, a CPU generator from which the random keys of the device are drawn."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from .._torch import NAME
from .._torch.device import CPU_GENERATOR, make_transparent
from ..errors import TraceError
from ..storage.ordinals import device_index
from ..storage.random import drawing, is_of_trace


class DeviceGenerator(CPU_GENERATOR):  # type: ignore[misc]
    """The type of `torch.Generator(device="jax")`: a CPU generator from which the device's random keys are drawn."""

    index: int

    def __new__(cls, device: Any = NAME) -> DeviceGenerator:
        """Create a generator for `device`, which must exist."""
        generator = super().__new__(cls)
        generator.index = device_index(torch.device(device))
        return generator

    def clone_state(self) -> torch.Generator:
        """A generator of the same device, in the same state."""
        return torch.Generator(self.device).set_state(self.get_state())

    def __reduce__(self) -> Any:
        _, _, state = super().__reduce__()
        return torch.Generator, (self.device,), state

    @property
    def device(self) -> torch.device:
        """The device for which the numbers are drawn."""
        return torch.device(NAME, self.index)


def _checked(name: str) -> Callable[..., Any]:
    """As in torch; in a traced function, only for a generator that the function creates, and with a known seed."""
    plain = getattr(CPU_GENERATOR, name)

    @functools.wraps(plain)
    def method(self: DeviceGenerator, *args: Any, **kwargs: Any) -> Any:
        if drawing.stream is not None and (name == "seed" or not is_of_trace(self)):
            raise TraceError(
                f"Generator.{name} in a traced function, whose program would not repeat it: call it outside, or "
                "seed a generator that the function creates"
            )
        return plain(self, *args, **kwargs)

    return method


for _name in ("manual_seed", "set_state", "get_state", "initial_seed", "seed"):
    setattr(DeviceGenerator, _name, _checked(_name))
make_transparent(DeviceGenerator)
