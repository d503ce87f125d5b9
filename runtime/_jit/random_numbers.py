"""Random numbers: each call of a compiled step draws the keys that eager calls would draw on the device.

Every call of a program would repeat the numbers that its trace draws on the host, so drawing them raises.
"""

from __future__ import annotations

import pickle
import random as host_random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import torch

from .._jax import put_on_first_device
from .._torch import NAME
from .._torch.device import CPU_GENERATOR
from ..errors import TraceError
from ..storage import random
from ..trace.tracing import TracedStream
from .lines import line_naming
from .state_graph import StateGraph

# How the state of each kind of generator is read and set.
_STATES: dict[type, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    host_random.Random: (host_random.Random.getstate, host_random.Random.setstate),
    np.random.RandomState: (np.random.RandomState.get_state, np.random.RandomState.set_state),
    np.random.Generator: (lambda g: g.bit_generator.state, lambda g, state: setattr(g.bit_generator, "state", state)),
    CPU_GENERATOR: (
        lambda g: g.get_state().numpy().tobytes(),
        lambda g, state: g.set_state(torch.frombuffer(bytearray(state), dtype=torch.uint8)),
    ),
}
_GLOBAL = (
    ("Python's random", host_random.random.__self__),  # type: ignore[attr-defined]
    ("numpy.random", np.random.rand.__self__),  # type: ignore[attr-defined]
    ("torch's generator of the CPU", torch.default_generator),
)


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


@contextmanager
def refuse_host_rng(graph: StateGraph, stream: TracedStream) -> Iterator[None]:
    """Check that a traced function draws no random numbers on the host, and does not seed.

    Args:
        graph: what the function reaches, generators included.
        stream: the device's random stream in the trace.

    Raises:
        TraceError: numbers were drawn from one of these generators, or from a global one of Python, numpy or torch, or
            the function seeds. The generators are then restored.
    """
    generators = [
        (name, generator, *next(_STATES[cls] for cls in type(generator).__mro__ if cls in _STATES))
        for name, generator in (*_GLOBAL, *graph.reached.generators.values())
    ]
    states = [get(generator) for _, generator, get, _ in generators]
    before = [*map(pickle.dumps, states)]
    yield
    changed = []
    for (name, generator, get, put), state, old in zip(generators, states, before, strict=True):
        if pickle.dumps(get(generator)) != old:
            put(generator, state)
            changed.append(name)
    draws_of(stream)  # raises first if the function seeds: torch.manual_seed changes the host's generator, too
    if changed:
        name = changed[0]
        raise TraceError(
            f"a compiled function draws random numbers on the host, from {name}"
            f"{line_naming(graph, name.rpartition('.')[2].rpartition(' ')[2])}, and every call would get the same "
            "ones: draw them on the device, or outside and pass them as a tensor"
        )
