"""`torch.Generator(device="jax")`, a CPU generator from which the random keys of the device are drawn."""

from __future__ import annotations

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

    def manual_seed(self, seed: int) -> DeviceGenerator:
        """As in torch; in a traced function, only for a generator that the function creates."""
        self._check("manual_seed")
        super().manual_seed(seed)
        return self

    def set_state(self, new_state: torch.Tensor) -> DeviceGenerator:
        """As in torch; in a traced function, only for a generator that the function creates."""
        self._check("set_state")
        super().set_state(new_state)
        return self

    def get_state(self) -> torch.Tensor:
        """As in torch; in a traced function, only for a generator that the function creates."""
        self._check("get_state")
        return super().get_state()

    def initial_seed(self) -> int:
        """As in torch; in a traced function, only for a generator that the function creates."""
        self._check("initial_seed")
        return super().initial_seed()

    def clone_state(self) -> torch.Generator:
        """A generator of the same device, in the same state."""
        return torch.Generator(self.device).set_state(self.get_state())

    def __reduce__(self) -> Any:
        _, _, state = super().__reduce__()
        return torch.Generator, (self.device,), state

    def seed(self) -> int:
        """As in torch; raises in a traced function, whose program would always get the same seed."""
        self._check("seed", known=False)
        return super().seed()

    def _check(self, method: str, known: bool = True) -> None:
        if drawing.stream is not None and not (known and is_of_trace(self)):
            raise TraceError(
                f"Generator.{method} in a traced function, whose program would not repeat it: call it outside, or "
                "seed a generator that the function creates"
            )

    @property
    def device(self) -> torch.device:
        """The device for which the numbers are drawn."""
        return torch.device(NAME, self.index)


make_transparent(DeviceGenerator)
