"""What tests look at in a program of `tenax.jit`, and what JAX compiles meanwhile, by the interfaces of JAX."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
from jax.extend.core import Jaxpr, JaxprEqn, jaxprs_in_params

from tenax._jit.jitted import compiled_of


def jaxpr_of(compiled: Any) -> Jaxpr:
    """The jaxpr of the one program of a compiled function."""
    (programs,) = compiled_of(compiled).programs.values()
    return programs[0].jaxpr


def equations(jaxpr: Jaxpr) -> Iterator[JaxprEqn]:
    """All equations of a jaxpr, and of what it calls."""
    for equation in jaxpr.eqns:
        yield equation
        for inner in jaxprs_in_params(equation.params):
            yield from equations(inner)


@contextmanager
def compilations() -> Iterator[list[str]]:
    """The events of tracing, lowering and compiling that JAX records within the block."""
    seen: list[str] = []

    def record(event: str, seconds: float, **kwargs: Any) -> None:
        if event.startswith("/jax/core/compile/"):
            seen.append(event)

    jax.monitoring.register_event_duration_secs_listener(record)
    try:
        yield seen
    finally:
        jax.monitoring.unregister_event_duration_listener(record)
