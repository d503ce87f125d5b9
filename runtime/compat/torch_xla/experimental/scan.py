"""`torch_xla.experimental.scan` and `scan_layers`: a loop as one program, with `jax.lax.scan`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import torch
from torch import nn

from ....functional.pure import run_pure
from ....interop.calls import call_jax
from ..missing import names_of
from .retrace import Draws, call_retraced, refuse_in_pure

__getattr__ = names_of(__name__)


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
