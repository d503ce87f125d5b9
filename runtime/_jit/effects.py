"""Effects: what a traced run changed in Python besides arrays, repeated by every call of its program."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from ..dispatch.reference_counts import has_at_most
from ..errors import TraceError
from ..storage.spec import TensorSpec
from ..storage.tensors import cell_of
from ..trace.data_swaps import set_geometry
from ..trace.tracing import Trace
from .output_builder import OutputBuilder
from .outputs import OutputDescriber, OutputTree, holds_tensors
from .sources import (
    MISSING,
    SEQUENCES,
    Fetch,
    Source,
    StateChange,
    TensorSource,
    elements_of,
    put_at,
    refill,
    tensor_at,
)
from .state_graph import StateGraph

_increment_versions = torch.autograd.graph.increment_version


class EntryEffect(NamedTuple):
    """The final value of a container's entry, None if it was deleted. A sequence is replaced as a whole."""

    source: Source
    value: OutputTree | None
    appended: bool = False  # whether the value is a list of elements that were appended to a sequence
    number: bool = False  # whether it is a plain value, possibly computed from the previous one, `old`
    old: Any = None

    def put(self, place: Source, builder: OutputBuilder) -> None:
        """Store the value at the source as it is in a call."""
        value: Any = None if self.value is None else builder.make(self.value)
        if self.appended:
            refill(place.container, [*elements_of(place.container), *value])
        else:
            put_at(place, value, self.value is None)


class TensorEffect(NamedTuple):
    """The final gradient, data, geometry or flag of a tensor."""

    tensor: TensorSource
    value: Any


class TensorsBefore(NamedTuple):
    """The state of outside tensors before a run, except their data."""

    gradients: tuple[tuple[torch.Tensor, torch.Tensor | None], ...]  # leaves with their gradients
    flags: tuple[tuple[torch.Tensor, bool], ...]  # leaves with their `requires_grad`
    versions: tuple[tuple[torch.Tensor, int], ...]


@dataclass(frozen=True, slots=True)
class Effects:
    """The changes of one run, in the order in which a call repeats them."""

    entries: tuple[EntryEffect, ...]
    data: tuple[TensorEffect, ...]  # changed by `.data` or `set_`
    geometries: tuple[TensorEffect, ...]  # changed in place by `resize_`, `t_`, `unsqueeze_` and the like
    gradients: tuple[TensorEffect, ...]  # of leaves; the value is None for no gradient
    flags: tuple[TensorEffect, ...]  # the `requires_grad` of leaves
    written: tuple[list[torch.Tensor], list[int]]  # in place: tensors, and positions of arguments

    def __bool__(self) -> bool:
        return bool(self.entries or self.data or self.gradients or self.geometries)

    def relocated(self, containers: Mapping[int, Fetch]) -> Effects:
        """The same effects on containers that each call fetches; `containers` maps ids of the run's containers."""
        entries = tuple(e._replace(source=e.source.relocated(containers)) for e in self.entries)
        return dataclasses.replace(self, entries=entries)

    def mark(self, arguments: Sequence[Any]) -> None:
        """Tell autograd which tensors were written, and set `requires_grad`, before results are attached to leaves."""
        tensors, positions = self.written
        if tensors:
            _increment_versions(tensors)
        if positions:
            _increment_versions([arguments[i] for i in positions])
        for tensor, flag in self.flags:
            tensor_at(tensor, arguments).requires_grad_(flag)

    def apply(self, builder: OutputBuilder, arguments: Sequence[Any]) -> None:
        """Make the changes of one call."""
        places = [effect.source.at(arguments) for effect in self.entries]  # all are found before the first is changed
        for effect, place in zip(self.entries, places, strict=True):
            effect.put(place, builder)
        for tensor, data in self.data:
            tensor_at(tensor, arguments).data = builder.make(data)
        for tensor, spec in self.geometries:
            set_geometry(tensor_at(tensor, arguments), spec.size, spec.stride, spec.offset)
        for tensor, value in self.gradients:
            tensor_at(tensor, arguments).grad = None if value is None else builder.make(value)


def describe_effects(
    describer: OutputDescriber,
    trace: Trace,
    state: StateGraph,
    before: TensorsBefore,
    changes: Iterable[StateChange],
    recomputed: set[tuple[int, Any]],
) -> Effects:
    """Describe what a run changed.

    Args:
        describer: the describer of the run.
        trace: the trace of the run.
        state: what the function reached before the run.
        before: its tensors before the run.
        changes: the changes of containers.
        recomputed: entries that calls recompute on the host, as (id of the container, key).

    Raises:
        TraceError: calls could not repeat a change.
    """
    positions = describer.scope.arguments
    known = {*state.reached.tensors, *positions}

    def of_tensors(found: Iterable[tuple[torch.Tensor, Any]]) -> tuple[TensorEffect, ...]:
        return tuple(TensorEffect(positions.get(id(t), t), value) for t, value in found)

    flipped = [(t, t.requires_grad) for t, flag in before.flags if t.requires_grad != flag]
    if not all(t.is_leaf for t, _ in flipped):
        raise TraceError(
            "an in-place operation within a compiled function gives a history to a tensor that was made outside, which "
            "later calls could not do again. Write to a clone of it, and return that"
        )
    scripted = {id(s.container) for s in state.snapshots if s.kind == "script"}
    entries = _describe_entries(describer, changes, recomputed, scripted)
    changed = [t for t, gradient in before.gradients if t.grad is not gradient]
    gradients = of_tensors((t, None if t.grad is None else describer.describe(t.grad)) for t in changed)
    moved = []
    for tensor, old, line in trace.moved.values():
        if id(tensor) in known:
            moved.append((tensor, describer.describe(tensor.detach())))
        elif cell_of(old) not in trace.born and not has_at_most([tensor], 2):
            raise TraceError(
                f"a tensor that is not reached from the compiled function gets new data{line}; write into it instead"
            )
    reshaped = [(t, spec) for t, spec in trace.reshaped.values() if id(t) in known and id(t) not in trace.moved]
    geometries = of_tensors((t, TensorSpec.of(t)) for t, spec in reshaped if TensorSpec.of(t) != spec)
    written = [t for t, version in before.versions if t._version != version]
    tensors = [t for t in written if id(t) not in positions]
    arguments = [positions[id(t)] for t in written if id(t) in positions]
    return Effects(entries, of_tensors(moved), geometries, gradients, of_tensors(flipped), (tensors, arguments))


def _describe_entries(
    describer: OutputDescriber, changes: Iterable[StateChange], recomputed: set[tuple[int, Any]], scripted: set[int]
) -> tuple[EntryEffect, ...]:
    """Describe the changes of containers; only tensors matter in those of schedulers and scalers, `scripted`."""
    effects = []
    sequences: dict[int, Source] = {}
    for source, _, new in changes:
        if source.entry in recomputed:
            continue
        if isinstance(source.container, SEQUENCES):
            sequences.setdefault(id(source.container), source)
            continue
        value = None if new is MISSING else describer.describe(new)
        if id(source.container) in scripted and not (value and holds_tensors(value)):
            continue
        effects.append(EntryEffect(source, value))
    for source in sequences.values():
        effects.append(EntryEffect(source._replace(key=None), describer.describe([*elements_of(source.container)])))
    return tuple(effects)
