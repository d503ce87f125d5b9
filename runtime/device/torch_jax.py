"""`torch.jax`, torch's device module: device counts, seeds, streams and memory."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from ..storage import random
from ..storage.ordinals import NAME, current_index, device_count, device_index, set_current_index
from . import fork


class device:  # noqa: N801 (torch's name)
    """Context manager that sets the current device. `index` is an int, a string or a `torch.device`."""

    def __init__(self, index: Any) -> None:
        self.index = device_index(index)

    def __enter__(self) -> None:
        self.previous = current_index()
        set_current_index(self.index)

    def __exit__(self, *exc: object) -> None:
        set_current_index(self.previous)


class device_of(device):  # noqa: N801
    """Context manager that makes the device of a tensor the current one."""

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__(tensor.device if tensor.device.type == NAME else current_index())


def set_device(index: Any) -> None:
    """Make a device the current one of this thread."""
    set_current_index(device_index(index))


def synchronize(device: Any = None) -> None:
    """Wait until all computations on the device have finished. Errors of asynchronous work are raised here, once.

    Work dispatched by other threads is waited for only if one of its results is still alive.

    Raises:
        torch.OutOfMemoryError: the memory of the device did not suffice for a result.
        RuntimeError, IndexError, ...: another error of a computation.
    """
    from .streams import wait_for

    wait_for(device_index(device))


# Modules that are imported on first access to one of their names.
_LATE = {
    "streams": "Stream Event StreamContext current_stream set_stream stream",
    "memory_statistics": (
        "memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_stats mem_get_info "
        "memory_summary reset_peak_memory_stats empty_cache ipc_collect get_device_name get_device_properties "
        "get_device_capability"
    ),
}
_HOME = {name: module for module, names in _LATE.items() for name in names.split()} | {"default_stream": "streams"}


_PUBLIC: dict[str, Any] = {
    "device": device,
    "device_of": device_of,
    "device_count": device_count,
    "current_device": current_index,
    "set_device": set_device,
    "synchronize": synchronize,
    "is_bf16_supported": lambda: True,  # every JAX platform computes in bfloat16
    "is_available": lambda: True,
    "is_initialized": lambda: not fork.is_forked_child(),
    "_initialized": True,  # torch.utils.checkpoint saves random state only if this is set
    "_is_in_bad_fork": fork.is_forked_child,
    "_lazy_init": lambda: None,
    "manual_seed": random.manual_seed,
    "manual_seed_all": random.manual_seed,
    "seed": random.seed,
    "seed_all": random.seed,
    "initial_seed": random.initial_seed,
    "get_rng_state": random.get_rng_state,
    "set_rng_state": random.set_rng_state,
    "get_rng_state_all": lambda: [random.get_rng_state()] * device_count(),  # all devices share one
    "set_rng_state_all": lambda states: random.set_rng_state(states[0]),
    "reset_accumulated_memory_stats": lambda device=None: None,  # JAX counts none
    "OutOfMemoryError": torch.OutOfMemoryError,
    "get_amp_supported_dtype": lambda: [torch.bfloat16, torch.float16, torch.float32],
}
NAMES = {*_PUBLIC, *_HOME}


def attribute(name: str) -> Any:
    """An attribute of the module `torch.jax`."""
    if name in _PUBLIC:
        return _PUBLIC[name]
    if name not in _HOME:
        raise AttributeError(f"module 'torch.{NAME}' has no attribute {name!r}")
    module = importlib.import_module(f"{__package__}.{_HOME[name]}")
    return getattr(module, "current_stream" if name == "default_stream" else name)
