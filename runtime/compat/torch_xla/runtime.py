"""`torch_xla.runtime`, which programs import as `xr`: devices, processes and the mode of the program."""

from __future__ import annotations

import os
from typing import Any

import jax

from ..._jax import backends_are_initialized
from ..._lazy import programs
from ...dispatch.jax_config import compilation_cache
from ...storage.ordinals import device_count
from .devices import device_attributes, get_local_ordinal, get_ordinal, platform, xrt_world_size
from .process import JAX_PLATFORMS, launched
from .spmd_mode import mode

world_size = xrt_world_size
global_ordinal = get_ordinal
local_ordinal = get_local_ordinal


def device_type() -> str:
    """'CPU', 'GPU' or 'TPU'. JAX is not started if `PJRT_DEVICE` says which, so that this may precede `xmp.spawn`."""
    name = os.environ.get("PJRT_DEVICE", "").upper()
    if backends_are_initialized() or name not in ("CPU", "TPU") or "JAX_PLATFORMS" in os.environ:
        return platform()
    return name


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


def using_pjrt() -> bool:
    """True: JAX has no other runtime."""
    return True


def process_count() -> int:
    """The number of processes of the program."""
    return jax.process_count()


def process_index() -> int:
    """The index of this process."""
    return jax.process_index()


def local_process_count() -> int:
    """The number of processes of the program on this host."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", "1"))


def host_index() -> int:
    """The index of this host."""
    return int(os.environ.get("GROUP_RANK", "0")) if launched() else process_index() // local_process_count()


def addressable_device_count() -> int:
    """The number of devices of this process."""
    return 1 if xrt_world_size() > 1 else device_count()


def local_device_count() -> int:
    """The number of devices of the processes on this host."""
    return addressable_device_count() * local_process_count()


def global_device_count() -> int:
    """The number of devices of the program."""
    return xrt_world_size() if xrt_world_size() > 1 else jax.device_count()


addressable_runtime_device_count = addressable_device_count
global_runtime_device_count = global_device_count


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


def is_spmd() -> bool:
    """Whether `use_spmd` was called."""
    return mode.spmd


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
