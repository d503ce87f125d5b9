"""Loops as one program, with `jax.lax`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import torch
from torch import nn

from ...functional.pure import run_pure
from ...interop.calls import call_jax
from .retrace import Draws, call_retraced, refuse_in_pure


def scan(
    fn: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, partition_fn: Any = None, is_fn_pure: bool = False
) -> tuple[Any, Any]:
    """Scan `fn(carry, x) -> (carry, y)` over the leading dimension; return the last carry and the stacked `y`s.

    Args:
        fn: a function of trees of tensors, traced once. Closed-over tensors are constants, so pass tensors that require
            a gradient through `init` or `xs`.
        init: the first carry.
        xs: a tree of tensors with the same leading size.
        partition_fn: not needed, because JAX saves what the gradient needs.
        is_fn_pure: trace the function once and not in each call. It must depend only on its arguments, and draw no
            random numbers. Otherwise each iteration draws its own.
    """
    if is_fn_pure:
        return call_jax(_scan_of(fn), init, xs)

    def run(draws: Draws, init: Any, xs: Any) -> Any:
        def step(carry: Any, part: Any) -> Any:
            i, x = part
            return draws.call(fn, i, (carry, x))

        return jax.lax.scan(step, init, (jnp.arange(len(jax.tree.leaves(xs)[0])), xs))

    return call_retraced(run, init, xs)


@functools.lru_cache(maxsize=64)
def _scan_of(fn: Callable[[Any, Any], tuple[Any, Any]]) -> Callable[[Any, Any], Any]:
    def run(init: Any, xs: Any) -> Any:
        draw = refuse_in_pure("scan")
        return jax.lax.scan(lambda carry, x: run_pure(fn, (carry, x), {}, draw), init, xs)

    return run


def scan_layers(
    layers: Iterable[nn.Module], input_data: Any, partition_fn: Any = None, is_layer_pure: bool = False
) -> Any:
    """Apply layers in sequence, as a scan over their stacked parameters.

    Args:
        layers: modules of the same structure, whose buffers are not written.
        input_data: a tree of tensors, the structure of each layer's input and output; the elements of a tuple are the
            arguments of a layer that takes as many.
        partition_fn: not needed.
        is_layer_pure: trace the first layer once and not in each call. Its forward must depend only on its arguments,
            parameters and buffers, and draw no random numbers. Otherwise each layer draws its own.
    """
    modules = list(layers)
    if not modules:
        return input_data
    states = [dict(m.named_parameters()) | dict(m.named_buffers()) for m in modules]
    if any({n: t.shape for n, t in s.items()} != {n: t.shape for n, t in states[0].items()} for s in states):
        raise ValueError(
            "scan_layers: the layers differ in the names or shapes of their parameters; expected equal ones"
        )
    if not states[0]:  # nothing to stack, and so nothing to scan over
        return functools.reduce(lambda x, layer: layer(*_arguments(layer, x)), modules, input_data)
    stacked = {name: torch.stack([state[name] for state in states]) for name in states[0]}
    layer = (_layer_of if is_layer_pure else _calling)(modules[0], modules[0].training)
    return scan(layer, input_data, stacked, partition_fn, is_layer_pure)[0]


def _arguments(module: nn.Module, carry: Any) -> tuple[Any, ...]:
    """The arguments of a layer: a tuple is passed as such, or apart if the layer takes as many arguments."""
    if type(carry) is tuple:
        try:
            inspect.signature(module.forward).bind(*carry)
        except TypeError:
            return (carry,)
        return carry
    return (carry,)


def _calling(module: nn.Module, training: bool) -> Callable[[Any, Any], tuple[Any, None]]:
    """The module as a body of `scan`; `training` is part of the key of `_layer_of`."""

    def layer(carry: Any, state: Any) -> tuple[Any, None]:
        return torch.func.functional_call(module, state, _arguments(module, carry)), None

    return layer


_layer_of = functools.lru_cache(maxsize=64)(_calling)


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
