"""Host random numbers: every call of a compiled program would repeat those of its trace, so drawing them raises."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from .._torch.device import CPU_GENERATOR
from ..errors import TraceError
from ..trace.random_stream import TracedStream
from .lines import line_naming
from .rng_inputs import draws_of
from .state_graph import StateGraph

# How the state of each kind of generator is read and set.
_STATES: dict[type, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    random.Random: (random.Random.getstate, random.Random.setstate),
    np.random.RandomState: (np.random.RandomState.get_state, np.random.RandomState.set_state),
    np.random.Generator: (lambda g: g.bit_generator.state, lambda g, state: setattr(g.bit_generator, "state", state)),
    CPU_GENERATOR: (
        lambda g: g.get_state().numpy().tobytes(),
        lambda g, state: g.set_state(torch.frombuffer(bytearray(state), dtype=torch.uint8)),
    ),
}
_GLOBAL = (
    ("Python's random", random.random.__self__),  # type: ignore[attr-defined]
    ("numpy.random", np.random.rand.__self__),  # type: ignore[attr-defined]
    ("torch's generator of the CPU", torch.default_generator),
)


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
    generators = [*_GLOBAL, *graph.reached.generators.values()]
    states = [_state(generator) for _, generator in generators]
    before = [*map(pickle.dumps, states)]
    yield
    changed = []
    for (name, generator), state, old in zip(generators, states, before, strict=True):
        if pickle.dumps(_state(generator)) != old:
            _of_kind(generator)[1](generator, state)
            changed.append(name)
    draws_of(stream)  # raises first if the function seeds: torch.manual_seed changes the host's generator, too
    if changed:
        name = changed[0]
        raise TraceError(
            f"a compiled function draws random numbers on the host, from {name}"
            f"{line_naming(graph, name.rpartition('.')[2].rpartition(' ')[2])}, and every call would get the same "
            "ones: draw them on the device, or outside and pass them as a tensor"
        )


def _state(generator: Any) -> Any:
    return _of_kind(generator)[0](generator)


def _of_kind(generator: Any) -> tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]:
    return next(_STATES[cls] for cls in type(generator).__mro__ if cls in _STATES)
