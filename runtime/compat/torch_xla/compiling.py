"""`torch_xla.compile`: a function becomes programs of `tenax.jit`; a block is an eager step."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..._jit.explain import explain
from ..._jit.jitted import jit
from .steps import end_step


def compiled(function: Callable[..., Any], limit: int | None) -> Callable[..., Any]:
    """A compiled function whose calls are steps.

    Raises:
        RuntimeError: from a call that made a program beyond the limit.
    """
    step = jit(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        end_step()
        result = step(*args, **kwargs)
        if limit is not None and (made := len(explain(step).programs)) > limit:
            raise RuntimeError(
                f"torch_xla.compile: {getattr(function, '__name__', function)} has {made} different graphs; expected "
                f"{limit} at most. tenax.explain names what differed"
            )
        end_step()
        return result

    return call


@contextmanager
def eager_block(full_graph: bool, limit: int | None) -> Iterator[None]:
    """A block that begins and ends with a barrier."""
    if full_graph or limit is not None:
        raise NotImplementedError(
            "torch_xla.compile: a block of the eager device is no graph that could be counted; expected "
            "torch_xla.compile(function, full_graph=True), which compiles a function by tenax.jit"
        )
    end_step()
    try:
        yield
    finally:
        end_step()
