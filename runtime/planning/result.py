"""The numbers of a plan, and the resulting times on a chip."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from .chips import Chip

Planned = TypeVar("Planned", bound="PlanNumbers")


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
class PlanNumbers:
    """The resources of a training step on a mesh."""

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
        count = 1
        for size in self.mesh.values():
            count *= size
        return count

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


def extended(one: Planned, two: Planned, layers: int) -> Planned:
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
