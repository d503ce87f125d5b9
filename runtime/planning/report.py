"""The resources of a step on a mesh, and the times that result on a chip: as numbers, text and rich tables."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from .chips import Chip

_SHOWN = 12  # lines of collectives in a table; the text shows all
_COLLECTIVES = ("collective", "times", "bytes", "module", "line")


class Memory(NamedTuple):
    """Bytes on each device. Memory that a step overwrites in place counts once."""

    weights: float  # parameters and buffers
    optimizer: float  # state of optimizers
    batch: float  # arguments of the step, and other tensors that it reads
    temporaries: float  # activations, gradients and others that live within a step
    results: float

    @property
    def total(self) -> float:
        """The sum of all kinds."""
        return sum(self)


class Exchange(NamedTuple):
    """Collectives of one kind that stem from one line of the program."""

    kind: str
    times: float
    bytes: float  # the total of their results on each device
    scope: str  # modules; the numbers of layers are written as `*`
    line: str

    @property
    def wire_bytes(self) -> float:
        """The bytes that a device sends; an all-reduce goes around the ring twice."""
        return 2 * self.bytes if self.kind == "all-reduce" else self.bytes


class Times(NamedTuple):
    """Lower bounds of the seconds per step, by each limit of a chip."""

    compute: float
    memory: float
    network: float


@dataclass(frozen=True)
class StepPlan:
    """The resources of a training step on a mesh: the result of `tenax.distributed.plan`, which prints as a table."""

    mesh: dict[str, int]
    memory: Memory
    flops: float  # of matrix products and convolutions, of the whole step on all devices
    bytes_accessed: float  # in the memory of each device, as XLA counts them
    exchanges: tuple[Exchange, ...]
    seconds: float  # for tracing and compiling
    chip: Chip | None = None
    layers: tuple[int, ...] = ()  # if extrapolated: the two compiled layer counts, and that of the plan
    target: str = ""  # whose compiler compiled the step; that of the CPU if empty

    @property
    def devices(self) -> int:
        """The number of devices in the mesh."""
        return math.prod(self.mesh.values())

    @property
    def fits(self) -> bool | None:
        """Whether a device of the chip has enough memory; None without a chip."""
        return None if self.chip is None else self.memory.total <= self.chip.memory

    @property
    def times(self) -> Times | None:
        """The roofline on the chip; None without a chip. The step takes at least the longest of these times."""
        if self.chip is None:
            return None
        wire = sum(e.wire_bytes for e in self.exchanges)
        return Times(
            self.flops / self.devices / self.chip.flops,
            self.bytes_accessed / self.chip.bandwidth,
            wire / self.chip.network,
        )

    def __str__(self) -> str:
        lines = [_title(self), *(f"  {name}: {value}" for name, value in _amounts(self))]
        for kind, count, amount, scope, line in rows_of_exchanges(self.exchanges):
            lines.append(f"  {count} of {kind}, {amount}{f' in {scope}' * bool(scope)}{f', {line}' * bool(line)}")
        return "\n".join(lines)

    def __rich__(self) -> Any:
        table, group = importlib.import_module("rich.table"), importlib.import_module("rich.console")
        amounts = table.Table("on each device", _title(self), title=None)
        for name, value in _amounts(self):
            amounts.add_row(name, value)
        collectives = table.Table(*_COLLECTIVES)
        rows = rows_of_exchanges(self.exchanges)
        for kind, count, amount, scope, line in rows[:_SHOWN]:
            collectives.add_row(kind, count, amount, scope, _short(line))
        if len(rows) > _SHOWN:
            collectives.add_row(f"{len(rows) - _SHOWN} more", "", "", "", "")
        return group.Group(amounts, collectives)


def grouped(exchanges: Iterable[Any]) -> tuple[Exchange, ...]:
    """The collectives of a program, grouped by kind, scope and line, largest first.

    Args:
        exchanges: objects with `kind`, `bytes`, `scope`, `line` and `times`.
    """
    found: dict[tuple[str, str, str], Exchange] = {}
    for each in exchanges:
        scope = re.sub(r"\b\d+\b", "*", each.scope)
        key = each.kind, scope, each.line
        before = found.get(key, Exchange(each.kind, 0, 0, scope, each.line))
        found[key] = before._replace(times=before.times + each.times, bytes=before.bytes + each.times * each.bytes)
    return tuple(sorted(found.values(), key=lambda e: -e.wire_bytes))


def extended(one: StepPlan, two: StepPlan, layers: int) -> StepPlan:
    """Extrapolate the plans of two smaller stacks linearly to `layers` layers."""
    first, second = one.layers[0], two.layers[0]

    def line(a: float, b: float) -> float:
        return a + (layers - first) * (b - a) / (second - first)

    keyed = [{(e.kind, e.scope, e.line): e for e in plan.exchanges} for plan in (one, two)]
    exchanges = []
    for key in {**keyed[0], **keyed[1]}:
        nothing = Exchange(key[0], 0, 0, key[1], key[2])
        a, b = (found.get(key, nothing) for found in keyed)
        exchanges.append(a._replace(times=line(a.times, b.times), bytes=line(a.bytes, b.bytes)))
    return replace(
        one,
        memory=Memory(*(max(0.0, line(a, b)) for a, b in zip(one.memory, two.memory, strict=True))),
        flops=line(one.flops, two.flops),
        bytes_accessed=line(one.bytes_accessed, two.bytes_accessed),
        exchanges=tuple(sorted((e for e in exchanges if e.times > 0), key=lambda e: -e.wire_bytes)),
        seconds=one.seconds + two.seconds,
        layers=(first, second, layers),
    )


def _title(plan: StepPlan) -> str:
    """A description of the mesh and of the source of the numbers."""
    mesh = ", ".join(f"{axis}={size}" for axis, size in plan.mesh.items())
    source = f"; {plan.layers[2]} layers, linearly from {plan.layers[0]} and {plan.layers[1]}" if plan.layers else ""
    return f"{plan.devices} devices ({mesh}){f' of {plan.target}' * bool(plan.target)}{source}"


def _amounts(plan: StepPlan) -> list[tuple[str, str]]:
    """Kinds of memory and their sizes on each device; then the amount of work, and its time on the chip."""
    memory = [(name, size(value)) for name, value in plan.memory._asdict().items()]
    total = size(plan.memory.total)
    if plan.chip is not None:
        total += f" of {size(plan.chip.memory)}" + ("" if plan.fits else ": does not fit")
    memory.append(("total", total))
    wire = sum(e.wire_bytes for e in plan.exchanges)
    work = f"{plan.flops:.3g} operations in all", size(plan.bytes_accessed), size(wire)
    if plan.times is None:
        return [*memory, *zip(Times._fields, work, strict=True)]
    times = plan.times._asdict()
    rows = [(name, f"{amount}, {1e3 * t:.1f} ms") for (name, t), amount in zip(times.items(), work, strict=True)]
    bound, longest = max(times.items(), key=lambda item: item[1])
    return [*memory, *rows, ("a step, at least", f"{1e3 * longest:.1f} ms, bound by {bound}")]


def rows_of_exchanges(exchanges: Sequence[Exchange]) -> list[tuple[str, ...]]:
    """Collectives, largest first."""
    return [(e.kind, f"{e.times:.0f}", size(e.bytes), e.scope, e.line) for e in exchanges]


def size(count: float) -> str:
    """A number of bytes in decimal units."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.4g} TB"


def _short(line: str) -> str:
    path, _, number = line.rpartition(":")
    return f"{Path(path).name}:{number}" if path else line
