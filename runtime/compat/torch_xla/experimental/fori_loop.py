"""`torch_xla.experimental.fori_loop`: loops as one program, with `jax.lax`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from .retrace import Draws, call_retraced


def fori_loop(lower: Any, upper: Any, body_fun: Callable[..., Any], *carried: Any) -> Any:
    """`carried = body_fun(i, *carried)` for `i` in `[lower, upper)`; returns a tensor, or a tuple of several.

    Each iteration draws its own random numbers.
    """
    single = len(carried) == 1

    def run(draws: Draws, lower: Any, upper: Any, state: Any) -> Any:
        def step(i: Any, state: Any) -> Any:
            result = draws.call(body_fun, i, (i, *state))
            return (result,) if single else tuple(result)

        return jax.lax.fori_loop(lower, upper, step, state)

    result = call_retraced(run, lower, upper, tuple(carried))
    return result[0] if single else result


def while_loop(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Sequence[Any], additional_inputs: Any = ()
) -> Any:
    """`carried = body_fn(*carried)` while `cond_fn(*carried)` is true, as a tuple.

    Each call of a function draws its own random numbers.
    """

    def run(draws: Draws, state: Any, rest: Any) -> Any:
        def condition(counted: Any) -> Any:
            i, state = counted
            return draws.call(cond_fn, 2 * i, (*state, *rest)).reshape(())

        def body(counted: Any) -> Any:
            i, state = counted
            return i + 1, tuple(draws.call(body_fn, 2 * i + 1, (*state, *rest)))

        return jax.lax.while_loop(condition, body, (jnp.uint32(0), state))[1]

    return call_retraced(run, tuple(carried_inputs), tuple(additional_inputs or ()))
