"""The sources of random keys for the operations of a pure function."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import torch

from ..errors import TraceError
from ..storage import random
from ..trace.core import current_trace, user_line

DrawKey = Callable[[torch.Generator | None], Any]


def refuse_draw(generator: torch.Generator | None) -> Any:
    """The draw function of a pure function without a key.

    Raises:
        TraceError: always.
    """
    raise TraceError(
        f"a random operation in a pure function without a key{user_line()}: pass one (rng=jax.random.key(0)), or "
        "switch to eval mode. A number drawn while JAX traces would be the same in every call"
    )


def keys_from(key: jax.Array | None) -> DrawKey:
    """A draw function for one trace, which derives keys from a JAX key: each random operation folds in its number.

    Without a key it is `refuse_draw`.
    """
    if key is None:
        return refuse_draw

    def draw(generator: torch.Generator | None) -> jax.Array:
        # The number is the position in the device's stream, because recomputation (torch.utils.checkpoint) resets it.
        random.advance()
        number = random.drawing.stream.draws
        if number is None:
            raise TraceError(
                f"torch.manual_seed in a pure function{user_line()}: its random operations draw from the key"
            )
        return _folded(key, number)

    return draw


def numbered_keys(key: jax.Array) -> DrawKey:
    """A draw function as that of `keys_from`, for operations that run in order, whether in a trace or not."""
    numbers = itertools.count(1)
    return lambda generator: _folded(key, next(numbers))


def _folded(key: jax.Array, number: int) -> jax.Array:
    mine = jax.random.fold_in(key, number)
    data = jax.random.key_data(mine)
    return data if data.shape == (2,) else jax.random.bits(mine, (2,), jnp.uint32)  # lowerings use threefry


def inherited_key() -> jax.Array | None:
    """A key for a nested run, drawn from the current trace; None if that has no key."""
    trace = current_trace()
    if trace is None or trace.draw is refuse_draw:
        return None
    return jax.random.wrap_key_data(trace.draw(None))
