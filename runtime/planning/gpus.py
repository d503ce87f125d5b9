"""NVIDIA GPUs that need not exist: the plugin of JAX that compiles for them, and what it is told of them."""

from __future__ import annotations

import re
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

import jax
from jax.experimental import topologies

from .chips import CHIPS

_PLUGINS = {"jax_plugins.xla_cuda13": "nvidia.cu13", "jax_plugins.xla_cuda12": "nvidia.cuda_nvcc"}


class _Gpu(NamedTuple):
    """What XLA's compiler asks of a GPU, as in XLA's xla/backends/gpu/target_config/specs; sizes in bytes."""

    capability: int
    multiprocessors: int
    lanes: int  # of float32 in a multiprocessor
    shared: int  # memory of a multiprocessor
    cache: int  # of the second level
    clock: float  # GHz


GPUS = {
    "A100": _Gpu(8, 108, 64, 164 << 10, 40 << 20, 1.41),
    "H100": _Gpu(9, 132, 128, 228 << 10, 50 << 20, 1.98),
    "H200": _Gpu(9, 132, 128, 228 << 10, 50 << 20, 1.98),
}
# One kilobyte of a block's shared memory is the system's.
_DESCRIPTION = """
gpu_device_info {{
  cuda_compute_capability {{ major: {gpu.capability} {features} }}
  core_count: {gpu.multiprocessors} fpus_per_core: {gpu.lanes} clock_rate_ghz: {gpu.clock}
  threads_per_block_limit: 1024 threads_per_core_limit: 2048 threads_per_warp: 32
  thread_dim_limit_x: 1024 thread_dim_limit_y: 1024 thread_dim_limit_z: 64
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
  shared_memory_per_core: {gpu.shared} shared_memory_per_block: 49152 shared_memory_per_block_optin: {optin}
  l2_cache_size: {gpu.cache} device_memory_size: {memory:.0f} memory_bandwidth: {bandwidth:.0f}
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 10 }}
device_description_str: "NVIDIA {name}"
"""


def compiler() -> tuple[str, str] | None:
    """The module of JAX's CUDA plugin, and the folder of CUDA's compiler; None if they are not installed."""
    for plugin, toolkit in _PLUGINS.items():
        if all(find_spec(name.partition(".")[0]) and find_spec(name) for name in (plugin, toolkit)):
            return plugin, next(iter(import_module(toolkit).__path__))
    return None


def devices(name: str, topology: str, plugin: str) -> list[jax.Device]:
    """The GPUs of a topology: a number of them, or numbers of hosts and of GPUs in each, as in "4x8".

    Raises:
        ValueError: it is not one of these.
    """
    if not re.fullmatch(r"([1-9]\d*x)?[1-9]\d*", topology):
        raise ValueError(
            f"tenax.target: '{name}:{topology}' is no topology; expected a number of GPUs, or 'HOSTSxGPUS'"
        )
    gpu, chip = GPUS[name], CHIPS[name]
    description = _DESCRIPTION.format(
        name=name,
        gpu=gpu,
        features="feature_extension: ACCELERATED_FEATURES" if gpu.capability >= 9 else "",
        optin=gpu.shared - 1024,
        memory=chip.memory,
        bandwidth=chip.bandwidth,
    )
    jax.local_devices()  # a plugin that is registered before JAX's backends start is started with them, and needs a GPU
    shape = f"1x{topology}" if "x" in topology else f"1x1x{topology}"
    made = partial(topologies.get_topology_desc, name, "cuda", target_config=description, topology=shape)
    try:
        return [*made().devices]
    except NotImplementedError:  # JAX has not registered the plugin, because there is no driver
        import_module(plugin).initialize()
        return [*made().devices]
