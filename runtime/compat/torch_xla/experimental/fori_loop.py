"""`torch_xla.experimental.fori_loop`: loops as one program, with `jax.lax`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from ....interop.calls import call_jax
from ....interop.convert import t2j


def fori_loop(lower: Any, upper: Any, body_fun: Callable[..., Any], *carried: Any) -> Any:
    """`carried = body_fun(i, *carried)` for `i` in `[lower, upper)`; returns a tensor, or a tuple of several."""
    body = t2j(body_fun)
    single = len(carried) == 1

    def run(lower: Any, upper: Any, state: Any) -> Any:
        def step(i: Any, state: Any) -> Any:
            result = body(i, *state)
            return (result,) if single else tuple(result)

        return jax.lax.fori_loop(lower, upper, step, state)

    result = call_jax(run, lower, upper, tuple(carried))
    return result[0] if single else result


def while_loop(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Sequence[Any], additional_inputs: Any = ()
) -> Any:
    """`carried = body_fn(*carried)` while `cond_fn(*carried)` is true, as a tuple."""
    condition, body, rest = t2j(cond_fn), t2j(body_fn), tuple(additional_inputs or ())

    def run(state: Any, rest: Any) -> Any:
        return jax.lax.while_loop(lambda s: condition(*s, *rest).reshape(()), lambda s: tuple(body(*s, *rest)), state)

    return call_jax(run, tuple(carried_inputs), rest)
