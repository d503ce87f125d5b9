"""Devices by their PyTorch/XLA names: `xla:i` is `jax:i`."""

from __future__ import annotations

import os
import re
from typing import Any, TypedDict

import jax
import torch

from ...device.memory_statistics import max_memory_allocated, mem_get_info, memory_allocated
from ...device.torch_jax import synchronize
from ...storage.ordinals import NAME, current_index, device_count, jax_devices
from .device_type import TYPE, jax_device
from .presented import xla_named
from .process import take_environment
from .settings import refuse_variables

_PLATFORMS = {"cpu": "CPU", "gpu": "GPU", "cuda": "GPU", "rocm": "GPU", "tpu": "TPU"}


def platform(index: int = 0) -> str:
    """'CPU', 'GPU' or 'TPU'."""
    take_environment()
    name = jax_devices()[index].platform
    return _PLATFORMS.get(name, name.upper())


def named_device(n: int | None = None, devkind: str | None = None) -> torch.device:
    """`ordinals.xla_device`, outside of graphs of TorchDynamo."""
    refuse_variables()
    if devkind is not None and platform() != devkind.upper():
        raise RuntimeError(f"xla_device: no devices of kind {devkind!r}; this process has {platform()} devices")
    try:
        return xla_named(jax_device(current_index() if n is None else n))
    except RuntimeError as error:
        raise IndexError(str(error)) from None


def xla_devices() -> list[torch.device]:
    """The devices of this process."""
    take_environment()
    return [xla_named(torch.device(NAME, i)) for i in range(device_count())]


def get_xla_supported_devices(devkind: str | int | None = None, max_devices: int | None = None) -> list[str] | None:
    """The devices of a kind as strings; None if there are none.

    Args:
        devkind: 'TPU', 'GPU' or 'CPU'; an int is interpreted as `max_devices`.
        max_devices: the maximum number of devices.
    """
    if isinstance(devkind, int):
        devkind, max_devices = None, devkind
    if devkind is not None and platform() != devkind.upper():
        return None
    return [f"{TYPE}:{i}" for i in range(len(xla_devices()))][:max_devices]


def xla_real_devices(devices: Any = None) -> list[str]:
    """The platform's names of devices, such as 'CPU:0'."""
    chosen = xla_devices() if devices is None else [jax_device(d) for d in devices]
    return [f"{platform(d.index)}:{d.index}" for d in chosen]


def xla_device_hw(device: Any) -> str:
    """'CPU', 'GPU' or 'TPU'."""
    return "CPU" if torch.device(device).type == "cpu" else platform(jax_device(device).index)


def xla_device_kind(device: Any = None) -> str:
    """The vendor's name of a device, such as 'TPU v4'."""
    return jax_devices()[jax_device(named_device() if device is None else device).index].device_kind


def parse_xla_device(device: str) -> tuple[str, int] | None:
    """('TPU', 0) for 'TPU:0'; None for other strings."""
    found = re.fullmatch(r"([A-Z]+):(\d+)", device)
    return (found[1], int(found[2])) if found else None


def wait_device_ops(devices: Any = ()) -> None:
    """Wait until the given devices, by default all, have finished."""
    for device in devices or xla_devices():
        synchronize(jax_device(device))


class MemoryInfo(TypedDict):
    """The memory of a device."""

    bytes_used: int
    bytes_limit: int
    peak_bytes_used: int
    kb_free: int
    kb_total: int


def get_memory_info(device: Any = None) -> MemoryInfo:
    """Used, total and peak memory of a device; on the CPU, the total is that of the host."""
    target = jax_device(named_device() if device is None else device)
    used = memory_allocated(target)
    if platform(target.index) == "CPU":
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        free = total - used
    else:
        free, total = mem_get_info(target)
    return {
        "bytes_used": used,
        "bytes_limit": total,
        "peak_bytes_used": max_memory_allocated(target),
        "kb_free": free // 1024,
        "kb_total": total // 1024,
    }


def device_attributes(device: Any = None) -> dict[str, Any]:
    """The attributes of a device."""
    found = jax_devices()[jax_device(named_device() if device is None else device).index]
    return {"name": xla_real_devices([jax_device(found.local_hardware_id or 0)])[0], "device_kind": found.device_kind}


def global_runtime_device_attributes() -> list[dict[str, Any]]:
    """The attributes of each device of the program."""
    return [{"name": f"{platform()}:{d.id}", "device_kind": d.device_kind} for d in jax.devices()]
