"""Trace and compile a step for a mesh of host devices, in a process that has enough of them."""

from __future__ import annotations

import math
import multiprocessing
import os
import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import Any

import jax
import torch
from jax.sharding import AxisType, Mesh, PartitionSpec

from .._jax import backends_are_initialized
from .._jit.collectives import collectives
from .._jit.compiled_step import CompiledStep
from .._jit.jitted import CompiledFunction
from .._torch import pytree
from ..sharding.current import mesh as current_mesh
from ..sharding.rules import Rules
from .chips import Chip, chip_of
from .products import flops_of_products
from .report import StepPlan
from .result import Memory, extended, grouped
from .stand_ins import StandIns, bytes_of_modules, bytes_of_optimizers

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
) -> StepPlan:
    """Estimate memory, operations and collectives of a training step on a mesh of devices that need not exist.

    The step is traced and compiled but not run, and no tensor is allocated. XLA's CPU compiler shards it, as those of
    GPUs and TPUs would. It emits an all-reduce where these emit a reduce-scatter of half the bytes, and its temporaries
    are those of the CPU, so the numbers are estimates.

    Args:
        build: creates the model, the optimizer and the step, on the device "meta", which is the default device during
            the call, and returns the step and a tuple of its arguments. It must be a module-level function, because it
            is called in a new process unless this one has enough devices. With `layers` it receives the layer count.
        mesh_shape: the axes of the mesh, with sizes; at most 512 devices.
        rules: the sharding of the tensors of modules; see `tenax.shard`. Optimizer state is sharded like its parameter.
        batch: a `PartitionSpec` for the arguments of the step. By default their first dimension is split by the first
            axis.
        chip: for a roofline: a name, such as "H100" or "TPU v5p", or a `Chip` with the figures.
        layers: compile stacks of one and two layers, and extrapolate linearly to this number.

    Raises:
        ValueError: the chip is not known; there are more than 512 devices; a spec does not fit; a tensor is not on the
            device "meta".
        TraceError: as in `tenax.jit`.
    """
    figures = None if chip is None else chip_of(chip)
    devices = math.prod(mesh_shape.values())
    if not 1 <= devices <= _MOST:
        raise ValueError(f"tenax.distributed.plan: a mesh of {devices} devices; expected at most {_MOST}")
    first = next(iter(mesh_shape), None)
    spec = PartitionSpec(first) if batch is None else batch
    arguments = build, dict(mesh_shape), rules, spec, layers
    if backends_are_initialized() and len(jax.devices("cpu")) >= devices:
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
    build: Build, mesh_shape: dict[str, int], rules: Rules, batch: PartitionSpec, layers: int | None
) -> StepPlan:
    devices = jax.devices("cpu")[: math.prod(mesh_shape.values())]
    sizes, names = tuple(mesh_shape.values()), tuple(mesh_shape)
    mesh = jax.make_mesh(sizes, names, (AxisType.Auto,) * len(names), devices=devices)
    if layers is None or layers <= 2:
        return _compiled(build, () if layers is None else (layers,), mesh, rules, batch)
    one, two = (replace(_compiled(build, (n,), mesh, rules, batch), layers=(n,)) for n in (1, 2))
    return extended(one, two, layers)


def _compiled(build: Build, args: tuple[int, ...], mesh: Mesh, rules: Rules, batch: PartitionSpec) -> StepPlan:
    started = time.perf_counter()
    with current_mesh(mesh):
        with torch.device("meta"):
            step, arguments = build(*args)
        if isinstance(step, CompiledFunction):
            step = step.function
        arguments = StandIns(mesh).place(step, arguments, rules, batch)
        leaves, _ = pytree.tree_flatten((arguments, {}))
        compiled = CompiledFunction(step).compiled_step(arguments, {}, leaves, ())
        executable: Any = _executable(compiled, leaves)
    text, memory, cost = executable.as_text(), executable.memory_analysis(), executable.cost_analysis() or {}
    weights, optimizer = bytes_of_modules(step), bytes_of_optimizers(step)
    rest = max(0, memory.argument_size_in_bytes - weights - optimizer)
    results = memory.output_size_in_bytes - memory.alias_size_in_bytes
    return StepPlan(
        mesh=dict(mesh.shape),
        memory=Memory(weights, optimizer, rest, memory.temp_size_in_bytes, results),
        flops=flops_of_products(compiled.jaxpr),
        bytes_accessed=cost.get("bytes accessed", 0.0),
        exchanges=grouped(collectives(text)),
        seconds=time.perf_counter() - started,
    )


def _executable(step: CompiledStep, arguments: list[Any]) -> jax.stages.Compiled:
    """The program of a step, compiled for the stand-in arrays."""
    cells = step.find(arguments)
    assert isinstance(cells, list)  # checked by the step's constructor
    arrays, _ = step.arrays.read(cells, False)
    return step.forward.jitted.trace(*step.host.arrays(arguments), *arrays).lower().compile()
