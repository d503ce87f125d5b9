"""The guard of a compiled step: checks that the Python state read by the traced run is unchanged.

After a computation the CPU caches are cold, and memory access dominates the time of a guard. So observations are kept
in flat columns, which loops in C read and compare, and of a dict only the version is read, which every write changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import call, is_
from typing import Any

from .._torch.frames import dict_version
from .library_namespaces import LibraryEntries
from .observations import ENTRY, KINDS, NAMESPACE, SIZE, Kind, Observation, SingleKind, describe_change
from .sources import MISSING, same_value


class Guard:
    """Compares the observed values with the current ones."""

    def __init__(self, observations: Iterable[Observation]) -> None:
        by_kind: dict[Kind, list[Observation]] = {}
        single: list[tuple[SingleKind, Observation]] = []
        for observation in observations:
            if isinstance(observation.kind, SingleKind):
                single.append((observation.kind, observation))
            else:
                by_kind.setdefault(observation.kind, []).append(observation)
        self.columns: list[SingleColumn | DictColumn | Column] = [SingleColumn(single)] if single else []
        dicts = by_kind.get(ENTRY, []), by_kind.get(NAMESPACE, [])
        self.columns += [
            DictColumn(*dicts) if kind is ENTRY else Column(kind, by_kind[kind])
            for kind in KINDS
            if kind in by_kind or (kind is ENTRY and any(dicts))
        ]

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
        kind = self.kind
        if kind.counter is None:
            count = -1
        elif (count := kind.counter()) == self.count:
            return None
        try:
            now = kind.read(self.owners, self.keys, arguments)  # type: ignore[misc]
        except (KeyError, IndexError, ValueError) as error:
            return f"{error} is gone"
        if (now == self.values) if kind.plain else (len(now) == len(self.values) and all(map(is_, now, self.values))):
            self.count = count
            return None
        for observation in self.observations:
            if (reason := _difference(kind, observation, arguments)) is not None:
                return reason
        self.values = now  # equal values in new objects
        return None


def _difference(kind: Kind, observation: Observation, arguments: Sequence[Any]) -> str | None:
    _, owner, key, value, _ = observation
    assert kind.read is not None
    now, old = kind.read([owner], [key], arguments), value if kind.spreads else [value]
    if len(now) != len(old):
        counts = f"len({observation.name}) was {len(old)} and is {len(now)}"
        return counts if old else kind.reason(observation, None, None, None)
    for i, (new, before) in enumerate(zip(now, old, strict=True)):
        if new != before if kind.plain else not same_value(before, new):
            return kind.reason(observation, before, new, i if kind.spreads else None)
    return None


class SingleColumn:
    """Observations of several kinds, each read by the function of its kind."""

    __slots__ = ("getters", "observations", "owners", "values")

    def __init__(self, observations: list[tuple[SingleKind, Observation]]) -> None:
        self.observations = observations
        self.getters = [kind.get for kind, _ in observations]
        self.owners = [o.owner for _, o in observations]
        self.values = [o.value for _, o in observations]

    def failure(self, arguments: Sequence[Any]) -> str | None:
        """None if all of them hold; otherwise what changed."""
        try:
            now = [*map(call, self.getters, self.owners)]
        except ValueError as error:  # a closure variable was deleted
            return f"{error} is gone"
        if all(map(is_, now, self.values)):
            return None
        for (kind, observation), new in zip(self.observations, now, strict=True):
            if not same_value(observation.value, new):
                return kind.reason(observation, observation.value, new, None)
        self.values = now  # equal values in new objects
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
