"""`torch_xla.experimental.scan` and `scan_layers`: a loop as one program, with `jax.lax.scan`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import jax
import torch
from torch import nn

from ....interop.calls import call_jax
from ....interop.convert import t2j


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
        is_fn_pure: trace the function once and not in each call. It must depend only on its arguments.
    """
    return call_jax(_scan_of(fn) if is_fn_pure else _scanning(fn), init, xs)


def _scanning(fn: Callable[[Any, Any], tuple[Any, Any]]) -> Callable[[Any, Any], Any]:
    body = t2j(fn)

    def run(init: Any, xs: Any) -> Any:
        return jax.lax.scan(lambda carry, x: body(carry, x), init, xs)

    return run


_scan_of = functools.lru_cache(maxsize=64)(_scanning)


def scan_layers(
    layers: Iterable[nn.Module], input_data: Any, partition_fn: Any = None, is_layer_pure: bool = False
) -> Any:
    """Apply layers in sequence, as a scan over their stacked parameters.

    Args:
        layers: modules of the same structure, whose buffers are not written.
        input_data: a tree of tensors, the structure of each layer's input and output.
        partition_fn: not needed.
        is_layer_pure: trace the first layer once and not in each call. Its forward must depend only on its arguments,
            parameters and buffers.
    """
    modules = list(layers)
    if not modules:
        return input_data
    states = [dict(m.named_parameters()) | dict(m.named_buffers()) for m in modules]
    if any({n: t.shape for n, t in s.items()} != {n: t.shape for n, t in states[0].items()} for s in states):
        raise ValueError(
            "scan_layers: the layers differ in the names or shapes of their parameters; expected equal ones"
        )
    stacked = {name: torch.stack([state[name] for state in states]) for name in states[0]}
    layer = (_layer_of if is_layer_pure else _calling)(modules[0], modules[0].training)
    return scan(layer, input_data, stacked, partition_fn, is_layer_pure)[0]


def _calling(module: nn.Module, training: bool) -> Callable[[Any, Any], tuple[Any, None]]:
    """The module as a body of `scan`; `training` is part of the key of `_layer_of`."""

    def layer(carry: Any, state: Any) -> tuple[Any, None]:
        return torch.func.functional_call(module, state, carry), None

    return layer


_layer_of = functools.lru_cache(maxsize=64)(_calling)
