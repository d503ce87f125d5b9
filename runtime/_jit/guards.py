"""The guard of a compiled step: checks that the Python state read by the traced run is unchanged.

After a computation the CPU caches are cold, and memory access dominates the time of a guard. So observations are kept
in flat columns, which loops in C read and compare, and of a dict only the version is read, which every write changes.

The backward pass is traced together with forward, so its program contains the values of that time. What the backward of
a user's `autograd.Function` reads in Python has a guard of its own, which is checked when backward runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import eq, is_
from typing import Any

from .._torch.frames import dict_version
from ..errors import TraceError
from .container_adapters import ClassAttributes
from .libraries import LibraryEntries, is_own, module_of
from .observations import ATTRIBUTE, ENTRY, KINDS, NAMESPACE, SIZE, Kind, Observation, describe_change
from .sources import MISSING, same_value
from .state_graph import StateGraph
from .traced_step import TracedStep


class Guard:
    """Compares the observed values with the current ones."""

    def __init__(self, observations: Iterable[Observation]) -> None:
        by_kind: dict[Kind, list[Observation]] = {}
        for observation in observations:
            by_kind.setdefault(observation.kind, []).append(observation)
        dicts = by_kind.pop(ENTRY, []), by_kind.pop(NAMESPACE, [])
        self.columns: list[DictColumn | Column] = [DictColumn(*dicts)] if any(dicts) else []
        self.columns += [Column(kind, by_kind[kind]) for kind in KINDS if kind in by_kind]

    def failure(self, arguments: Sequence[Any]) -> str | None:
        """None if all observations hold for a call with these arguments; otherwise what changed."""
        for column in self.columns:
            if (reason := column.failure(arguments)) is not None:
                return reason
        return None


class Column:
    """The observations of one kind, read by one function."""

    __slots__ = ("count", "keys", "kind", "observations", "owners", "values")

    def __init__(self, kind: Kind, observations: list[Observation]) -> None:
        self.kind, self.observations = kind, observations
        self.owners = [o.owner for o in observations]
        self.keys = [o.key for o in observations]
        values = [o.value for o in observations]
        self.values = [*chain.from_iterable(values)] if kind.spreads else values
        self.count = -1  # `kind.counter()` at the last successful comparison

    def failure(self, arguments: Sequence[Any]) -> str | None:
        """None if all of them hold; otherwise what changed."""
        kind, count = self.kind, -1
        if kind.counter is not None and (count := kind.counter()) == self.count:
            return None
        try:
            now = kind.read(self.owners, self.keys, arguments)
        except (KeyError, IndexError, ValueError) as error:  # such as a closure variable that was deleted
            return f"{error} is gone"
        if kind.same is eq:
            same = now == self.values
        else:
            same = len(now) == len(self.values) and all(map(is_, now, self.values))
        if not same:
            for observation in self.observations:
                if (reason := _difference(observation, arguments)) is not None:
                    return reason
            self.values = now  # equal values in new objects
        self.count = count
        return None


def _difference(observation: Observation, arguments: Sequence[Any]) -> str | None:
    kind, owner, key, value, _ = observation
    now, old = kind.read([owner], [key], arguments), value if kind.spreads else [value]
    if len(now) != len(old):
        counts = f"len({observation.name}) was {len(old)} and is {len(now)}"
        return counts if old else kind.reason(observation, None, None, None)
    for i, (new, before) in enumerate(zip(now, old, strict=True)):
        if not kind.same(before, new):
            return kind.reason(observation, before, new, i if kind.spreads else None)
    return None


class DictColumn:
    """The observations of dict entries; the versions of the dicts are compared first."""

    __slots__ = ("containers", "entries", "versions")

    def __init__(self, observations: list[Observation], namespaces: Iterable[Observation]) -> None:
        by_container: dict[int, list[Observation]] = {}
        for observation in observations:
            by_container.setdefault(id(observation.owner), []).append(observation)
        self.entries: list[DictEntries | LibraryEntries] = [DictEntries(of_one) for of_one in by_container.values()]
        self.entries += [LibraryEntries(o.name, o.owner, o.value) for o in namespaces]
        self.containers = [entries.container for entries in self.entries]
        self.versions: list[int | None] = [None] * len(self.containers)

    def failure(self, arguments: Sequence[Any]) -> str | None:
        """None if all of them hold; otherwise what changed."""
        versions: list[int | None] = [*map(dict_version, self.containers)]
        if versions == self.versions:
            return None
        for entries, version, before in zip(self.entries, versions, self.versions, strict=True):
            if version != before and (reason := entries.failure()) is not None:
                return reason
        self.versions = versions
        return None


class DictEntries:
    """The observations of one dict."""

    __slots__ = ("container", "observations", "size", "values")

    def __init__(self, observations: list[Observation]) -> None:
        self.container: dict[Any, Any] = observations[0].owner
        self.observations = {o.key: o for o in observations}
        self.size = self.observations.pop(SIZE, None)  # present if all of its entries matter
        self.values = [o.value for o in self.observations.values()]

    def failure(self) -> str | None:
        """None if all of them hold; otherwise what changed."""
        container = self.container
        if self.size is not None and (length := dict.__len__(container)) != self.size.value:
            new = [k for k in dict.keys(container) if k not in self.observations]
            if len(new) == length - self.size.value:  # the others were there
                return f"{self.size.path(new[0])} is new"
            return f"the number of entries of {self.size.name} was {self.size.value} and is {length}"
        now = [dict.get(container, key, MISSING) for key in self.observations]
        if all(map(is_, now, self.values)):
            return None
        for new, observation in zip(now, self.observations.values(), strict=True):
            if not same_value(observation.value, new):
                return describe_change(observation, observation.value, new)
        self.values = now  # equal values in new objects
        return None


def late_reads(step: TracedStep, observations: Sequence[Observation]) -> Callable[[], None] | None:
    """Select the observations that the autograd functions of a run read in backward. Return a function that compares
    them before the backward program runs, and raises `TraceError` if something has changed since forward was called;
    None if there are none."""
    if not (classes := _own_functions(step)):
        return None
    graph = StateGraph(step.state.visitor_of, {c.__qualname__: c.backward for c in classes})
    keys: dict[int, Any] = {}
    for snapshot in graph.snapshots:
        container = snapshot.container
        keys[id(container.dict if isinstance(container, ClassAttributes) else container)] = snapshot.keys
    changed = {source.entry for source, *_ in step.effects.entries}
    owners = {owner for owner, _ in changed}

    def counts(o: Observation) -> bool:
        if id(o.owner) not in keys or (id(o.owner), o.key) in changed:
            return False
        if o.key is None or o.key is SIZE or o.kind is ATTRIBUTE:
            return id(o.owner) not in owners
        named = keys[id(o.owner)]
        return named is None or o.key in named

    if not (found := [o for o in observations if counts(o)]):
        return None
    guard, code = Guard(found), classes[0].backward.__code__

    def verify() -> None:
        if reason := guard.failure(()):
            raise TraceError(
                "backward() of a compiled function, whose program reads Python as forward found it "
                f"({code.co_filename}:{code.co_firstlineno}, in {code.co_name}): "
                f"{reason}. Change it before forward is called, or save it in ctx there"
            )

    return verify


def runs_late(step: TracedStep) -> bool:
    """Whether user code may read or change Python state in the backward pass of a step."""
    return bool(_own_functions(step) or (step.backward and step.backward.effects))


def _own_functions(step: TracedStep) -> list[Any]:
    return [c for c in (step.backward.functions if step.backward else ()) if is_own(module_of(c))]
