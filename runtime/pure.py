"""A torch program as a pure function of JAX arrays, for every transformation of JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import torch

from .convert import from_jax, to_jax
from .errors import TraceError
from .trace import Trace, at_line, tracing

Draw = Callable[[torch.Generator | None], Any]


def run(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], draw: Draw) -> Any:
    """What a torch function gives for trees of JAX arrays, as a tree of JAX arrays.

    The arrays become tensors of the device, also where they are tracers; a result that is a tensor becomes its array.
    `draw` gives the key data of each random operation.
    """
    with tracing(Trace(lifts=False, draw=draw)):
        args, kwargs = from_jax((args, kwargs))
        return to_jax(function(*args, **kwargs))


def no_draw(generator: torch.Generator | None) -> Any:
    """For a function without a source of randomness.

    Raises:
        TraceError: always.
    """
    raise TraceError(
        f"a random operation in a pure function without a key{at_line()}: pass one (rng=jax.random.key(0)), or switch "
        "to eval mode. A number drawn while JAX traces would be the same in every call"
    )


def draws(key: jax.Array) -> Draw:
    """The random operations of one run draw from a JAX key, each from a number of its own folded in."""
    count = iter(range(1 << 32))

    def draw(generator: torch.Generator | None) -> jax.Array:
        return jax.random.key_data(jax.random.fold_in(key, next(count)))

    return draw
