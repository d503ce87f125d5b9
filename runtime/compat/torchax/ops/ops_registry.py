"""`torchax.ops.ops_registry`: operators that a program computes by its own functions.

A registered function replaces tenax's lowering on device "jax" until `remove` of the `Operator`'s override is called.
Registering again replaces the function.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from ....aten.overrides import Override
from ..definitions import of_arrays, of_tensors
from ..tensor import default_environment


@dataclasses.dataclass
class Operator:
    """One registration."""

    torch_op: Any
    func: Callable[..., Any]
    is_jax_function: bool = True
    is_user_defined: bool = False
    needs_env: bool = False
    is_view_op: bool = False
    override: Override | None = None


all_aten_ops: dict[Any, Operator] = {}  # what the program registered
all_torch_functions: dict[Any, Operator] = {}
all_aten_jax_ops = all_aten_ops


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
    return _register(all_aten_ops, Operator(aten_op, impl_callable, is_jax_function, **flags))


def register_torch_function_op(
    torch_func: Any, impl_callable: Callable[..., Any], is_jax_function: bool = True, **flags: Any
) -> Callable[..., Any]:
    """`register_torch_dispatch_op` for a torch function that is implemented in C++, such as `torch.sin`."""
    return _register(all_torch_functions, Operator(torch_func, impl_callable, is_jax_function, **flags))


def _register(table: dict[Any, Operator], operator: Operator) -> Callable[..., Any]:
    op, function = operator.torch_op, operator.func
    given = functools.partial(function, env=default_environment) if operator.needs_env else function
    operator.override = of_arrays(op, given) if operator.is_jax_function else of_tensors(op, given)
    before, table[op] = table.get(op), operator
    if before is not None and before.override is not None:
        before.override.remove()
    return function
