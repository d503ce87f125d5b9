"""`torch_xla.runtime`, which programs import as `xr`: devices, processes and the mode of the program."""

from __future__ import annotations

import os
from typing import Any

import jax

from ..._jax import backends_are_initialized
from ..._lazy import programs
from ...dispatch.jax_config import compilation_cache
from .devices import device_attributes, platform
from .ordinals import addressable_device_count as addressable_device_count
from .ordinals import addressable_runtime_device_count as addressable_runtime_device_count
from .ordinals import device_type as device_type
from .ordinals import global_device_count as global_device_count
from .ordinals import global_ordinal as global_ordinal
from .ordinals import global_runtime_device_count as global_runtime_device_count
from .ordinals import host_index as host_index
from .ordinals import is_spmd as is_spmd
from .ordinals import local_device_count as local_device_count
from .ordinals import local_ordinal as local_ordinal
from .ordinals import local_process_count as local_process_count
from .ordinals import process_count as process_count
from .ordinals import process_index as process_index
from .ordinals import using_pjrt as using_pjrt
from .ordinals import world_size as world_size
from .process import JAX_PLATFORMS
from .spmd_mode import mode


def set_device_type(pjrt_device: str) -> None:
    """Choose the platform, before the first tensor on the device.

    Raises:
        ValueError: there is no such platform.
        RuntimeError: JAX has started on another one.
    """
    name = pjrt_device.upper()
    if name not in JAX_PLATFORMS:
        raise ValueError(f"set_device_type({pjrt_device!r}): expected one of {', '.join(JAX_PLATFORMS)}")
    if not backends_are_initialized():
        jax.config.update("jax_platforms", JAX_PLATFORMS[name])
        return
    backends = [*JAX_PLATFORMS[name].split(","), *([] if name in ("CPU", "TPU") else ["gpu"])]  # JAX's name of both
    if jax.default_backend() not in backends:
        raise RuntimeError(
            f"set_device_type({pjrt_device!r}): JAX has started on {jax.default_backend()}; expected the call before "
            "the first tensor on the device"
        )


def global_runtime_device_attributes() -> list[dict[str, Any]]:
    """The attributes of each device of the program."""
    return [{"name": f"{platform()}:{d.id}", "device_kind": d.device_kind} for d in jax.devices()]


runtime_device_attributes = device_attributes


def use_spmd(auto: bool = False) -> None:
    """Declare that the program is a single one over a mesh; see `torch_xla.distributed.spmd`.

    Raises:
        NotImplementedError: `auto` is set; tensors are sharded as the program marks them.
    """
    if auto:
        raise NotImplementedError("use_spmd(auto=True): expected xs.mark_sharding, or tenax.shard(module, rules, mesh)")
    mode.spmd = True
    os.environ["XLA_USE_SPMD"] = "1"  # which programs read, and the processes that they start


def initialize_cache(path: str, readonly: bool = False) -> None:
    """Cache compiled programs in a folder; call this before the first compilation.

    Raises:
        NotImplementedError: `readonly` is set; JAX writes what it compiles.
    """
    if readonly:
        raise NotImplementedError(
            "initialize_cache: readonly=True; expected tenax.compilation_cache(path), which writes"
        )
    compilation_cache(path)


def get_num_cached_compilation_graph() -> int:
    """The number of programs in memory, of lazy mode and of `torch.compile(backend="openxla")`."""
    from .core.dynamo_bridge import graphs

    return programs.count() + len(graphs)


def is_bf16_supported() -> bool:
    """True: XLA computes bfloat16 on every platform."""
    return True


def get_master_ip() -> str:
    """The address of the first process."""
    return os.environ.get("MASTER_ADDR", "localhost")
