"""The choice of submodules that are sharded as separate units, or whose activations are recomputed.

A policy is called as `policy(module=, recurse=, unwrapped_params=)`: with `recurse` it returns whether to recurse into
the module, otherwise whether the module becomes a unit. The rules are those of `torch.distributed.fsdp.wrap`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from types import MethodType
from typing import Any

from torch import nn
from torch.distributed.fsdp import wrap as of_torch
from torch.utils.checkpoint import checkpoint as _checkpoint

from ...interop.remat import separated

Policy = Callable[..., bool]


def _policy(plain: Policy) -> Policy:
    """A policy of torch, with PyTorch/XLA's name of the number of parameters."""

    @functools.wraps(plain)
    def policy(module: nn.Module, recurse: bool, unwrapped_params: int, *args: Any, **kwargs: Any) -> bool:
        return plain(module, recurse, unwrapped_params, *args, **kwargs)

    return policy


always_wrap_policy = of_torch.always_wrap_policy
lambda_auto_wrap_policy = _policy(of_torch.lambda_auto_wrap_policy)
transformer_auto_wrap_policy = _policy(of_torch.transformer_auto_wrap_policy)
size_based_auto_wrap_policy = _policy(of_torch.size_based_auto_wrap_policy)


def refuse_module(module: nn.Module, unit: type[nn.Module]) -> None:
    """Raise RuntimeError for a module that cannot become a unit."""
    if isinstance(module, unit):
        raise RuntimeError(
            "Cannot wrap a module that is already wrapped with FSDP. Expected the inner modules to be wrapped "
            "before the outer one"
        )
    if getattr(module.forward, "__func__", None) is nn.Module.forward:
        raise RuntimeError(
            f"The module wrapped by FSDP must define a `forward` method, which {type(module).__name__} does not"
        )


def recursive_wrap(
    module: nn.Module,
    auto_wrap_policy: Policy,
    wrapper_cls: Callable[..., nn.Module],
    ignored_modules: Collection[nn.Module] = (),
    ignored_params: Collection[nn.Parameter] = (),
    only_wrap_children: bool = False,
    **kwargs: Any,
) -> tuple[nn.Module, int]:
    """Replace the submodules that a policy selects by units, innermost first.

    Args:
        module: its children are replaced in place.
        auto_wrap_policy: see above.
        wrapper_cls: a class or function that creates a unit from a module.
        ignored_modules: modules to leave unchanged.
        ignored_params: parameters that do not count.
        only_wrap_children: whether to leave the module itself unwrapped.
        kwargs: options of `wrapper_cls`.

    Returns:
        The module or its unit, and the number of parameters in units.
    """
    ignored = {id(p) for p in ignored_params}
    count = sum(p.numel() for p in module.parameters() if id(p) not in ignored)
    if not auto_wrap_policy(module=module, recurse=True, unwrapped_params=count):
        return module, 0
    inside = 0
    for name, child in module.named_children():
        if child not in ignored_modules:
            unit, wrapped = recursive_wrap(
                child, auto_wrap_policy, wrapper_cls, ignored_modules, ignored_params, **kwargs
            )
            setattr(module, name, unit)
            inside += wrapped
    if only_wrap_children or not auto_wrap_policy(module=module, recurse=False, unwrapped_params=count - inside):
        return module, inside
    return wrapper_cls(module, **kwargs), count


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool = True, **kwargs: Any) -> Any:
    """Call a function whose intermediate values are recomputed for the gradient."""
    return _checkpoint(separated(function), *args, use_reentrant=use_reentrant, **kwargs)


def checkpoint_module(module: nn.Module) -> nn.Module:
    """Make a module recompute its forward in the backward pass instead of saving activations."""
    forward = module.forward

    def checkpointed(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        return checkpoint(forward, *args, use_reentrant=False, **kwargs)

    module.forward = MethodType(checkpointed, module)
    return module
