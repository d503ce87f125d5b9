"""Random numbers: each call of a compiled step draws the keys that eager calls would draw on the device.

Every call of a program would repeat the numbers that its trace draws on the host, so drawing them raises.
"""

from __future__ import annotations

import pickle
import random as host_random
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np
import torch

from .._jax import put_on_first_device
from .._torch import NAME, pytree
from .._torch.device import CPU_GENERATOR
from .._torch.modes import TorchDispatchMode
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
        seed, end = random.advance(self.advance)
        keys = [random.key_at(seed, end - self.advance + offset) for offset in self.offsets]
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
def refuse_host_rng(graph: StateGraph, stream: TracedStream, doubts: list[Callable[[], None]]) -> Iterator[None]:
    """Check that a traced function draws no random numbers on the host, and does not seed.

    Args:
        graph: what the function reaches, generators included.
        stream: the device's random stream in the trace.
        doubts: gets a function for each generator from which this thread or another one has drawn, which restores it.

    Raises:
        TraceError: numbers were drawn from one of these generators, or from a global one of Python, numpy or torch, or
            the function seeds. The generators are then restored.
    """
    generators = [
        (name, generator, *next(_STATES[cls] for cls in type(generator).__mro__ if cls in _STATES))
        for name, generator in _generators(graph)
    ]
    states = [get(generator) for _, generator, get, _ in generators]
    before = [*map(pickle.dumps, states)]
    yield
    changed, restoring = [], []
    for (name, generator, get, put), state, old in zip(generators, states, before, strict=True):
        if pickle.dumps(get(generator)) != old:
            changed.append(name)
            restoring.append(partial(put, generator, state))
    try:
        draws_of(stream)  # raises first if the function seeds: torch.manual_seed changes the host's generator, too
    except TraceError:
        restore_all(restoring)
        raise
    # Which thread draws from a generator of NumPy, Python cannot tell.
    told = all(isinstance(g, (CPU_GENERATOR, host_random.Random)) for name, g, *_ in generators if name in changed)
    if changed and (not told or threading.active_count() == 1):
        restore_all(restoring)
        raise drawn_on_host(graph, changed[0])
    doubts += restoring


def restore_all(restoring: Iterable[Callable[[], None]]) -> None:
    """Restore generators of the host."""
    for restore in restoring:
        restore()


def drawn_on_host(graph: StateGraph, name: str) -> TraceError:
    """The error of a function that draws from a generator of the host."""
    other = ". Or another thread has drawn them meanwhile" if threading.active_count() > 1 else ""
    return TraceError(
        f"a compiled function draws random numbers on the host, from {name}"
        f"{line_naming(graph, name.rpartition('.')[2].rpartition(' ')[2])}, and every call would get the same "
        "ones: draw them on the device, or outside and pass them as a tensor" + other
    )


def _generators(graph: StateGraph) -> list[tuple[str, Any]]:
    return [*_GLOBAL, *graph.reached.generators.values()]


def _identity(generator: Any) -> int:
    """A number that tells generators apart; torch may pass an operator another object for the same one."""
    return generator._cdata if isinstance(generator, CPU_GENERATOR) else id(generator)


class HostDraws(TorchDispatchMode):
    """Notes the generators of Python, and torch's of the CPU, from which the current thread draws.

    It slows a run down, and is for functions that are traced while other threads, such as that of a loader with random
    augmentations, draw from the same generators.
    """

    def __init__(self, graph: StateGraph) -> None:
        super().__init__()
        self.names = {_identity(generator): name for name, generator in reversed(_generators(graph))}
        self.drawn: list[str] = []  # their names

    def __enter__(self) -> HostDraws:
        self.profiler = sys.getprofile()
        sys.setprofile(self._called)  # Python's generator is written in C
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        sys.setprofile(self.profiler)

    def _called(self, frame: Any, event: str, function: Any) -> None:
        if event == "c_call":
            self._note(getattr(function, "__self__", None))

    def _note(self, generator: Any) -> None:
        if (name := self.names.get(_identity(generator))) is not None:
            self.drawn.append(name)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operator."""
        result = func(*args, **(kwargs or {}))
        if torch.Tag.nondeterministic_seeded in func.tags and any(
            isinstance(x, torch.Tensor) and x.device.type == "cpu" for x in pytree.tree_leaves(result)
        ):
            given = [x for x in (*args, *(kwargs or {}).values()) if isinstance(x, torch.Generator)]
            self._note(given[0] if given else torch.default_generator)
        return result
