"""Random keys as inputs: each call of a compiled step draws the keys that eager calls would draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import torch

from .._jax import put_on_first_device
from .._torch import NAME
from ..errors import TraceError
from ..storage import random
from ..trace.random_stream import TracedStream


@dataclass(frozen=True, slots=True)
class RngInputs:
    """The keys of one compiled step, in the order of its inputs."""

    offsets: tuple[int, ...]  # in the device's stream, relative to its position when a call begins
    generators: tuple[torch.Generator, ...]  # generators passed to operations; a key is drawn from each
    advance: int  # how far a call advances the device's stream

    def __bool__(self) -> bool:
        return bool(self.offsets or self.generators)

    def keys(self) -> np.ndarray:
        """Draw the keys of one call: uint32[n, 2], n > 0."""
        seed, offset = random.state()
        keys = [random.key_at(seed, offset + o) for o in self.offsets]
        random.restore((seed, offset + self.advance))
        return np.stack([*keys, *(random.draw_key(g) for g in self.generators)])


class RngRecorder:
    """Hands out placeholder keys to a traced run and records them."""

    def __init__(self) -> None:
        self.by_offset: dict[int, jax.Array] = {}
        self.by_generator: list[tuple[torch.Generator, jax.Array]] = []

    def draw(self, generator: torch.Generator | None) -> jax.Array:
        """The placeholder array of one operation's key, uint32[2]; after the run has seeded, the key itself."""
        if generator is not None:
            self.by_generator.append((generator, _placeholder()))
            return self.by_generator[-1][1]
        position = random.advance()
        offset = random.drawing.stream.draws
        if offset is None:
            return put_on_first_device(random.key_at(*position))
        if offset not in self.by_offset:  # a checkpointed layer draws again from the same state
            self.by_offset[offset] = _placeholder()
        return self.by_offset[offset]

    def finish(self, stream: TracedStream) -> tuple[RngInputs, tuple[jax.Array, ...]]:
        """The inputs, and their placeholder arrays."""
        inputs = RngInputs(tuple(self.by_offset), tuple(g for g, _ in self.by_generator), draws_of(stream))
        return inputs, (*self.by_offset.values(), *(array for _, array in self.by_generator))


def draws_of(stream: TracedStream) -> int:
    """The number of draws of a run from the device's stream.

    Raises:
        TraceError: the run seeded the stream, and did not restore it.
    """
    if stream.draws is None:
        raise TraceError(
            f"a compiled function seeds (torch.manual_seed, torch.{NAME}.set_rng_state), which its program would not "
            f"repeat: seed outside, or within torch.random.fork_rng(device_type={NAME!r}), or draw from a "
            f"torch.Generator(device={NAME!r}) that the function creates"
        )
    return stream.draws


def _placeholder() -> Any:
    return put_on_first_device(np.zeros(2, np.uint32))
