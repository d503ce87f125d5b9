"""Operators that a program computes by its own functions.

A registered function replaces tenax's lowering on device "jax" as long as it is in the table. Registering again
replaces the function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

from ...interop.convert import t2j
from ...kernels.conv import convolution
from .definitions import Operator
from .tensor import default_environment

all_aten_ops = default_environment.operators


def register_torch_dispatch_op(
    aten_op: Any, impl_callable: Callable[..., Any], is_jax_function: bool = True, **flags: Any
) -> Callable[..., Any]:
    """Compute an operator by a function, of arrays or of tensors.

    Args:
        aten_op: an overload or packet of `torch.ops`, or a torch function that is implemented in C++.
        impl_callable: a function that receives the arguments of the call.
        is_jax_function: whether it takes arrays and JAX differentiates it.
        flags: with `needs_env` it receives the environment as `env`; `is_user_defined` and `is_view_op` have no effect.

    Raises:
        TypeError: torch has no such operator, or there is no such flag.
        NotImplementedError: the operator creates or views memory.
    """
    all_aten_ops[aten_op] = Operator(aten_op, impl_callable, is_jax_function, **flags)
    return impl_callable


def register_function(torch_func: Any, **kwargs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: `register_torch_dispatch_op` for one function."""
    return functools.partial(register_torch_dispatch_op, torch_func, **kwargs)


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


def register_jax_composite(composite_name: str, impl: Callable[..., Any], *ops: Any, **jit_args: Any) -> None:
    """Compute operators by a function of arrays that an exported program calls by name.

    Args:
        composite_name: the name of the function in the program.
        impl: the function.
        ops: overloads or packets.
        jit_args: options of `jax.jit`.
    """

    def composite(*args: Any, **kwargs: Any) -> Any:
        return impl(*args, **kwargs)

    composite.__name__ = composite.__qualname__ = composite_name
    op(*ops)(jax.jit(composite, **jit_args))


def register_torch_composite(composite_name: str, impl: Callable[..., Any], *ops: Any, **jit_args: Any) -> None:
    """Compute operators by a function of tensors that an exported program calls by name."""
    register_jax_composite(composite_name, t2j(impl), *ops, **jit_args)
