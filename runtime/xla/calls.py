"""A function of arrays of the first device, called as `jax.jit` calls one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from .._jax import jit_of_compiled
from .options import has_tiers
from .program import EagerProgram


def program(
    function: Callable[..., Any], key: str | None, donated: Sequence[int] = (), one_tier: bool = False
) -> Callable[..., Any]:
    """The function, compiled.

    Args:
        function: gives a tuple of arrays and None.
        key: names it among stored ones, as text; None if it has no name that lasts.
        donated: positions of the arrays that it may reuse.
        one_tier: whether the first call has good code.
    """
    source = EagerProgram(function, key, tuple(donated), one_tier)
    call = jit_of_compiled(function, source)
    return counting(call) if has_tiers() and not one_tier else call


def counting(call: Any) -> Callable[..., Any]:
    """The calls of a program, counted until good code takes over."""
    source: EagerProgram = call.program

    @wraps(call)
    def counted(*operands: Any) -> Any:
        if source.work and source.is_due():
            from .takeover import advance

            advance(source, call, operands)
        return call(*operands)

    counted.__wrapped__ = source.function
    return counted
