"""Trace and compile a step for a mesh of host devices, in a process that has enough of them."""

from __future__ import annotations

import math
import multiprocessing
import os
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import Any

import jax
import torch
from jax.sharding import PartitionSpec

from .._jax import backends_are_initialized
from ..sharding.rules import Rules
from .chips import Chip, chip_of
from .programs import compiled, laid_over
from .report import StepPlan, extended, grouped
from .targets import Target, target_of

Build = Callable[..., tuple[Callable[..., Any], tuple[Any, ...]]]
_MOST = 512


def plan(
    build: Build,
    mesh_shape: Mapping[str, int],
    rules: Rules,
    *,
    batch: Any = None,
    chip: str | Chip | None = None,
    layers: int | None = None,
    target: str | Target | None = None,
) -> StepPlan:
    """Estimate memory, operations and collectives of a training step on a mesh of devices that need not exist.

    The step is traced and compiled but not run, and no tensor is allocated. With a `target`, the numbers are those of
    its compiler. Without one, XLA's CPU compiler shards the step, as those of GPUs and TPUs would. It emits an
    all-reduce where these emit a reduce-scatter of half the bytes, and its temporaries are those of the CPU, so the
    numbers are estimates.

    Args:
        build: creates the model, the optimizer and the step, on the device "meta", which is the default device during
            the call, and returns the step and a tuple of its arguments. It must be a module-level function, because it
            is called in a new process unless this one has enough devices. With `layers` it receives the layer count.
        mesh_shape: the axes of the mesh, with sizes; at most 512 devices, or all devices of the target.
        rules: the sharding of the tensors of modules; see `tenax.shard`. Optimizer state is sharded like its parameter.
        batch: a `PartitionSpec` for the arguments of the step. By default their first dimension is split by the first
            axis.
        chip: for a roofline: a name, such as "H100" or "TPU v5p", or a `Chip` with the figures; by default that of the
            target.
        layers: compile stacks of one and two layers, and extrapolate linearly to this number.
        target: a topology that need not exist, such as "TPU v5p:8x8x8"; see `tenax.target`. The plan is made in this
            process, so `build` may be any function.

    Raises:
        ValueError: the chip or the target is not known; the number of devices does not fit; a spec does not fit; a
            tensor is not on the device "meta".
        TraceError: as in `tenax.jit`.
        torch.OutOfMemoryError: as `tenax.compile_for`, with a target.
    """
    where = None if target is None else target_of(target)
    figures = chip_of(chip) if chip is not None else where.chip if where is not None else None
    devices = math.prod(mesh_shape.values())
    if where is None and not 1 <= devices <= _MOST:
        raise ValueError(f"tenax.distributed.plan: a mesh of {devices} devices; expected at most {_MOST}")
    first = next(iter(mesh_shape), None)
    spec = PartitionSpec(first) if batch is None else batch
    arguments = build, dict(mesh_shape), rules, spec, layers
    if where is not None:
        found = _planned(*arguments, where)
    elif backends_are_initialized() and len(jax.devices("cpu")) >= devices:
        found = _planned(*arguments)
    else:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            found = pool.submit(_in_new_process, devices, arguments).result()
    return replace(found, chip=figures)


def _in_new_process(devices: int, arguments: tuple[Any, ...]) -> StepPlan:
    flags = re.sub(r"--xla_force_host_platform_device_count=\d+", "", os.environ.get("XLA_FLAGS", ""))
    # The machine code is not run, so LLVM need not optimise it.
    os.environ["XLA_FLAGS"] = f"{flags} --xla_backend_optimization_level=0".strip()
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", devices)
    return _planned(*arguments)


def _planned(
    build: Build,
    mesh_shape: dict[str, int],
    rules: Rules,
    batch: PartitionSpec,
    layers: int | None,
    target: Target | None = None,
) -> StepPlan:
    devices = jax.devices("cpu")[: math.prod(mesh_shape.values())] if target is None else target.devices
    where = laid_over(devices, mesh_shape)

    def planned(*numbers: int) -> StepPlan:
        def make() -> tuple[Callable[..., Any], tuple[Any, ...]]:
            with torch.device("meta"):
                return build(*numbers)

        program = compiled(make, where, target, rules, batch)
        return StepPlan(
            mesh=program.mesh,
            memory=program.memory,
            flops=program.flops,
            bytes_accessed=program.cost.get("bytes accessed", 0.0),
            exchanges=grouped(program.collectives),
            seconds=program.seconds,
            layers=numbers,
            target=program.target,
        )

    if layers is None or layers <= 2:
        return replace(planned(*([] if layers is None else [layers])), layers=())
    return extended(planned(1), planned(2), layers)
