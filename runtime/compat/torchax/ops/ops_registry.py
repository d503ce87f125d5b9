"""`torchax.ops.ops_registry`: operators that a program computes by its own functions.

A registered function replaces tenax's lowering on device "jax" as long as it is in the table. Registering again
replaces the function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..definitions import Operator as Operator
from ..tensor import default_environment

all_aten_ops = all_torch_functions = all_aten_jax_ops = default_environment.operators


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


# Torch functions that are implemented in C++, such as `torch.sin`, are names of operators.
register_torch_function_op = register_torch_dispatch_op
