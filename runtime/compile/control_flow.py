"""Lower the control flow and mode operators of torch's graphs, on JAX arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import torch

_hop = torch.ops.higher_order


class Runner(Protocol):
    """Runs subgraphs on arrays."""

    def nested(self, module: Any, *args: Any) -> Any:
        """Run a subgraph of control flow, which may run many times or never."""

    def inlined(self, module: Any, *args: Any) -> Any:
        """Run a subgraph that runs exactly once."""


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


def scan(runner: Runner, combine: Any, init: Sequence[Any], xs: Sequence[Any], extra: Sequence[Any] = ()) -> Any:
    init = tuple(map(jnp.asarray, init))

    def step(carry: Any, x: Any) -> Any:
        results = tuple(runner.nested(combine, *carry, *x, *extra))
        return results[: len(init)], results[len(init) :]

    carry, ys = jax.lax.scan(step, init, tuple(xs))
    return *carry, *ys


def associative_scan(runner: Runner, combine: Any, xs: Sequence[Any], extra: Sequence[Any] = ()) -> Any:
    def both(a: Any, b: Any) -> Any:
        return tuple(runner.nested(combine, *a, *b, *extra))

    over_pairs = jax.vmap(both)  # JAX calls it on whole slices of elements
    return tuple(jax.lax.associative_scan(over_pairs, tuple(xs)))


def map_(runner: Runner, function: Any, xs: Sequence[Any], extra: Sequence[Any] = ()) -> Any:
    return tuple(jax.lax.scan(lambda _, x: ((), tuple(runner.nested(function, *x, *extra))), (), tuple(xs))[1])


def inline(static: int) -> Callable[..., Any]:
    """Lower an operator that runs a subgraph under a torch mode, given by its first `static` arguments."""

    def run(runner: Runner, *args: Any, **kwargs: Any) -> Any:
        return runner.inlined(args[static], *args[static + 1 :])

    return run


CONTROL: dict[Any, Callable[..., Any]] = {
    _hop.cond: cond,
    _hop.while_loop: while_loop,
    _hop.scan: scan,
    _hop.associative_scan: associative_scan,
    _hop.map_impl: map_,
    _hop.wrap_with_set_grad_enabled: inline(1),
    _hop.wrap_with_autocast: inline(4),
}
