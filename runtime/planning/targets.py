"""`tenax.target`: devices that need not exist, for whose compiler programs can be made."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import Any

import jax
from jax.experimental import topologies

from . import gpus
from .chips import CHIPS, Chip

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
    if kind in gpus.GPUS:
        found = gpus.compiler()
        if found is None:
            raise _missing(name, "JAX's plugin for CUDA", "cuda")
        plugin, toolkit = found
        with _environment(_ENVIRONMENT):
            devices = gpus.devices(kind, topology or "1", plugin)
        return Target(name, "gpu", tuple(devices), CHIPS[kind], {"xla_gpu_cuda_data_dir": toolkit})
    if kind not in _SMALLEST:
        known = ", ".join(map(repr, (*_SMALLEST, *gpus.GPUS)))
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
