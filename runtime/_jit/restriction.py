"""Restricts a state graph to what a run read: a compiled program depends on that part only."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.nn import Module

from .container_adapters import SlotAttributes
from .libraries import is_own, may_hold_state, module_of
from .snapshots import StateSnapshot
from .sources import MISSING, EntryId, Source
from .state_graph import Edge, StateNode
from .state_in_c import CachedFunction
from .torch_visitors import MODULE_PRIVATE, MODULE_TABLES
from .traced_step import TracedStep


@dataclass(slots=True, eq=False)
class ObservedEntries:
    """The entries of a snapshot that the run observed."""

    snapshot: StateSnapshot
    keys: dict[Any, None] | None = None  # None means all of the container
    absent: dict[Any, None] = field(default_factory=dict)  # keys that were looked up and missing


class Restriction:
    """Walks a state graph along the entries that a run read."""

    def __init__(self, step: TracedStep) -> None:
        self.graph, self.reads, self.made = step.state, step.reads, _added_entries(step)
        self.changed: set[EntryId] = {source.entry for source, *_ in step.effects.entries}
        self.entries: dict[StateSnapshot, ObservedEntries] = {}
        self.nodes: set[int] = set()  # the ids of the visited objects
        self.graph.walk(self.edges, self._name)
        # By the id of the container, without state that each call recomputes on the host.
        self.observed = {id(s.container): entries for s, entries in self.entries.items() if not s.kind}

    def edges(self, node: StateNode) -> list[Edge]:
        """The edges of a node along entries that the run read."""
        self.nodes.add(id(node.value))
        observed: dict[StateSnapshot | None, dict[Any, None]] = {}
        for snapshot in node.snapshots:
            entries = self.entries.get(snapshot) or self.entries.setdefault(snapshot, self._observe(snapshot))
            if snapshot.owner is not None and entries.keys is not None:
                observed[snapshot] = entries.keys
        return [e for e in node.edges if e[0] not in observed or e[1] in observed[e[0]]] if observed else node.edges

    def observes(self, source: Source) -> bool:
        """Whether the run read an entry."""
        entries = self.observed.get(id(source.container))
        return entries is not None and (entries.keys is None or source.key in entries.keys)

    def _name(self, snapshot: StateSnapshot, key: Any, path: str, value: Any) -> None:
        """Record that visited code names an entry of a namespace."""
        entries = self.entries.get(snapshot) or self.entries.setdefault(snapshot, ObservedEntries(snapshot, {}))
        assert entries.keys is not None
        if value is not MISSING:
            entries.keys[key] = None
        else:
            entries.absent[key] = None

    def _observe(self, snapshot: StateSnapshot) -> ObservedEntries:
        owner = snapshot.owner
        if snapshot.named:
            return ObservedEntries(snapshot, {})
        if owner is None:
            return ObservedEntries(snapshot, snapshot.keys and dict(snapshot.keys))
        made = self.made.get(id(snapshot.container), ())
        if isinstance(owner, CachedFunction):
            return self._some(snapshot, snapshot.content, made)
        if isinstance(owner, torch.Tensor):  # the attributes that code names
            missed = self.reads.missed.get(id(owner), set())
            return self._some(snapshot, self.graph.named, [*made, *missed, *self._hiding(type(owner))])
        # Code that calls `__getattribute__` itself bypasses the record.
        read = None if "__getattribute__" in self.graph.named else self.reads.of(owner)
        if read is not None:
            place = id(snapshot.container)
            read = read | {name for name in self.reads.written(owner) if (place, name) not in self.changed}
        if isinstance(owner, Module) and read is not None:  # its methods look up the tables in `__dict__`
            absent = self._absent(owner, read - _attributes_of(owner))
            return self._some(snapshot, read.union(MODULE_TABLES), absent)
        if read is None:
            return ObservedEntries(snapshot, snapshot.keys and dict(snapshot.keys))
        missing = read - snapshot.container.keys()
        if isinstance(snapshot.container, SlotAttributes):
            return self._some(snapshot, read, sorted(missing.intersection(snapshot.container.names)))
        return self._some(snapshot, read, self._absent(owner, missing) if isinstance(snapshot.container, dict) else ())

    def _some(self, snapshot: StateSnapshot, names: Container[Any], absent: Iterable[Any]) -> ObservedEntries:
        keys = {k: None for k in snapshot.content if k in names}
        return ObservedEntries(snapshot, keys, {k: None for k in absent if k not in snapshot.content})

    def _hiding(self, cls: type) -> list[str]:
        """Class attributes that code names and that an attribute set on the object later would hide."""
        own = (vars(base) for base in cls.__mro__ if is_own(module_of(base)))
        return [name for attributes in own for name in attributes if name in self.graph.named]

    def _absent(self, owner: Any, names: set[str]) -> list[str]:
        """The names that may be set on an object later; also observes the class attributes of these names."""
        absent = []
        for name in sorted(names):
            base = next((b for b in type(owner).__mro__ if name in vars(b)), None)
            if base is not Module:  # its own methods are not expected to be replaced
                absent.append(name)
            if base is not None and may_hold_state(module_of(base)):
                attributes = self.graph.class_attributes(base)
                if name not in attributes.content:
                    attributes.name(name, vars(base)[name])
                self._name(attributes, name, f"{base.__qualname__}.{name}", vars(base)[name])
        return absent


def _attributes_of(module: Module) -> set[str]:
    """The names that a module has of its own, in its `__dict__` or its tables."""
    state = module.__dict__
    return set(state).union(MODULE_PRIVATE, *(state[name] for name in MODULE_TABLES))


def _added_entries(step: TracedStep) -> dict[int, list[Any]]:
    """The names of attributes that the run added, by the id of their dict."""
    contents = {id(s.container): s.content for s in step.state.snapshots if s.owner is not None}
    added: dict[int, list[Any]] = {}
    for source, *_ in step.effects.entries:
        content = contents.get(id(source.container))
        if content is not None and source.key not in content:
            added.setdefault(id(source.container), []).append(source.key)
    return added
