"""Memory statistics of `torch.jax`: JAX's, where the platform reports them; otherwise those of the live arrays.

JAX's CPU client reports nothing. There, usage is the total size of the process's live arrays, and the peak is the
highest total that any query has returned.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import jax

from ..storage.ordinals import NAME, device_index, jax_devices
from ..storage.recording import run_compiled_ahead

_seen: dict[int, int] = {}  # by device, the highest usage that a query has found since the peak was reset
_peak_at_reset: dict[int, int] = {}  # JAX's own peak, which cannot be reset


def _reported(index: int) -> dict[str, int]:
    run_compiled_ahead()
    return jax_devices()[index].memory_stats() or {}


def _live_bytes(index: int) -> int:
    device = jax_devices()[index]
    return sum(
        shard.data.nbytes
        for array in jax.live_arrays()
        if not array.is_deleted() and device in array.devices()
        for shard in array.addressable_shards
        if shard.device == device
    )


def memory_allocated(device: Any = None) -> int:
    """Bytes in use on a device; the size of its live arrays if the platform does not report usage."""
    index = device_index(device)
    reported = _reported(index)
    used = int(reported["bytes_in_use"]) if "bytes_in_use" in reported else _live_bytes(index)
    _seen[index] = max(_seen.get(index, 0), used)
    return used


def max_memory_allocated(device: Any = None) -> int:
    """Peak of the bytes in use, since the process started or the peak was reset.

    If the platform reports no peak, and after a reset until JAX's own peak rises, it is the highest usage that any
    query has found.
    """
    index = device_index(device)
    memory_allocated(index)
    peak = int(_reported(index).get("peak_bytes_in_use", 0))
    return max(_seen[index], peak if peak > _peak_at_reset.get(index, 0) else 0)


def reset_peak_memory_stats(device: Any = None) -> None:
    """Reset the peak to the bytes in use."""
    index = device_index(device)
    _peak_at_reset[index] = int(_reported(index).get("peak_bytes_in_use", 0))
    _seen.pop(index, None)
    memory_allocated(index)


def memory_reserved(device: Any = None) -> int:
    """Bytes that JAX has reserved on a device; those in use if the platform reports no pool."""
    index = device_index(device)
    return int(_reported(index).get("pool_bytes", 0)) or memory_allocated(index)


def max_memory_reserved(device: Any = None) -> int:
    """Peak of the bytes that JAX has reserved; of those in use if the platform reports no pool."""
    index = device_index(device)
    return int(_reported(index).get("peak_pool_bytes", 0)) or max_memory_allocated(index)


def memory_stats(device: Any = None) -> OrderedDict[str, int]:
    """JAX's memory statistics of a device, plus the torch statistics that can be derived from them, in bytes."""
    index = device_index(device)
    used, peak = memory_allocated(index), max_memory_allocated(index)
    figures = dict(_reported(index)) | {
        "active_bytes.all.current": used,
        "active_bytes.all.peak": peak,
        "allocated_bytes.all.current": used,
        "allocated_bytes.all.peak": peak,
        "reserved_bytes.all.current": memory_reserved(index),
        "reserved_bytes.all.peak": max_memory_reserved(index),
    }
    return OrderedDict(sorted(figures.items()))


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """(free, total) bytes of the device.

    Raises:
        NotImplementedError: the platform reports no limit.
    """
    index = device_index(device)
    reported = _reported(index)
    if not {"bytes_limit", "bytes_in_use"} <= reported.keys():
        raise NotImplementedError(f"torch.{NAME}.mem_get_info: {jax_devices()[index]} reports no limit")
    return reported["bytes_limit"] - reported["bytes_in_use"], reported["bytes_limit"]


def empty_cache() -> None:
    """Free unreferenced buffers by running the garbage collector; JAX has no pool that could be emptied."""
    import gc

    gc.collect()


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The statistics of a device's memory as text, one per line; `abbreviated` has no effect."""
    lines = [f"  {name:<32} {value:>20,}" for name, value in memory_stats(device).items()]
    return "\n".join([f"Memory of {NAME}:{device_index(device)}, in bytes where the name says so", *lines])


def ipc_collect() -> None:
    """Do nothing: device memory is never shared between processes."""


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """(major, minor) of the CUDA compute capability.

    Raises:
        NotImplementedError: the device is not an NVIDIA GPU.
    """
    described = jax_devices()[device_index(device)]
    capability = getattr(described, "compute_capability", None)
    if capability is None:
        raise NotImplementedError(f"torch.{NAME}.get_device_capability: {described} is not an NVIDIA GPU")
    major, minor = str(capability).split(".")
    return int(major), int(minor)


def get_device_name(device: Any = None) -> str:
    """JAX's name for the device, such as "cpu" or "NVIDIA H200"."""
    return str(jax_devices()[device_index(device)].device_kind)


@dataclass(frozen=True)
class DeviceProperties:
    """The properties that JAX reports for a device."""

    name: str
    platform: str
    total_memory: int  # bytes: the limit of JAX's allocator; for a CPU, the machine's memory
    compute_capability: str | None
    multi_processor_count: int


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Name, platform, memory and number of cores of a device."""
    index = device_index(device)
    described = jax_devices()[index]
    total = _reported(index).get("bytes_limit")
    if total is None and described.platform == "cpu":
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return DeviceProperties(
        name=str(described.device_kind),
        platform=described.platform,
        total_memory=int(total or 0),
        compute_capability=getattr(described, "compute_capability", None),
        multi_processor_count=int(getattr(described, "core_count", None) or os.cpu_count() or 1),
    )
