"""The device "jax": registered with torch on import, without importing JAX or any kernel.

This is the one module that touches torch's Python backend for PrivateUse1, which is young and underscored; a torch
release is supported when the tests pass on it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any

import torch

from . import engine

NAME = "jax"
_PRIVATE_USE = torch._C._autograd.DeviceType.PrivateUse1
_state = threading.local()
_registered = False
_forked = False


def jax_devices() -> list[Any]:
    """`jax.devices()`: what the indices of device "jax" count."""
    import jax

    return jax.devices()


def device_count() -> int:
    """How many devices JAX has."""
    return len(jax_devices())


def current_index() -> int:
    """The index that a bare "jax" means on this thread."""
    return getattr(_state, "index", 0)


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
        device = torch.device(device)
        if device.type != NAME:
            raise RuntimeError(f"torch.jax: Expected a jax device, but got: {device}")
        index = current_index() if device.index is None else device.index
    if index and not 0 <= index < device_count():
        raise RuntimeError(
            f"jax error: invalid device ordinal {index}; expected 0 <= index < {device_count()}: {jax_devices()}"
        )
    return index


class _Hooks(torch._C._acc.PrivateUse1Hooks):
    def is_available(self) -> bool:
        return True

    def has_primary_context(self, index: int) -> bool:
        return True

    def is_built(self) -> bool:
        return True


class _Guard(torch._C._acc.DeviceGuard):
    def type_(self) -> Any:
        engine.keep_failure()
        return _PRIVATE_USE


class device:  # noqa: N801 (torch's name)
    """Context manager: the current device inside it. `index` is an int, a string or a `torch.device`."""

    def __init__(self, index: Any) -> None:
        self.index = device_index(index)

    def __enter__(self) -> None:
        self.previous = current_index()
        _state.index = self.index

    def __exit__(self, *exc: object) -> None:
        _state.index = self.previous


class device_of(device):  # noqa: N801
    """Context manager: the device of a tensor becomes the current one."""

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__(tensor.device if tensor.device.type == NAME else current_index())


def set_device(index: Any) -> None:
    """Make a device the current one of this thread."""
    _state.index = device_index(index)


def synchronize(device: Any = None) -> None:
    """Wait until every computation on the device has ended. Errors of asynchronous work are raised here."""
    import jax

    index = device_index(device)
    jax.device_put(0, jax.devices()[index]).block_until_ready()
    for array in jax.live_arrays():
        if not array.is_deleted():
            array.block_until_ready()
    from ..tracing.deferred import verify

    verify(wait=True)


def _statistics(device: Any) -> dict[str, int]:
    return jax_devices()[device_index(device)].memory_stats() or {}


def memory_stats(device: Any = None) -> dict[str, int]:
    """What JAX reports of the device's memory, in bytes; empty where the platform reports nothing (CPU)."""
    return dict(_statistics(device))


def memory_allocated(device: Any = None) -> int:
    """Bytes in use; 0 where the platform reports nothing."""
    return int(_statistics(device).get("bytes_in_use", 0))


def max_memory_allocated(device: Any = None) -> int:
    """Peak bytes in use since the process started; 0 where the platform reports nothing."""
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
    """Forget compiled programs and make unreferenced buffers free: JAX keeps no pool that could be emptied."""
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


def _module() -> types.ModuleType:
    """`torch.jax`: the device module that torch asks for counts, seeds and streams."""
    from . import random

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
        "is_initialized": lambda: not _forked,
        "_initialized": True,  # torch.utils.checkpoint keeps the random state of a device module that says so
        "_is_in_bad_fork": lambda: _forked,
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


def _after_fork() -> None:
    global _forked
    _forked = "jax" in sys.modules
    if _forked:
        from .cell import poison

        poison()


def register() -> None:
    """Make "jax" a torch device. Calling it again does nothing."""
    global _registered
    if _registered:
        return
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

    _registered = True
    current = torch._C._get_privateuse1_backend_name()
    if current not in ("privateuseone", NAME):
        raise RuntimeError(f"tenax: torch's one free device is taken by {current!r}; expected it to be unused")
    _setup_privateuseone_for_python_backend(NAME, _module(), _Hooks(), _Guard())
    from ..dispatch import register as kernels
    from . import allocator, module, random, saving, storage, tensor

    kernels.register_first()
    engine.install()
    module.install()
    allocator.install()
    storage.install()
    tensor.install()
    saving.install()
    random.install()
    os.register_at_fork(after_in_child=_after_fork)
