"""`torch.accelerator` for the device: torch's Python backend has no hooks for memory, waiting and the current device.

A registered PrivateUse1 device is always *the* accelerator, so these functions cannot refer to any other device.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

from .. import patches


def _call(name: str) -> Callable[..., Any]:
    return lambda *device: getattr(torch.jax, name)(*device)


def _exchange(index: int) -> int:
    before: int = torch.jax.current_device()
    if index >= 0:
        torch.jax.set_device(index)
    return before


_FUNCTIONS: dict[str, Callable[..., Any]] = {
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


def _device_kind(plain: Any) -> Any:
    """Subclass `torch.Stream` or `torch.Event` so that, for the device, it creates the `torch.jax` class instead."""

    class DeviceKindMeta(type(plain)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, plain)

    class DeviceKind(plain, metaclass=DeviceKindMeta):  # type: ignore[misc]
        __doc__ = plain.__doc__

        def __new__(cls, device: Any = None, *args: Any, **kwargs: Any) -> Any:
            if device is None or torch.device(device).type == "jax":
                if "stream_id" in kwargs:  # torch copies a stream from its stream_id and device_index
                    device = kwargs.get("device_index", device)
                return getattr(torch.jax, plain.__name__)(device, *args, **kwargs)
            return plain(device, *args, **kwargs)

    DeviceKind.__name__ = DeviceKind.__qualname__ = plain.__name__
    DeviceKind.__module__ = plain.__module__
    return DeviceKind


def install() -> None:
    """Replace the functions."""
    names = "broadcast broadcast_coalesced scatter gather"
    patches.delegate("torch.nn.parallel.comm", names, f"{__package__}.parallel")
    for path, function in _FUNCTIONS.items():
        if hasattr(*patches.owner_of(path)):  # a tested release may lack it
            patches.replace(path, function)
    for name in ("Stream", "Event"):
        patches.wrap(f"torch.{name}", _device_kind)
