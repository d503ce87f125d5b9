"""A function of arrays on the first device, with the call interface of `jax.jit`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from .._jax import jit_of_compiled
from .options import has_tiers
from .program import EagerProgram, observed


def program(function: Callable[..., Any], key: str | None, donated: Sequence[int] = ()) -> Callable[..., Any]:
    """Compile a function when it is first called, or load its stored executable.

    Args:
        function: returns a tuple of arrays and None.
        key: the text under which it is stored; None if it is not stored.
        donated: positions of the donated arrays.
    """
    source = EagerProgram(function, key, tuple(donated))
    call = jit_of_compiled(function, source)
    return observed(counting(call) if has_tiers() else call, source)


def program_anywhere(function: Callable[..., Any], donated: Sequence[int] = ()) -> Callable[..., Any]:
    """`jax.jit` of a function, for arrays on any devices, which is observed as a program is."""
    source = EagerProgram(function, None, tuple(donated))
    return observed(source.jitted, source)


def counting(call: Any) -> Callable[..., Any]:
    """Count the calls of a program until good code takes over."""
    source: EagerProgram = call.program

    @wraps(call)
    def counted(*operands: Any) -> Any:
        if source.calls and source.is_due():
            from .takeover import advance

            advance(source, call, operands)
        return call(*operands)

    counted.__wrapped__ = source.function
    return counted
