"""The transformations of `torch.func`: their levels, and their tensor wrappers."""

from __future__ import annotations

from typing import Any

import torch

from ..releases import private_names

with private_names("torch", torch.__version__):
    # A context in which `autograd.Function.apply` records a single level, as an operator's kernel does.
    from torch._functorch.utils import enable_single_level_autograd_function as enable_single_level_autograd_function

    # The base of classes that an operator's kernel applies there.
    SingleLevelFunction: Any = torch.autograd.function._SingleLevelFunction
    _functorch: Any = torch._C._functorch
    are_transforms_active = torch._C._are_functorch_transforms_active
    current_level = _functorch.maybe_current_level  # None outside of every transformation
    is_wrapped = _functorch.is_functorch_wrapped_tensor
    is_batched = _functorch.is_batchedtensor
    level_of = _functorch.maybe_get_level  # of a tensor's wrapper; -1 without one
    _ENDED = -2
    batch_axis_of = _functorch.maybe_get_bdim
    unwrap = _functorch.get_unwrapped
    wrap_for_grad = _functorch._wrap_for_grad  # (tensor, level)
    wrap_for_vmap = _functorch._add_batch_dim  # (tensor, axis, level)

    # The legacy vmap of `torch.autograd.grad(is_grads_batched=True)`, with its own wrappers.
    add_batch_dim = torch._add_batch_dim
    remove_batch_dim = torch._remove_batch_dim
    _enter_vmap = torch._C._vmapmode_increment_nesting
    _leave_vmap = torch._C._vmapmode_decrement_nesting


def vmap_level() -> int:
    """The level of the innermost legacy vmap."""
    level = _enter_vmap() - 1
    _leave_vmap()
    return int(level)


def unwrapped(tensor: torch.Tensor) -> torch.Tensor:
    """The device tensor inside a torch.func wrapper."""
    while is_wrapped(tensor):
        tensor = unwrap(tensor)
    return tensor


def without_ended_levels(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor inside wrappers of `torch.func.grad` and the like that have ended, as operators see it."""
    while is_wrapped(tensor) and level_of(tensor) == _ENDED:
        tensor = unwrap(tensor)
    return tensor
