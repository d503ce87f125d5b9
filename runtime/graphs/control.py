"""Control flow and modes in torch's graphs: their operators, on JAX arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import torch

_hop = torch.ops.higher_order


class Runner(Protocol):
    """What evaluates a graph within the graph, from arrays to arrays."""

    def nested(self, module: Any, *args: Any) -> Any:
        """The results of a graph."""


def cond(runner: Runner, pred: Any, true: Any, false: Any, operands: Sequence[Any] = ()) -> Any:
    def branch(module: Any) -> Callable[..., Any]:
        return lambda *args: tuple(runner.nested(module, *args))

    return jax.lax.cond(jnp.asarray(pred).reshape(()), branch(true), branch(false), *operands)


def while_loop(runner: Runner, cond: Any, body: Any, carried: Sequence[Any], extra: Sequence[Any] = ()) -> Any:
    return jax.lax.while_loop(
        lambda state: jnp.asarray(runner.nested(cond, *state, *extra)).reshape(()),
        lambda state: tuple(runner.nested(body, *state, *extra)),
        tuple(map(jnp.asarray, carried)),
    )


def inline(static: int) -> Callable[..., Any]:
    """An operator that sets a mode of torch's around a graph."""

    def run(runner: Runner, *args: Any, **kwargs: Any) -> Any:
        return runner.nested(args[static], *args[static + 1 :])

    return run


CONTROL: dict[Any, Callable[..., Any]] = {
    _hop.cond: cond,
    _hop.while_loop: while_loop,
    _hop.wrap_with_set_grad_enabled: inline(1),
    _hop.wrap_with_autocast: inline(4),
}
