"""Loops that stay loops: lowerings are traced without JAX's `jit` (`dispatch/program.py`), where JAX unrolls a scan."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` with `jit` on, wherever it is called."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with jax.disable_jit(False):
            return function(*args, **kwargs)

    return call


def jitted(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, whose calls with arguments of the same shapes share one trace."""
    return compiled(jax.jit(function))


scan = compiled(lax.scan)
fori_loop = compiled(lax.fori_loop)
while_loop = compiled(lax.while_loop)
searchsorted = compiled(jnp.searchsorted)  # scans over the digits of the index
expm = compiled(jax.scipy.linalg.expm)  # scans over the squarings
