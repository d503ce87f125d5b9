"""`tenax.compile_for`: the program of a step for a device that need not exist."""

from __future__ import annotations

import importlib
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import torch
from jax.experimental.mesh_utils import create_device_mesh
from jax.extend.core import Jaxpr
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from .._jit.collectives import Collective, collectives
from .._jit.compiled_step import CompiledStep
from .._jit.jitted import CompiledFunction, JitModule, compiled_of
from .._jit.lines import locate
from .._torch import pytree
from ..errors import TraceError
from ..platforms import made_for
from ..sharding.rules import Rules
from ..tracebacks import line_of
from .products import flops_of_products
from .report import Memory, grouped, rows_of_exchanges, size
from .stand_ins import StandIns, bytes_of_state
from .targets import Target, target_of

LOWERED_FOR = {"gpu": "cuda", "tpu": "tpu"}  # as JAX's lowering rules name the platforms
_SHOWN = 3  # values in the text of an error
_KERNEL = re.compile(r'custom_call_target="([^"]+)"')


@dataclass(frozen=True)
class TargetProgram:
    """A step as a compiler has compiled it: the result of `tenax.compile_for`, which prints as a table."""

    target: str
    mesh: dict[str, int]
    text: str = field(repr=False)  # the optimized program, in XLA's HLO
    memory: Memory  # bytes on each device
    flops: float  # of matrix products and convolutions, on all devices
    cost: Mapping[str, float] = field(repr=False)  # XLA's estimates for each device; loops count once
    kernels: Mapping[str, int]  # custom calls by their target; kernels of Pallas are `tpu_custom_call`
    collectives: tuple[Collective, ...]
    seconds: float  # for tracing and compiling

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The numbers as pairs of text."""
        found = [(name, size(value)) for name, value in (*self.memory._asdict().items(), ("total", self.memory.total))]
        found += [("products, in all", f"{self.flops:.3g} operations")]
        if "bytes accessed" in self.cost:  # XLA does not say so of GPUs
            found += [("memory accesses", size(self.cost["bytes accessed"]))]
        found += [(f"kernel {name}", f"{count} times") for name, count in self.kernels.items()]
        for kind, count, amount, scope, line in rows_of_exchanges(grouped(self.collectives)):
            found.append((kind, ", ".join(filter(None, (f"{count} times", amount, scope, line)))))
        return found

    def __str__(self) -> str:
        return "\n".join([self._title, *(f"  {name}: {value}" for name, value in self.rows)])

    def __rich__(self) -> Any:
        table = importlib.import_module("rich.table").Table("on each device", self._title)
        for row in self.rows:
            table.add_row(*row)
        return table

    @property
    def _title(self) -> str:
        mesh = ", ".join(f"{axis}={size}" for axis, size in self.mesh.items())
        return f"{self.target}{f' ({mesh})' * bool(mesh)}, compiled in {self.seconds:.1f} s"


def compile_for(
    step: Callable[..., Any],
    *args: Any,
    target: str | Target,
    mesh: Mapping[str, int] | None = None,
    rules: Rules | None = None,
    batch: PartitionSpec | None = None,
) -> TargetProgram:
    """Compile a step for a device that need not exist, with that device's own compiler. Nothing is run.

    The program is the one that `tenax.jit` would make there: forward, and what the step itself does by `backward()`,
    `torch.autograd.grad` and optimizers.

    Args:
        step: a function, a module or a result of `tenax.jit`. Modules that it reaches may be on the device "meta", in
            which case their tensors are not allocated.
        args: its positional arguments; tensors on the device "meta" or "jax".
        target: see `tenax.target`.
        mesh: the axes of a mesh over all devices of the target, with sizes; by default the program is for one of them.
        rules: the sharding of the tensors of modules over the mesh, see `tenax.shard`. Optimizer state is sharded like
            its parameter, everything else is on each device.
        batch: a `PartitionSpec` for the tensors of `args`. By default their first dimension is split by the first axis.

    Raises:
        ValueError: as `tenax.target`; the mesh has another number of devices; a spec does not fit; a tensor on "meta"
            belongs to no module or optimizer; a tensor is on several devices.
        TraceError: as in `tenax.jit`.
        torch.OutOfMemoryError: the program does not fit into the memory of a device, as its compiler says in bytes; the
            text names the largest values that the program computes, with their lines.
        jax.errors.JaxRuntimeError: the compiler refuses the program.
    """
    found = target_of(target)
    where = laid_over(found.devices, mesh or {})
    spec = PartitionSpec(next(iter(mesh or {}), None)) if batch is None else batch
    return compiled(lambda: (step, args), where, found, rules or {}, spec)


def laid_over(devices: Sequence[jax.Device], mesh: Mapping[str, int]) -> jax.sharding.Sharding:
    """The replicated sharding of a mesh over devices, or the first device if there are no axes.

    Raises:
        ValueError: the mesh has another number of devices.
    """
    if not mesh:
        return SingleDeviceSharding(devices[0])
    if math.prod(mesh.values()) != len(devices):
        raise ValueError(f"a mesh of {math.prod(mesh.values())} devices ({dict(mesh)}); expected {len(devices)}")
    placed = create_device_mesh((*mesh.values(),), devices, allow_split_physical_axes=True)
    return NamedSharding(Mesh(placed, (*mesh,), (AxisType.Auto,) * len(mesh)), PartitionSpec())


def compiled(
    make: Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]],
    where: jax.sharding.Sharding,
    target: Target | None,
    rules: Rules,
    batch: PartitionSpec,
) -> TargetProgram:
    """The program of the step that `make` returns with its arguments, for a target or for CPUs; see `StandIns`."""
    started = time.perf_counter()
    platform = "cpu" if target is None else target.platform
    with StandIns(where, rules, batch) as stand_ins, made_for(platform, where.num_devices):
        step, arguments = make()
        if isinstance(step, (CompiledFunction, JitModule)):
            step = compiled_of(step).function
        arguments = stand_ins.place(step, arguments)
        leaves, _ = pytree.tree_flatten((arguments, {}))
        try:
            traced = CompiledFunction(step).compiled_step(arguments, {}, leaves, ())
        except TraceError as error:
            locate(error, step)
            raise
        executable: Any = _executable(traced, leaves, where, target)
        weights, optimizer = bytes_of_state(step)
    text, memory = executable.as_text(), executable.memory_analysis()
    rest = max(0, memory.argument_size_in_bytes - weights - optimizer)
    results = memory.output_size_in_bytes - memory.alias_size_in_bytes
    used = Memory(weights, optimizer, rest, memory.temp_size_in_bytes, results)
    if target is not None and used.total > target.chip.memory:  # the compiler of GPUs does not look
        raise torch.OutOfMemoryError(
            f"the program needs {size(used.total)} on each device; {target.name} has {size(target.chip.memory)}"
            + _largest_values(traced.jaxpr)
        )
    return TargetProgram(
        target="" if target is None else target.name,
        mesh={} if stand_ins.mesh is None else dict(stand_ins.mesh.shape),
        text=text,
        memory=used,
        flops=flops_of_products(traced.jaxpr),
        cost=executable.cost_analysis() or {},
        kernels=Counter(_KERNEL.findall(text)),
        collectives=collectives(text),
        seconds=time.perf_counter() - started,
    )


def _executable(
    step: CompiledStep, leaves: list[Any], where: jax.sharding.Sharding, target: Target | None
) -> jax.stages.Compiled:
    cells = step.find(leaves)
    assert isinstance(cells, list)  # checked by the step's constructor
    host: list[Any] = step.inputs.from_host(leaves)
    avals: list[Any] = [cells[i].aval for i in step.arrays.places]
    places = [*(where for _ in host), *(aval.sharding or where for aval in avals)]
    with jax.enable_x64(True):  # without it a ShapeDtypeStruct of int64 becomes int32
        given = [
            jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding)
            for x, sharding in zip((*host, *avals), places, strict=True)
        ]
        platform = "cpu" if target is None else LOWERED_FOR[target.platform]
        lowered = step.forward.jitted.trace(*given).lower(lowering_platforms=(platform,))
    try:
        return lowered.compile(None if target is None else dict(target.options))
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        text = f"the program does not fit into the memory of a device: {str(error).rstrip('.')}"
        raise torch.OutOfMemoryError(text + _largest_values(step.jaxpr)) from error


def _largest_values(jaxpr: Jaxpr) -> str:
    """The largest values that a program computes, one for each line of the user's program, as text."""
    found: dict[str, Any] = {}
    for equation in jaxpr.eqns:
        line = line_of(equation)
        for aval in (variable.aval for variable in equation.outvars):
            if line not in found or _bytes(aval) > _bytes(found[line]):
                found[line] = aval
    largest = sorted(found.items(), key=lambda item: -_bytes(item[1]))[:_SHOWN]
    shown = (f"{size(_bytes(aval))} {aval.str_short()}" + f" ({line})" * bool(line) for line, aval in largest)
    return f". The largest values of the whole program: {', '.join(shown)}"


def _bytes(aval: Any) -> int:
    return int(aval.size * aval.dtype.itemsize)
