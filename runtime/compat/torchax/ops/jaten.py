"""`torchax.ops.jaten`: functions of arrays for torch operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from ....kernels.conv import convolution
from .ops_registry import register_torch_dispatch_op


def op(*aten: Any, **kwargs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: `register_torch_dispatch_op` for each operator."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for one in aten:
            register_torch_dispatch_op(one, function, **kwargs)
        return function

    return register


def _aten_convolution(
    input: jax.Array,
    weight: jax.Array,
    bias: jax.Array | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> jax.Array:
    """`aten::convolution` of arrays, for definitions of `conv2d`; a number applies to all dimensions."""
    lists = ([v] if isinstance(v, int) else v for v in (stride, padding, dilation, output_padding))
    stride, padding, dilation, output_padding = lists
    return convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


def _aten_conv2d(
    input: jax.Array,
    weight: jax.Array,
    bias: jax.Array | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> jax.Array:
    """`_aten_convolution` with the arguments of `conv2d`."""
    return _aten_convolution(input, weight, bias, stride, padding, dilation, False, 0, groups)
