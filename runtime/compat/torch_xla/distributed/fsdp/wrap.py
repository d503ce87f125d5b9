"""`torch_xla.distributed.fsdp.wrap`: the choice of submodules that are sharded as separate units.

A policy is called as `policy(module=, recurse=, unwrapped_params=)`: with `recurse` it returns whether to recurse into
the module, otherwise whether the module becomes a unit. The rules are those of `torch.distributed.fsdp.wrap`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from torch import nn
from torch.distributed.fsdp import wrap as torch_wrap

Policy = Callable[..., bool]


def always_wrap_policy(*args: Any, **kwargs: Any) -> bool:
    """Every submodule is a unit."""
    return True


def lambda_auto_wrap_policy(
    module: nn.Module, recurse: bool, unwrapped_params: int, lambda_fn: Callable[[nn.Module], bool]
) -> bool:
    """Submodules for which a function returns True are units."""
    return torch_wrap.lambda_auto_wrap_policy(module, recurse, unwrapped_params, lambda_fn)


def transformer_auto_wrap_policy(
    module: nn.Module, recurse: bool, unwrapped_params: int, transformer_layer_cls: set[type[nn.Module]]
) -> bool:
    """Instances of the given classes are units."""
    return torch_wrap.transformer_auto_wrap_policy(module, recurse, unwrapped_params, transformer_layer_cls)


def size_based_auto_wrap_policy(
    module: nn.Module,
    recurse: bool,
    unwrapped_params: int,
    min_num_params: int = int(1e8),
    force_leaf_modules: set[type[nn.Module]] | None = None,
    exclude_wrap_modules: set[type[nn.Module]] | None = None,
) -> bool:
    """Submodules with many parameters outside of smaller units are units."""
    return torch_wrap.size_based_auto_wrap_policy(
        module, recurse, unwrapped_params, min_num_params, force_leaf_modules, exclude_wrap_modules
    )


size_based_auto_wrap_policy.EXCLUDE_WRAP_MODULES = {nn.ModuleList, nn.ModuleDict}  # type: ignore[attr-defined]
size_based_auto_wrap_policy.FORCE_LEAF_MODULES = {nn.MultiheadAttention}  # type: ignore[attr-defined]


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
