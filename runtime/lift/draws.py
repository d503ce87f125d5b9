"""The random operations of a traced run: each call of its program draws for them what eager calls would draw."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ..device import random
from ..errors import TraceError
from ..tracing.trace import alias


class Draws:
    """The keys that a run asks for, as inputs of its program."""

    def __init__(self) -> None:
        self.start = random.state()
        self.offsets: list[int] = []
        self.generators: list[torch.Generator] = []
        self.known: dict[Any, jax.Array] = {}
        self.advance = 0

    def draw(self, generator: torch.Generator | None) -> jax.Array:
        """The key data of one operation, by which the trace knows it."""
        if generator is not None:
            self.generators.append(generator)
            return self._known(("generator", len(self.generators)))
        seed, offset = random.advance()
        if seed != self.start[0]:
            raise TraceError(
                "torch.manual_seed within a compiled function would seed once, not in every call; seed outside"
            )
        if offset - self.start[1] not in self.known:  # a checkpointed layer is computed again from the same state
            self.offsets.append(offset - self.start[1])
        return self._known(offset - self.start[1])

    def _known(self, place: Any) -> jax.Array:
        if place not in self.known:
            with jax.ensure_compile_time_eval():
                self.known[place] = alias(jnp.zeros(2, np.uint32))
        return self.known[place]

    def finish(self) -> None:
        """Put the device's stream back to where it was."""
        self.advance = random.state()[1] - self.start[1]
        random.restore(self.start)

    def order(self) -> list[jax.Array]:
        """The known arrays in the order in which `keys` gives the keys."""
        own = [self.known[o] for o in self.offsets]
        return own + [self.known["generator", i + 1] for i in range(len(self.generators))]

    def keys(self) -> np.ndarray:
        """The keys of one call: uint32[n, 2], n > 0."""
        seed, offset = random.state()
        keys = [random.key_at(seed, offset + o) for o in self.offsets]
        random.restore((seed, offset + self.advance))
        return np.stack([*keys, *(random.drawn(g) for g in self.generators)])
