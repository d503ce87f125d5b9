"""Tensors of the device as arguments of JAX functions: `jnp.sin(t)`, `jax.jit(f)(t)`.

JAX finds out what an argument is by its type, in two tables; neither has a public way in (jax 0.10).
"""

from __future__ import annotations

from typing import Any

import jax
import torch
from jax._src import core, dtypes

from ..device.backend import NAME
from ..device.convert import read


def _value(tensor: torch.Tensor) -> jax.Array:
    if tensor.device.type != NAME:
        raise TypeError(f"a tensor on {tensor.device} is no JAX array; expected device jax: tensor.to('jax')")
    return read(without_gradient(tensor))


def without_gradient(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, unless autograd has followed it here. A leaf, as a parameter is, is taken for its value.

    Raises:
        RuntimeError: it was computed from tensors that require grad.
    """
    if tensor.grad_fn is not None and torch.is_grad_enabled():
        raise RuntimeError(
            f"a result of {tensor.grad_fn.name()} as an argument of a JAX function, which would lose its gradient; "
            "expected tenax.call_jax(function, tensor), or tensor.detach()"
        )
    return tensor


def _abstract(tensor: torch.Tensor) -> Any:
    return core.shaped_abstractify(_value(tensor))


def install() -> None:
    """Let JAX take tensors of the device, and parameters, wherever it takes an array."""
    for kind in (torch.Tensor, torch.nn.Parameter):
        core.pytype_aval_mappings[kind] = _abstract
        dtypes.canonicalize_value_handlers[kind] = _value
