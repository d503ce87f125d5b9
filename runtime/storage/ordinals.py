"""Device indices: `jax:i` is `jax.local_devices()[i]`, and a bare `jax` is the current device of the thread."""

from __future__ import annotations

import threading
from typing import Any

import torch

from .._torch import NAME as NAME

NAMES = {NAME}  # device types that mean this device, with those of compatibility layers

_thread = threading.local()


def jax_devices() -> list[Any]:
    """The devices of this process, in the order of the indices of device "jax"."""
    import jax

    return jax.local_devices()


def device_count() -> int:
    """The number of devices of this process."""
    return len(jax_devices())


def current_index() -> int:
    """The index of the device that "jax" without an index means on this thread."""
    return getattr(_thread, "index", 0)


def set_current_index(index: int) -> None:
    """Set the index of the device that "jax" without an index means on this thread."""
    _thread.index = index


def device_index(device: Any = None) -> int:
    """The index of a device, a string or an int; None means the current one.

    Raises:
        RuntimeError: it is not a jax device, or JAX has no such device.
    """
    if device is None:
        return current_index()
    if isinstance(device, int):
        index = device
    else:
        device = device if device.__class__ is torch.device else torch.device(device)
        if device.type not in NAMES:
            raise RuntimeError(f"torch.{NAME}: Expected a {NAME} device, but got: {device}")
        index = current_index() if device.index is None else device.index
    if index and not 0 <= index < device_count():
        devices = jax_devices()
        more = "; XLA_FLAGS=--xla_force_host_platform_device_count=N makes N" * (devices[0].platform == "cpu")
        raise RuntimeError(
            f"{NAME} error: invalid device ordinal {index}; expected 0 <= index < {len(devices)}: {devices}{more}"
        )
    return index
