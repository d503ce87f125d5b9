"""The place of this replica, its devices, and the numbers of devices and processes. TorchDynamo inlines this file.

In a graph of `torch.compile` they are constants. Its guards compare the number of process groups made so far, which
may change them, the current device, and whether there are threads of `DataParallel`, which share graphs but not their
places.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import jax
import torch

from ..._jax import backends_are_initialized
from ..._torch.frames import assume_constant, inlined
from ..._torch.graph_collectives import break_graph
from ...storage.ordinals import NAME
from ...storage.ordinals import device_count as devices_of_process
from . import process, replicas
from .hardware import named_device, platform
from .settings import mode

inlined.add(__file__)


def _addressable() -> int:
    return 1 if replicas.place().size > 1 else devices_of_process()


def _local_processes() -> int:
    return int(os.environ.get("LOCAL_WORLD_SIZE", "1"))


def _platform() -> str:
    name = os.environ.get("PJRT_DEVICE", "").upper()
    if backends_are_initialized() or name not in ("CPU", "TPU") or "JAX_PLATFORMS" in os.environ:
        return platform()
    return name


def _host() -> int:
    return int(os.environ.get("GROUP_RANK", "0")) if process.launched() else jax.process_index() // _local_processes()


_READ: dict[str, Callable[[], Any]] = {
    "world_size": lambda: int(replicas.place().size),
    "global_ordinal": lambda: int(replicas.place().rank),
    "local_ordinal": lambda: int(replicas.place().local_rank),
    "addressable_device_count": _addressable,
    "local_device_count": lambda: _addressable() * _local_processes(),
    "global_device_count": lambda: int(replicas.place().size) if replicas.place().size > 1 else jax.device_count(),
    "device_type": _platform,
    "process_count": jax.process_count,
    "process_index": jax.process_index,
    "local_process_count": _local_processes,
    "device_count": devices_of_process,
    "host_index": _host,
}


def _constant(name: str, groups: int) -> Any:
    process.take_environment()
    return _READ[name]()


assume_constant(_constant)


def _require_one_place(name: str) -> None:
    if replicas.has_threads:
        break_graph(
            f"{name} of a replica differs among the threads of DataParallel, which share a graph; expected "
            "torch.compile without fullgraph=True, or the number as an argument"
        )


def _reading(name: str, doc: str) -> Callable[..., Any]:
    """A function of this replica's place. Its argument, a default value in PyTorch/XLA, is not needed."""

    def read(defval: int = 0) -> Any:
        if torch.compiler.is_dynamo_compiling():
            _require_one_place(name)
        return _constant(name, process.groups)

    read.__name__, read.__doc__ = name, doc
    return read


world_size = _reading("world_size", "The number of replicas.")
global_ordinal = _reading("global_ordinal", "The ordinal of this replica among all, from 0.")
local_ordinal = _reading("local_ordinal", "The ordinal of this replica among those of this host, from 0.")
device_count = _reading("device_count", "The number of devices of this process.")
addressable_device_count = _reading("addressable_device_count", "The number of devices of this process, or replica.")
local_device_count = _reading("local_device_count", "The number of devices of the processes on this host.")
global_device_count = _reading("global_device_count", "The number of devices of the program.")
process_count = _reading("process_count", "The number of processes of the program.")
process_index = _reading("process_index", "The index of this process.")
local_process_count = _reading("local_process_count", "The number of processes of the program on this host.")
host_index = _reading("host_index", "The index of this host.")
device_type = _reading("device_type", "'CPU', 'GPU' or 'TPU'; JAX is not started if `PJRT_DEVICE` says which.")


def _device(n: int, devkind: str | None) -> torch.device:
    return named_device(n, devkind)


assume_constant(_device)


def xla_device(n: int | None = None, devkind: str | None = None) -> torch.device:
    """The device with ordinal `n`, or the current one of this thread.

    Args:
        n: an index of `jax.local_devices()`.
        devkind: 'TPU', 'GPU' or 'CPU'.

    Raises:
        IndexError: there is no device with this ordinal.
        RuntimeError: there is no device of this kind.
    """
    if not torch.compiler.is_dynamo_compiling():
        return named_device(n, devkind)
    if n is None:
        _require_one_place("the current device")
        n = torch.accelerator.current_device_index()  # guarded
    return _device(n, devkind)


def device(index: int | None = None) -> torch.device:
    """The device with an index, or the current one of this thread."""
    return xla_device(index)


def devices() -> list[torch.device]:
    """The devices of this process."""
    return [xla_device(i) for i in range(device_count())]


def is_xla_tensor(tensor: torch.Tensor) -> bool:
    """Whether a tensor is on the device."""
    return tensor.device.type == NAME


def is_master_ordinal(local: bool = True) -> bool:
    """Whether this replica is the first of its host, or of all with `local=False`."""
    return (local_ordinal() if local else global_ordinal()) == 0


def is_spmd() -> bool:
    """Whether `xr.use_spmd` was called."""
    return mode.spmd


def using_pjrt() -> bool:
    """True: JAX has no other runtime."""
    return True
