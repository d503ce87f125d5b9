"""`x.device` and `x.is_xla` as programs of PyTorch/XLA expect them: device type "xla", after `install()`.

`torch.device` is a type of C that cannot be changed or subclassed, so `torch.Tensor.device` is replaced: it gives
`torch.device("xla", n)` to the code of programs and libraries, and `torch.device("jax", n)` to that of torch, JAX and
tenax, in which "xla" is a type without kernels. The caller's module decides. The price is the lookup of the caller, a
fifth of a microsecond.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import torch

from ... import patches
from ..._torch.frames import PRINTER, VARIABLES
from ...device.after_import import after_import
from ...storage.ordinals import NAME
from .device_type import TYPE

_INTERNAL = frozenset({"torch", "tenax", "jax", "jaxlib", "torchgen", "functorch"})


class _Presented:
    on = False


def _is_internal(scope: dict[str, Any]) -> bool:
    """Whether a frame with these globals is one of the libraries, or of generated code, which has no name."""
    module: str = scope.get("__name__", "torch")
    return module.partition(".")[0] in _INTERNAL and module != PRINTER


def xla_named(device: torch.device) -> torch.device:
    """A device as programs see it: of type "xla" after `install()`."""
    return _named(device.index) if _Presented.on and device.type == NAME else device


@functools.cache
def _named(index: int) -> torch.device:
    return torch.device(TYPE, index)


def present() -> None:
    """Show devices as "xla" to programs from now on."""
    if _Presented.on:
        return
    _Presented.on = True
    patches.wrap("torch.Tensor.device", _device)
    patches.wrap("torch.Tensor.is_xla", _is_xla)
    after_import(VARIABLES, lambda: patches.wrap(f"{VARIABLES}.TensorVariable.method_attr_device", _of_variable))


def _device(plain: Any) -> Any:
    get = plain.__get__

    def device(self: torch.Tensor) -> torch.device:
        found: torch.device = get(self)
        if found.type != NAME or _is_internal(sys._getframe(1).f_globals):
            return found
        return _named(found.index)

    return property(device, doc=plain.__doc__)


def _is_xla(plain: Any) -> Any:
    get = plain.__get__

    def is_xla(self: torch.Tensor) -> bool:
        return bool(get(self)) if _is_internal(sys._getframe(1).f_globals) else self.device.type == NAME

    return property(is_xla, doc=plain.__doc__)


def _of_variable(plain: Any) -> Any:
    """The same for a tensor of a graph, whose device TorchDynamo takes as a constant."""

    @functools.wraps(plain)
    def method_attr_device(self: Any, tx: Any) -> Any:
        if self.device is None or _is_internal(tx.f_globals):
            return plain(self, tx)
        own, self.device = self.device, xla_named(self.device)
        try:
            return plain(self, tx)
        finally:
            self.device = own

    return method_attr_device
