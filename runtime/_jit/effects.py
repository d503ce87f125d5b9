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
from .sources import MISSING, SEQUENCES, Fetch, Source, StateChange, TensorSource, elements_of, put_at, tensor_at


class EntryEffect(NamedTuple):
    """The final value of a container's entry, None if it was deleted. A sequence is replaced as a whole."""

    source: Source
    value: OutputTree | None


class GradientEffect(NamedTuple):
    """The final gradient of a leaf."""

    tensor: TensorSource
    value: OutputTree | None


class DataEffect(NamedTuple):
    """The final data of a tensor, changed by `.data` or `set_`."""

    tensor: TensorSource
    value: OutputTree


class GeometryEffect(NamedTuple):
    """The final geometry of a tensor, changed in place by `resize_`, `t_`, `unsqueeze_` and the like."""

    tensor: TensorSource
    spec: TensorSpec


class FlagEffect(NamedTuple):
    """The final `requires_grad` of a leaf."""

    tensor: TensorSource
    value: bool


@dataclass(frozen=True, slots=True)
class Effects:
    """The changes of one run, in the order in which a call repeats them."""

    entries: tuple[EntryEffect, ...]
    data: tuple[DataEffect, ...]
    gradients: tuple[GradientEffect, ...]
    geometries: tuple[GeometryEffect, ...] = ()
    flags: tuple[FlagEffect, ...] = ()
    versions: tuple[TensorSource, ...] = ()  # the tensors that were written in place
    containers: tuple[Fetch | None, ...] = ()  # functions that fetch containers that each call looks up, per entry

    def __bool__(self) -> bool:
        return bool(self.entries or self.data or self.gradients or self.geometries)

    def relocated(self, containers: Mapping[int, Fetch]) -> Effects:
        """The same effects on containers that each call fetches; `containers` maps ids of the run's containers."""
        found = tuple(containers.get(id(source.container)) for source, _ in self.entries)
        if not any(found):
            return self
        entries = zip(self.entries, found, strict=True)
        kept = tuple(EntryEffect(s if fetch is None else s._replace(container=None), v) for (s, v), fetch in entries)
        return dataclasses.replace(self, entries=kept, containers=found)

    def set_flags(self, arguments: Sequence[Any]) -> None:
        """Set `requires_grad` as the run did; called before results are attached to the leaves."""
        for tensor, value in self.flags:
            tensor_at(tensor, arguments).requires_grad_(value)

    def apply(self, builder: OutputBuilder, arguments: Sequence[Any]) -> None:
        """Make the changes of one call."""
        entries: Iterable[EntryEffect] = self.entries
        if self.containers:  # all must be fetched before the first is changed
            places = [find and find(arguments) for find in self.containers]
            entries = [
                effect if place is None else effect._replace(source=effect.source._replace(container=place))
                for effect, place in zip(entries, places, strict=True)
            ]
        for source, value in entries:
            put_at(source, None if value is None else builder.make(value), value is None)
        for tensor, data in self.data:
            tensor_at(tensor, arguments).data = builder.make(data)
        for tensor, spec in self.geometries:
            set_geometry(tensor_at(tensor, arguments), spec.size, spec.stride, spec.offset)
        for tensor, value in self.gradients:
            tensor_at(tensor, arguments).grad = None if value is None else builder.make(value)


def describe_entries(
    describer: OutputDescriber, changes: Iterable[StateChange], passed: set[tuple[int, Any]], scripted: set[int]
) -> tuple[EntryEffect, ...]:
    """Describe the changes of containers.

    Args:
        describer: the describer of the run.
        changes: the differences from before the run.
        passed: entries that calls recompute on the host, as (id of the container, key).
        scripted: the ids of the containers of schedulers and scalers, where only tensors matter here.
    """
    effects = []
    sequences: dict[int, Source] = {}
    for source, _, new in changes:
        if (id(source.container), source.key) in passed:
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


def describe_gradients(
    describer: OutputDescriber, before: Iterable[tuple[torch.Tensor, torch.Tensor | None]], arguments: dict[int, int]
) -> tuple[GradientEffect, ...]:
    """Describe the gradients that the run changed; `before` pairs leaves with their gradients before the run, and
    `arguments` maps the ids of argument tensors to their positions."""
    return tuple(
        GradientEffect(arguments.get(id(leaf), leaf), None if leaf.grad is None else describer.describe(leaf.grad))
        for leaf, gradient in before
        if leaf.grad is not gradient
    )


def describe_data(
    describer: OutputDescriber, trace: Trace, reached: Sequence[torch.Tensor], arguments: dict[int, int]
) -> tuple[DataEffect, ...]:
    """Describe the outside tensors whose `.data` the run replaced; tensors of the run need no description.

    Raises:
        TraceError: calls could not find such a tensor.
    """
    effects = []
    known = {id(t): t for t in reached}
    for tensor, before, line in trace.moved.values():
        if id(tensor) in known:
            effects.append(DataEffect(arguments.get(id(tensor), tensor), describer.describe(tensor.detach())))
        elif cell_of(before) not in trace.born and not has_at_most([tensor], 2):
            raise TraceError(
                f"a tensor that is not reached from the compiled function gets new data{line}; write into it instead"
            )
    return tuple(effects)


def describe_geometries(
    trace: Trace, reached: Sequence[torch.Tensor], arguments: dict[int, int]
) -> tuple[GeometryEffect, ...]:
    """Describe the outside tensors whose geometry the run changed in place."""
    known = {id(t) for t in reached}
    changed = [
        (t, TensorSpec.of(t), before)
        for t, before in trace.reshaped.values()
        if id(t) in known and id(t) not in trace.moved
    ]
    return tuple(GeometryEffect(arguments.get(id(t), t), now) for t, now, before in changed if now != before)


def describe_versions(
    before: Sequence[tuple[torch.Tensor, int]], arguments: dict[int, int]
) -> tuple[TensorSource, ...]:
    """The outside tensors that the run wrote in place; `before` has their versions before the run."""
    return tuple(arguments.get(id(t), t) for t, version in before if t._version != version)


def describe_flags(flags: Sequence[tuple[torch.Tensor, bool]], arguments: dict[int, int]) -> tuple[FlagEffect, ...]:
    """Describe the outside leaves whose `requires_grad` the run changed; `flags` has their values before the run.

    Raises:
        TraceError: one is no longer a leaf.
    """
    changed = [t for t, before in flags if t.requires_grad != before]
    if not all(t.is_leaf for t in changed):
        raise TraceError(
            "an in-place operation within a compiled function gives a history to a tensor that was made outside, which "
            "later calls could not do again. Write to a clone of it, and return that"
        )
    return tuple(FlagEffect(arguments.get(id(t), t), t.requires_grad) for t in changed)
