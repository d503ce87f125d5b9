"""The operands of a call that come from the host: numbers, random keys and uploaded tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ..storage.placement import put
from .host_inputs import HostInput
from .host_script import HostScript
from .rng_inputs import RngInputs
from .traced_step import TracedInputs


class HostOperands:
    """Runs the host script of each call, and makes the operands that come from the host."""

    __slots__ = ("_array", "_words", "index", "numbered", "rng", "script", "uploads")

    def __init__(self, inputs: TracedInputs, index: int) -> None:
        """`index` is that of the program's device."""
        self.script: HostScript = inputs.script
        self.rng: RngInputs = inputs.rng
        self.uploads: tuple[HostInput, ...] = inputs.uploads
        self.numbered = bool(inputs.numbers)
        self.index = index
        self._words = b""  # the last call's numbers
        self._array: jax.Array | None = None  # the array that holds them

    def __bool__(self) -> bool:
        return bool(self.script.entries or self.rng or self.uploads)

    def __len__(self) -> int:
        """The number of host operands of a call."""
        return self.numbered + bool(self.rng) + len(self.uploads)

    def arrays(self, arguments: Sequence[Any]) -> list[jax.Array]:
        """The operands of one call: the numbers, uint32[n, 3]; the keys, uint32[n, 2]; the uploads.

        A number is passed as the two words of its float64 and the word of its float32, because TPUs emulate float64.
        """
        operands: list[jax.Array] = []
        numbers = self.script.play(arguments)
        if self.numbered:
            values = np.asarray(numbers, np.float64)
            if (words := values.tobytes()) != self._words:  # they seldom change between calls
                with np.errstate(over="ignore"):
                    single = values.astype(np.float32)
                both = [values.view(np.uint32).reshape(-1, 2), single.view(np.uint32).reshape(-1, 1)]
                self._words, self._array = words, put(np.concatenate(both, 1), self.index)
            operands.append(self._array)  # type: ignore[arg-type]
        if self.rng:
            operands.append(put(self.rng.keys(), self.index))
        return operands + [upload.array(arguments) for upload in self.uploads]
