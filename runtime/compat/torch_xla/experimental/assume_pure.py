"""`torch_xla.experimental.assume_pure`: functions that JAX traces once per signature."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import torch
from torch import nn

from ....interop.calls import call_jax
from ....interop.convert import t2j


def assume_pure(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that depends only on its arguments; it is differentiable."""
    compiled = jax.jit(t2j(fn))

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        return call_jax(compiled, *args, **kwargs)

    return call


class PureModule(nn.Module):
    """A module whose forward is pure: its parameters and buffers are arguments of the traced function."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self._module = module

        def forward(state: Any, args: Any, kwargs: Any) -> Any:
            return torch.func.functional_call(module, state, args, kwargs)

        self._forward = assume_pure(forward)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module."""
        state = dict(self._module.named_parameters()) | dict(self._module.named_buffers())
        return self._forward(state, args, kwargs)
