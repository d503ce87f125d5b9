"""Device tensors as arguments of JAX functions: `jnp.sin(t)`, `jax.jit(f)(t)`.

JAX looks up the type of an argument in two tables that have no public registration function (jax 0.10).
"""

from __future__ import annotations

from typing import Any

import jax
import torch

from .._jax import abstract_value_of, shaped_abstractify, value_of
from ..storage.ordinals import NAME
from ..trace.transfer import read


def _value(tensor: torch.Tensor) -> jax.Array:
    if tensor.device.type != NAME:
        raise TypeError(f"a tensor on {tensor.device} is no JAX array; expected device jax: tensor.to('jax')")
    return read(without_gradient(tensor))


def without_gradient(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, if passing it to JAX loses no gradient. A leaf, such as a parameter, stands for its value.

    Raises:
        RuntimeError: the tensor was computed from tensors that require grad.
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
