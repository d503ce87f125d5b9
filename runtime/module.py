"""`module.to("jax")` keeps its parameters the same objects, as `.to("cuda")` does.

Between devices of different kinds torch makes new parameters, which unties tied weights and leaves an optimizer with
the old ones. It can swap contents instead; that is turned on while a module crosses to or from the device. torch swaps
class and attributes as well, which are put back: a parameter of a lazy module stays uninitialized.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from .device import NAME

_plain = nn.Module._apply


def _crosses(module: nn.Module, fn: Callable[[torch.Tensor], torch.Tensor]) -> bool:
    """Whether `fn` moves tensors of the module to or from the device."""
    kinds = {t.device.type for t in module.parameters(recurse=True)}
    try:
        with torch.no_grad():
            if kinds - {NAME, "meta"} and fn(torch.empty(0, device="cpu")).device.type == NAME:
                return True
            return NAME in kinds and fn(torch.empty(0, device=NAME)).device.type != NAME
    except Exception:
        return False  # not a conversion; if it is wrong, it fails again below, where the user sees it


def _apply(self: nn.Module, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> Any:
    swapping = torch.__future__.get_swap_module_params_on_conversion()
    if swapping or not _crosses(self, fn):
        return _plain(self, fn, recurse)
    kept = [(p, type(p), vars(p).copy()) for p in self.parameters(recurse)]
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        return _plain(self, fn, recurse)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)
        for parameter, kind, attributes in kept:
            parameter.__class__ = kind
            vars(parameter).update(attributes)


def install() -> None:
    """Replace `nn.Module._apply`; modules that do not cross are treated as before."""
    nn.Module._apply = _apply  # type: ignore[method-assign]
