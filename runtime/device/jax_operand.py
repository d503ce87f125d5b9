"""Accept device tensors as arguments of JAX functions: `jnp.sin(t)`, `jax.jit(f)(t)`.

JAX looks up the type of an argument in two tables that have no public registration function (jax 0.10).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

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


def install() -> None:
    """Let JAX functions accept device tensors and parameters as arrays."""
    for kind in (torch.Tensor, torch.nn.Parameter):
        abstract_value_of[kind] = _abstract
        value_of[kind] = _value
