"""Lower the control flow and mode operators of torch's graphs, on JAX arrays, and call them with tensors in a trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import torch
from torch import fx

from .._torch import NAME, pytree
from ..dispatch import jax_call
from ..errors import TraceError
from ..trace.core import user_line
from .pure import run_pure

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


class _Subgraph(fx.Interpreter):
    """A subgraph that Dynamo captured for an operator that a traced function calls."""

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        found = IN_TRACES[target](*args, **kwargs) if target in IN_TRACES else NotImplemented
        return super().call_function(target, args, kwargs) if found is NotImplemented else found


class _PureRunner:
    """Runs such subgraphs on arrays."""

    def nested(self, module: fx.GraphModule, *args: Any) -> Any:
        return run_pure(_Subgraph(module).run, args, {}, _drawn)

    inlined = nested


def _drawn(generator: Any) -> Any:
    raise NotImplementedError(f"control flow{user_line()}: a random operation within it; draw outside of it")


def _in_trace(operator: Any) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = pytree.tree_flatten((args, kwargs))
        tensors = {i: x for i, x in enumerate(leaves) if isinstance(x, torch.Tensor)}
        captured = any(isinstance(x, fx.GraphModule) for x in leaves)
        if not captured or any(x.device.type != NAME for x in tensors.values()):
            return NotImplemented
        if operator is _hop.while_loop and torch.is_grad_enabled() and any(x.requires_grad for x in tensors.values()):
            raise TraceError(
                f"torch.while_loop within a compiled function{user_line()}: a tensor requires a gradient, and XLA has "
                "none for a loop of unknown length; expected torch's scan, or torch.no_grad()"
            )

        def run(*arrays: jax.Array) -> tuple[jax.Array, ...]:
            now = dict(enumerate(leaves)) | dict(zip(tensors, arrays, strict=True))
            given, named = pytree.tree_unflatten(now.values(), tree)
            return tuple(CONTROL[operator](_PureRunner(), *given, **named))

        lease = jax_call.FunctionLease(run, lambda: run)
        return tuple(jax_call.call(lease.number, [*tensors.values()]))

    return call


# By operator: what a traced function calls, with a gradient; NotImplemented for values that torch's code can handle.
IN_TRACES = {
    operator: _in_trace(operator)
    for operator in (_hop.cond, _hop.while_loop, _hop.scan, _hop.associative_scan, _hop.map_impl)
}
