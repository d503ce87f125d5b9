"""`tenax.target`: devices that need not exist, for whose compiler programs can be made."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import jax
from jax.experimental import topologies

from .chips import CHIPS, Chip

# JAX's plugins that compile for GPUs, each with the package of CUDA's compiler.
_PLUGINS = {"jax_plugins.xla_cuda13": "nvidia.cu13", "jax_plugins.xla_cuda12": "nvidia.cuda_nvcc"}
# The kinds of TPU that libtpu compiles for, with the smallest topology of each.
_SMALLEST = {"TPU v4": "2x2x1", "TPU v5e": "2x2", "TPU v5p": "2x2x1", "TPU v6e": "2x2", "TPU7x": "2x2x1"}
# Without these, libtpu asks a metadata server for its machine, and takes a lock that keeps other processes out; and the
# plugin for GPUs asks the driver for its version.
_ENVIRONMENT = {
    "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1",
    "TPU_SKIP_MDS_QUERY": "1",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TPU_WORKER_HOSTNAMES": "localhost",
}


class _Gpu(NamedTuple):
    """What XLA's compiler asks of a GPU, as in XLA's xla/backends/gpu/target_config/specs; sizes in bytes."""

    capability: int
    multiprocessors: int
    lanes: int  # of float32 in a multiprocessor
    shared: int  # memory of a multiprocessor
    cache: int  # of the second level
    clock: float  # GHz


_GPUS = {
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


@dataclass(frozen=True)
class Target:
    """The devices of a topology, which can be compiled for but not run on, and the figures of one of them."""

    name: str
    platform: str  # as JAX names its backends: "gpu" or "tpu"
    devices: tuple[jax.Device, ...]
    chip: Chip
    options: Mapping[str, str] = field(default_factory=dict, repr=False)  # of the compiler


@cache
def target(name: str) -> Target:
    """A topology of devices that need not exist, for `tenax.compile_for` and `tenax.distributed.plan`.

    The compiler of TPUs is in the package libtpu, which `pip install 'tenax[targets]'` adds; or the environment
    variable TENAX_LIBTPU names the file libtpu.so, wherever it is. While it is loaded, the variables TPU_LIBRARY_PATH,
    TPU_SKIP_MDS_QUERY, ALLOW_MULTIPLE_LIBTPU_LOAD, TPU_ACCELERATOR_TYPE and TPU_WORKER_HOSTNAMES are set, unless they
    are already. The compiler of GPUs is JAX's plugin for CUDA, which `pip install 'tenax[cuda]'` adds.

    Args:
        name: a kind of device with a topology. TPUs (v4, v5e, v5p, v6e or TPU7x): "TPU v5e:4x4" or "TPU v5p:8x8x8";
            without a topology it is the smallest one of that kind, of four chips, which are eight devices for TPU7x.
            GPUs (A100, H100 or H200): "H100" is one, "H100:8" is one host with eight, and "H100:4x8" is four hosts with
            eight each.

    Raises:
        ValueError: the kind is not known, or it has no such topology.
        ImportError: the compiler is missing.
    """
    kind, _, topology = name.partition(":")
    if kind in _GPUS:
        found = gpu_compiler()
        if found is None:
            raise _missing(name, "JAX's plugin for CUDA", "cuda")
        plugin, toolkit = found
        with _environment(_ENVIRONMENT):
            devices = _gpus(kind, topology or "1", plugin)
        return Target(name, "gpu", tuple(devices), CHIPS[kind], {"xla_gpu_cuda_data_dir": toolkit})
    if kind not in _SMALLEST:
        known = ", ".join(map(repr, (*_SMALLEST, *_GPUS)))
        raise ValueError(f"tenax.target: {name!r} is not known; expected one of {known}, and a topology: 'TPU v5e:4x4'")
    compiler = library()
    if compiler is None:
        raise _missing(name, "the package libtpu", "targets")
    described = f"{kind.removeprefix('TPU ')}:{topology or _SMALLEST[kind]}"
    options = {"chip_config_name": "megacore"} if kind == "TPU v4" else {}  # otherwise a device is half of a chip
    try:
        with _environment(_ENVIRONMENT | {"TPU_LIBRARY_PATH": compiler}):
            devices = [*topologies.get_topology_desc(described, "tpu", **options).devices]
    except jax.errors.JaxRuntimeError as error:
        raise ValueError(f"tenax.target: {name!r} is no topology of these chips: {error}") from error
    return Target(name, "tpu", tuple(devices), CHIPS[kind])


def _missing(name: str, what: str, extra: str) -> ImportError:
    return ImportError(f"tenax.target({name!r}): {what} is missing; expected pip install 'tenax[{extra}]'")


def library() -> str | None:
    """The file of the compiler of TPUs; None if there is none."""
    named = os.environ.get("TENAX_LIBTPU")
    if named is None and (package := find_spec("libtpu")) is not None:
        named = os.path.join(*(package.submodule_search_locations or ()), "libtpu.so")
    return named if named is not None and os.path.exists(named) else None


def gpu_compiler() -> tuple[str, str] | None:
    """The module of JAX's CUDA plugin, and the folder of CUDA's compiler; None if they are not installed."""
    for plugin, toolkit in _PLUGINS.items():
        if all(find_spec(name.partition(".")[0]) and find_spec(name) for name in (plugin, toolkit)):
            return plugin, next(iter(import_module(toolkit).__path__))
    return None


def _gpus(name: str, topology: str, plugin: str) -> list[jax.Device]:
    """The GPUs of a topology: a number of them, or numbers of hosts and of GPUs in each, as in "4x8".

    Raises:
        ValueError: it is not one of these.
    """
    if not re.fullmatch(r"([1-9]\d*x)?[1-9]\d*", topology):
        raise ValueError(
            f"tenax.target: '{name}:{topology}' is no topology; expected a number of GPUs, or 'HOSTSxGPUS'"
        )
    gpu, chip = _GPUS[name], CHIPS[name]
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


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set those of the environment variables that are not set."""
    added = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def target_of(which: Any) -> Target:
    """A target by its name; a `Target` is returned unchanged."""
    return which if isinstance(which, Target) else target(which)
