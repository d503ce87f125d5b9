"""Operators defined by a program: functions that receive the arguments of a call as the program wrote it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...aten.overrides import Override, override_composite
from ...functional.keys import refuse_draw
from ...functional.pure import run_pure
from ...interop import calls
from .conversion import call_jax, is_recorded


def of_arrays(op: Any, function: Callable[..., Any]) -> Override:
    """Compute an operator on the device by a JAX function."""
    return override_composite(op, functools.partial(call_jax, function))


def of_tensors(op: Any, function: Callable[..., Any]) -> Override:
    """Compute an operator on the device by a torch function.

    If torch records a gradient or a graph, the function runs as a pure one that JAX differentiates, so it may compute
    with arrays, but cannot draw random numbers.
    """

    def pure(*args: Any, **kwargs: Any) -> Any:
        return run_pure(function, args, kwargs, refuse_draw)

    def call(*args: Any, **kwargs: Any) -> Any:
        if is_recorded(args, kwargs):
            return calls.call_jax(pure, *args, **kwargs)
        return function(*args, **kwargs)

    return override_composite(op, call)
