"""Operators defined by a program: functions that receive the arguments of a call as the program wrote it."""

from __future__ import annotations

import dataclasses
import functools
from collections import UserDict
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


@dataclasses.dataclass
class Operator:
    """One registration."""

    torch_op: Any
    func: Callable[..., Any]
    is_jax_function: bool = True
    is_user_defined: bool = False
    needs_env: bool = False
    is_view_op: bool = False
    override: Override | None = None


class Operators(UserDict[Any, Operator]):
    """The registrations of an environment, by their operators."""

    def __init__(self, environment: Any) -> None:
        super().__init__()
        self.environment = environment

    def __setitem__(self, op: Any, operator: Operator) -> None:
        before = self.data[op].override if op in self.data else None
        given = functools.partial(operator.func, env=self.environment) if operator.needs_env else operator.func
        operator.override = of_arrays(op, given) if operator.is_jax_function else of_tensors(op, given)
        super().__setitem__(op, operator)
        if before is not None:
            before.remove()

    def __delitem__(self, op: Any) -> None:
        override = self.data.pop(op).override
        if override is not None:
            override.remove()
