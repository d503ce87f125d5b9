"""What a program may call before its first tensor of the device: generators, streams, storages, `torch.load`.

These are replaced with `import tenax`, and so by every `import torch` where it is installed. They import what they need
when they are called for the device, and behave as before for others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any

import torch

from .. import patches
from ..storage.ordinals import NAME, NAMES

# torch's own entries of `torch.serialization` (cpu 10, cuda 20, …), which come later, do not know the device.
_PRIORITY = 5


def _call(name: str) -> Callable[..., Any]:
    return lambda *device: getattr(getattr(torch, NAME), name)(*device)


def _exchange(index: int) -> int:
    before: int = _call("current_device")()
    if index >= 0:
        _call("set_device")(index)
    return before


# `torch.accelerator`: torch's Python backend has no hooks for memory, waiting and the current device. A registered
# PrivateUse1 device is always *the* accelerator, so these functions cannot refer to any other device.
_ACCELERATOR: dict[str, Callable[..., Any]] = {
    "torch._C._accelerator_getDeviceIndex": _call("current_device"),
    "torch._C._accelerator_setDeviceIndex": _call("set_device"),
    "torch._C._accelerator_exchangeDevice": _exchange,
    "torch._C._accelerator_maybeExchangeDevice": _exchange,
    "torch._C._accelerator_synchronizeDevice": _call("synchronize"),
    "torch._C._accelerator_getStream": _call("current_stream"),
    "torch._C._accelerator_isAllocatorInitialized": lambda: "jax" in sys.modules,
    "torch._C._accelerator_emptyCache": _call("empty_cache"),
    "torch._C._accelerator_emptyHostCache": lambda: None,
    "torch._C._accelerator_getDeviceStats": _call("memory_stats"),
    "torch._C._accelerator_getMemoryInfo": _call("mem_get_info"),
    "torch._C._accelerator_resetPeakStats": _call("reset_peak_memory_stats"),
    "torch._C._accelerator_resetAccumulatedStats": lambda device: None,
}


def _subclassed(make: Callable[..., Any], plain: Any) -> Any:
    """A subclass of a C++ type of torch, which cannot be changed: `make` creates the instances."""

    class DeviceKindMeta(type(plain)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, plain)

    class DeviceKind(plain, metaclass=DeviceKindMeta):  # type: ignore[misc]
        __doc__ = plain.__doc__

        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            return make(plain, *args, **kwargs)

    DeviceKind.__name__ = DeviceKind.__qualname__ = plain.__name__
    DeviceKind.__module__ = "torch"  # which pickle imports
    return DeviceKind


def _stream(plain: Any, device: Any = None, *args: Any, **kwargs: Any) -> Any:
    if device is not None and torch.device(device).type != NAME:
        return plain(device, *args, **kwargs)
    if "stream_id" in kwargs:  # torch copies a stream from its stream_id and device_index
        device = kwargs.get("device_index", device)
    return getattr(getattr(torch, NAME), plain.__name__)(device, *args, **kwargs)


def _generator(plain: Any, device: Any = "cpu") -> Any:
    from ..storage.random import drawing

    if torch.device(device).type in NAMES:
        plain = import_module(f"{__package__}.device_generator").DeviceGenerator
    generator = plain(device)
    if drawing.stream is not None:
        drawing.stream.generators[generator._cdata] = generator
    return generator


def _storages() -> Any:
    from ..aten.registration import register_all

    register_all()
    return import_module(f"{__package__}.untyped_storage")


def _restore(storage: Any, location: str) -> Any:
    """For `torch.load`: move a host storage to the device if it was saved from there or is mapped there."""
    return _storages().restored(storage, location) if location.partition(":")[0] in NAMES else None


def location(storage: Any) -> str | None:
    """For `torch.save`: the location tag of a storage."""
    return _storages().location_of(storage) if storage.device.type == NAME else None


def _making_storages(plain: Callable[..., Any]) -> Callable[..., Any]:
    def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        device = kwargs.get("device")
        if device is None or torch.device(device).type != NAME:
            return plain(cls, *args, **kwargs)
        return _storages().new(args, device)

    return __new__


def _jax(self: torch.Tensor) -> Any:
    """The value as a `jax.Array`: no copy for a whole tensor, a strided read for a view, one copy from the CPU."""
    return _conversion()(self)


@cache
def _conversion() -> Callable[[torch.Tensor], Any]:
    from ..trace.transfer import tensor_to_jax

    return tensor_to_jax


def _jax_array(self: torch.Tensor) -> Any:
    if self.device.type != NAME:
        raise TypeError(f"tensor on {self.device} is not a JAX array; expected device {NAME}: tensor.to({NAME!r})")
    from .jax_protocols import without_gradient

    return _jax(without_gradient(self))


def install() -> None:
    """Replace the functions and classes."""
    torch.serialization.register_package(_PRIORITY, location, _restore)
    for path, function in _ACCELERATOR.items():
        if hasattr(*patches.owner_of(path)):  # a tested release may lack it
            patches.replace(path, function)
    for name, make in (("Stream", _stream), ("Event", _stream), ("Generator", _generator)):
        patches.wrap(f"torch.{name}", partial(_subclassed, make))
    patches.wrap("torch.UntypedStorage.__new__", _making_storages)
    for path in ("torch.to_dlpack", "torch.utils.dlpack.to_dlpack"):
        patches.for_device(path, lambda tensor: tensor.__dlpack__())
    for name, method in (("jax", _jax), ("__jax_array__", _jax_array)):
        method.__name__, method.__qualname__ = name, f"Tensor.{name}"
        patches.replace(f"torch.Tensor.{name}", method)
    patches.delegate("torch.nn.Module", "_apply jax" if NAME == "jax" else "_apply", f"{__package__}.module_moves")
    names = "broadcast broadcast_coalesced scatter gather"
    patches.delegate("torch.nn.parallel.comm", names, f"{__package__}.parallel")
