"""Host random numbers: every call of a compiled program would repeat those of its trace, so drawing them raises."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from ..errors import TraceError
from .lines import line_naming
from .state_graph import StateGraph

GENERATORS = (random.Random, np.random.Generator, np.random.RandomState)


@contextmanager
def refuse_host_rng(graph: StateGraph) -> Iterator[None]:
    """Check that a traced function draws no random numbers on the host.

    Args:
        graph: what the function reaches, generators included.

    Raises:
        TraceError: numbers were drawn from one of these generators, or from a global one of Python, numpy or torch.
    """
    generators = [*graph.reached.generators.values()]
    before = _states(generators)
    yield
    for name, state in _states(generators).items():
        if state != before[name]:
            raise TraceError(
                f"a compiled function draws random numbers on the host, from {name}"
                f"{line_naming(graph, name.rpartition('.')[2].rpartition(' ')[2])}, and every call would get the same "
                "ones: draw them on device jax, or outside and pass them as a tensor"
            )


def _states(generators: list[tuple[str, Any]]) -> dict[str, bytes]:
    return {
        "Python's random": pickle.dumps(random.getstate()),
        "numpy.random": pickle.dumps(np.random.get_state()),
        "torch's generator of the CPU": torch.get_rng_state().numpy().tobytes(),
    } | {path: pickle.dumps(generator) for path, generator in generators}
