"""JAX functions take device tensors, `jnp.sin(t)`, and torch functions take `jax.Array` arguments, without a copy.

The result type follows the library whose function is called: `torch.add(x, a)` and `x + a` are tensors, `jnp.add(x, a)`
and `a + x` are arrays. JAX has no public API for either: a method is added to its array type, and the types of tensors
to the two tables in which it looks up the type of an argument (jax 0.10).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from .. import patches
from .._jax import abstract_value_of, shaped_abstractify, value_of
from ..storage.ordinals import NAME

if TYPE_CHECKING:
    import jax


def _value(tensor: torch.Tensor) -> jax.Array:
    if tensor.device.type != NAME:  # `jax.jit` replaces the text of a TypeError
        raise RuntimeError(
            f"a tensor on {tensor.device} as an argument of a JAX function; expected one on device {NAME}: "
            f"tensor.to({NAME!r}), or its array: tensor.jax()"
        )
    return _reading()(without_gradient(tensor))


@functools.cache
def _reading() -> Callable[[torch.Tensor], jax.Array]:
    from ..trace.transfer import checked_read  # imported late: it is loaded anyway once a device tensor exists

    return checked_read


def without_gradient(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor, if passing it to JAX loses no gradient. A leaf, such as a parameter, is passed by value.

    Raises:
        RuntimeError: the tensor has a `grad_fn`, and gradients are enabled.
    """
    if tensor.grad_fn is not None and torch.is_grad_enabled():
        raise RuntimeError(
            f"a result of {tensor.grad_fn.name()} as an argument of a JAX function, which would lose its gradient; "
            "expected tenax.call_jax(function, tensor), or tensor.detach()"
        )
    return tensor


def _abstract(tensor: torch.Tensor) -> Any:
    return shaped_abstractify(_value(tensor))


def _called(cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    args, kwargs = _conversion()((args, kwargs or {}))
    return func(*args, **kwargs)


@functools.cache
def _conversion() -> Callable[[Any], Any]:
    """`from_jax`, after registering all operators: this may be the first device tensor of the process."""
    from ..aten.registration import register_all
    from ..trace.transfer import from_jax

    register_all()
    return from_jax


def _refused(cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    raise TypeError(
        f"{getattr(func, '__name__', func)}: got an array that JAX traces; expected a torch function that is pure to "
        "JAX: tenax.interop.t2j(function), or tenax.from_jax(array) where there is no randomness"
    )


def install() -> None:
    """Let the functions of each library accept the arguments of the other."""
    for kind in (torch.Tensor, torch.nn.Parameter):
        abstract_value_of[kind] = _abstract
        value_of[kind] = _value
    patches.replace("jax._src.array.ArrayImpl.__torch_function__", classmethod(_called))
    patches.replace("jax.core.Tracer.__torch_function__", classmethod(_refused))
