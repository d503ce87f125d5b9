"""Loops with `jit` enabled: lowerings are traced with it off (`dispatch/lowering_trace.py`), where scans unroll."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
from jax import lax


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, called with `jit` enabled."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with jax.disable_jit(False):
            return function(*args, **kwargs)

    return call


def jitted(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` jitted, so that calls with arguments of the same shapes share one trace."""
    return compiled(jax.jit(function))


scan = compiled(lax.scan)
fori_loop = compiled(lax.fori_loop)
while_loop = compiled(lax.while_loop)
expm = compiled(jax.scipy.linalg.expm)  # scans over the squarings
