"""`torch.jax`, the device module that torch asks for counts, seeds and memory."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any

import torch

from ..storage import random
from ..storage.ordinals import (
    NAME,
    current_index,
    device_count,
    device_index,
    jax_devices,
    set_current_index,
)
from ..trace.async_errors import raise_failed_assertions
from . import fork


class device:  # noqa: N801 (torch's name)
    """Context manager: the current device inside it. `index` is an int, a string or a `torch.device`."""

    def __init__(self, index: Any) -> None:
        self.index = device_index(index)

    def __enter__(self) -> None:
        self.previous = current_index()
        set_current_index(self.index)

    def __exit__(self, *exc: object) -> None:
        set_current_index(self.previous)


class device_of(device):  # noqa: N801
    """Context manager: the device of a tensor becomes the current one."""

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__(tensor.device if tensor.device.type == NAME else current_index())


def set_device(index: Any) -> None:
    """Make a device the current one of this thread."""
    set_current_index(device_index(index))


def synchronize(device: Any = None) -> None:
    """Wait until all computations on the device have finished. Errors of asynchronous work are raised here."""
    import jax

    index = device_index(device)
    jax.device_put(0, jax.devices()[index]).block_until_ready()
    for array in jax.live_arrays():
        if not array.is_deleted():
            array.block_until_ready()
    raise_failed_assertions(wait=True)


def _statistics(device: Any) -> dict[str, int]:
    return jax_devices()[device_index(device)].memory_stats() or {}


def memory_stats(device: Any = None) -> dict[str, int]:
    """JAX's statistics of the device's memory, in bytes; empty if the platform reports none (CPU)."""
    return dict(_statistics(device))


def memory_allocated(device: Any = None) -> int:
    """Bytes in use; 0 if the platform does not report them."""
    return int(_statistics(device).get("bytes_in_use", 0))


def max_memory_allocated(device: Any = None) -> int:
    """Peak bytes in use since the process started; 0 if the platform does not report them."""
    return int(_statistics(device).get("peak_bytes_in_use", 0))


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """(free, total) bytes of the device.

    Raises:
        NotImplementedError: the platform reports no limit.
    """
    stats = _statistics(device)
    if "bytes_limit" not in stats:
        raise NotImplementedError(f"torch.jax.mem_get_info: {jax_devices()[device_index(device)]} reports no limit")
    return stats["bytes_limit"] - stats["bytes_in_use"], stats["bytes_limit"]


def empty_cache() -> None:
    """Free unreferenced buffers by a garbage collection: JAX keeps no pool that could be emptied."""
    import gc

    gc.collect()


def get_device_name(device: Any = None) -> str:
    """JAX's name of the device, such as "cpu" or "NVIDIA H200"."""
    return str(jax_devices()[device_index(device)].device_kind)


def is_bf16_supported() -> bool:
    """Every JAX platform computes in bfloat16."""
    return True


@contextlib.contextmanager
def _no_stream(stream: Any = None) -> Iterator[None]:
    yield


def device_module() -> types.ModuleType:
    """`torch.jax`: the device module that torch asks for counts, seeds and streams."""
    module = types.ModuleType("torch.jax", "Device module of tenax: PyTorch on JAX.")
    public = {
        "device": device,
        "device_of": device_of,
        "device_count": device_count,
        "current_device": current_index,
        "set_device": set_device,
        "synchronize": synchronize,
        "empty_cache": empty_cache,
        "memory_stats": memory_stats,
        "memory_allocated": memory_allocated,
        "max_memory_allocated": max_memory_allocated,
        "mem_get_info": mem_get_info,
        "get_device_name": get_device_name,
        "is_bf16_supported": is_bf16_supported,
        "is_available": lambda: True,
        "is_initialized": lambda: not fork.is_forked_child(),
        "_initialized": True,  # torch.utils.checkpoint keeps the random state of a device module that says so
        "_is_in_bad_fork": fork.is_forked_child,
        "_lazy_init": lambda: None,
        "stream": _no_stream,
        "manual_seed": random.manual_seed,
        "manual_seed_all": random.manual_seed,
        "seed": random.seed,
        "initial_seed": random.initial_seed,
        "get_rng_state": random.get_rng_state,
        "set_rng_state": random.set_rng_state,
        "get_amp_supported_dtype": lambda: [torch.bfloat16, torch.float16, torch.float32],
    }
    for name, value in public.items():
        setattr(module, name, value)
    return module
