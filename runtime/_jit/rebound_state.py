"""Rebound state: tensors and containers that each call looks up again.

The run read and replaced them, as in `self.cache = [h]`, or they belong to an argument that is another object in each
call, such as a batch. A program depends on the structure of such state, and each call fetches the tensors from their
current places. Objects that can also be reached in another way are compared by identity.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import torch

from .container_adapters import SlotAttributes
from .host_script import numbers_of
from .outputs import FoundObject, is_device_tensor
from .restriction import Restriction
from .settings import reader_of
from .snapshots import StateSnapshot
from .sources import (
    MISSING,
    SEQUENCES,
    EntryId,
    Fetch,
    argument_path,
    content_at,
    elements_of,
    fetch_element,
    fetch_entry,
    is_plain,
    is_told_by_key,
    methods_of,
)
from .state_graph import Edge, StateGraph, StateNode
from .state_patterns import (
    NumberPattern,
    Numbers,
    ObjectPattern,
    Pattern,
    SamePattern,
    is_bare,
    is_container,
    may_have_pattern,
    option_of,
)
from .traced_step import TracedStep


@dataclass(slots=True, eq=False)
class ReboundState:
    """The tensors and containers of a run that each call looks up again."""

    objects: dict[int, Fetch] = field(default_factory=dict)  # what fetches each container, by the id of the run's
    containers: dict[int, Fetch] = field(default_factory=dict)  # by the id of the list or `__dict__` with the entries
    tensors: dict[int, tuple[str, Fetch, torch.Tensor]] = field(default_factory=dict)  # by id, with their paths
    entries: set[EntryId] = field(default_factory=set)  # entries whose values each call looks up again
    patterns: list[tuple[Fetch, Pattern]] = field(default_factory=list)
    refilled: list[tuple[Sequence[Any], ObjectPattern]] = field(default_factory=list)  # the same with other elements
    others: set[int] = field(default_factory=set)  # the ids of objects that the run saw and that stay the same
    arguments: list[int | None] = field(default_factory=list)  # for each, its number among the objects met, or None

    def __bool__(self) -> bool:
        return bool(self.patterns or self.refilled)

    def numbers(self, state: StateGraph) -> dict[str, Any]:
        """The numbers in these containers, by path."""
        found = [s for s in numbers_of(state) if id(s.container) in self.containers] if self.containers else []
        return {source.path: content_at(source) for source in found}

    def found_among(self, objects: Iterable[FoundObject]) -> list[tuple[FoundObject, Fetch]]:
        """Select the objects that each call looks up again, and clear their references to the run's objects."""
        found = [(described, self.objects.get(id(described.value))) for described in objects]
        pairs = [(described, fetch) for described, fetch in found if fetch is not None]
        for described, _ in pairs:
            described.value = None
        return pairs

    def difference(self, arguments: Sequence[Any]) -> str:
        """How the rebound state of a call differs from that of the run; empty if it matches."""
        seen: Numbers = {}
        for fetch, pattern in self.patterns:
            try:
                value = fetch(arguments)
            except (AttributeError, KeyError, IndexError, ValueError):
                return f"{pattern.path} is gone"
            if reason := pattern.difference(value, seen):
                return reason
        for container, elements in self.refilled:
            if reason := elements.elements_difference(container, seen):
                return reason
        if not self.others.isdisjoint(seen):
            return "what stood in two places is one object now"
        if [seen.get(id(x)) for x in arguments] != self.arguments:
            return "an argument is, or is no longer, a tensor that the function keeps"
        return ""


def rebound_state(
    step: TracedStep, arguments: Sequence[Any], varying: Container[int], restriction: Restriction, pinned: set[int]
) -> ReboundState:
    """Find what each call looks up again.

    Args:
        step: the run.
        arguments: the leaves of the traced call.
        varying: the positions of those that may be another object in another call.
        restriction: the part of the Python state that the run read.
        pinned: the ids of tensors that no other can replace, because more than their data matters.
    """
    search = _Search(step, restriction, pinned)
    search.objects = {
        argument_path(i): (i, x) for i, x in enumerate(arguments) if i in varying and not is_told_by_key(x)
    }
    if search.sequences or search.objects or any(may_have_pattern(value) for _, value in search.others):
        search.run()
        search.found.arguments = [search.seen.get(id(x)) for x in arguments]
    return search.found


class _Search:
    """Finds patterns for objects that are reached through changed entries only."""

    def __init__(self, step: TracedStep, restriction: Restriction, pinned: set[int]) -> None:
        self.step, self.restriction, self.pinned, self.found = step, restriction, pinned, ReboundState()
        changed = [source for source, *_ in step.effects.entries]
        self.sequences = {id(s.container): s for s in changed if isinstance(s.container, SEQUENCES)}
        # The other changed entries, with their values before the run.
        self.others = [(s, step.state.before(s)) for s in changed if not isinstance(s.container, SEQUENCES)]
        self.changed = {source.entry for source, _ in self.others}
        self.objects: dict[str, tuple[int, Any]] = {}  # arguments that may be others in another call, by path
        self.passed = step.inputs.script.passed()
        self.fixed: set[int] = set()  # the ids of objects that are the same in every call, and of their containers
        self.seen: Numbers = {}
        self.escaped: list[Any] = []  # objects without a pattern, to be fixed with everything that they reach

    def run(self) -> None:
        """Find the patterns. Objects that turn out to have none are fixed, and the search restarts."""
        backward, nodes = self.step.backward, self.step.state.nodes
        self.step.state.walk(self._held_edges, ends_at=self._is_changed)
        self.fixed.update(id(s.container) for s in self.step.state.namespaces.values())
        self.fixed |= self.step.outputs.held | (backward.held if backward else frozenset())
        late = {id(effect.source.container) for effect in backward.effects} if backward else set()
        for node in nodes.values() if late else ():
            if any(id(snapshot.container) in late for snapshot in node.snapshots):
                self._fix([node.value])
        self._add_patterns()
        while self.escaped:
            self._fix(self.escaped)
            self.found, self.escaped, self.seen = ReboundState(), [], {}
            self._add_patterns()
        self.found.others = {i for i in self.fixed & self.restriction.nodes if may_have_pattern(nodes[i].value)}

    def _is_changed(self, snapshot: StateSnapshot | None, key: Any) -> bool:
        if snapshot is None:
            return key in self.objects
        container = id(snapshot.container)
        return container in self.sequences or (container, key) in self.changed

    def _held_edges(self, node: StateNode) -> list[Edge]:
        self._hold(node)
        return self.restriction.edges(node)

    def _hold(self, node: StateNode) -> None:
        self.fixed.add(id(node.value))
        self.fixed.update(id(snapshot.container) for snapshot in node.snapshots)

    def _fix(self, values: Iterable[Any]) -> None:
        """Mark values as fixed, with everything that they reach other than through changed entries."""
        pending, met, nodes = [*values], set[int](), self.step.state.nodes
        while pending:
            value = pending.pop()
            if id(value) in met:
                continue
            met.add(id(value))
            self.fixed.add(id(value))
            if (node := nodes.get(id(value))) is not None:
                self._hold(node)
                pending += [
                    value
                    for edges in (node.edges, *node.members.values())
                    for snapshot, key, _, value in edges
                    if not self._is_changed(snapshot, key)
                ]

    # -- patterns ----------------------------------------------------------------------------------------------------

    def _add_patterns(self) -> None:
        found = self.found
        for path, (i, value) in self.objects.items():
            found.patterns.append((itemgetter(i), self._pattern(value, itemgetter(i), path)))
        for source, value in self.others:
            if id(source.container) not in self.fixed or not self.restriction.observes(source):
                continue
            if not may_have_pattern(value):
                continue
            fetch = fetch_entry(source)
            pattern = self._pattern(value, fetch, source.path)
            if isinstance(pattern, ObjectPattern):
                found.patterns.append((fetch, pattern))
                found.entries.add(source.entry)
        for source in self.sequences.values():
            observed = self.restriction.observed.get(id(source.container))
            if id(source.container) in self.fixed and observed is not None:
                elements = ObjectPattern(observed.snapshot.path, -1, type(source.container))
                self._add_elements(elements, source.container, _constant(source.container))
                found.refilled.append((source.container, elements))

    def _pattern(self, value: Any, fetch: Fetch, path: str) -> Pattern:
        if is_plain(value) or id(value) in self.fixed:
            return SamePattern(path, value)
        known, tensor = id(value) in self.seen, isinstance(value, torch.Tensor)
        if not known and not (self._is_rebound(value) if tensor else self._has_pattern(value)):
            self.escaped.append(value)
            return SamePattern(path, value)
        pattern = ObjectPattern(path, self._number(value), type(value), option_of(value))
        if not known:
            if tensor:
                self.found.tensors[id(value)] = path, fetch, value
            else:
                self.found.objects[id(value)] = fetch
            self._add_attributes(pattern, value, fetch)
            if is_container(value):
                self._add_elements(pattern, value, fetch)
        return pattern

    def _entry(self, container: Any, key: Any, value: Any, fetch: Fetch, path: str) -> Pattern:
        """The pattern of an entry of a container; `fetch` finds the container."""
        if (id(container), key) in self.passed:
            return NumberPattern(path)
        pattern = self._pattern(value, fetch_element(fetch, key, methods_of(container)), path)
        if isinstance(value, torch.Tensor) and isinstance(pattern, ObjectPattern):
            self.found.entries.add((id(container), key))
        return pattern

    def _number(self, value: Any) -> int:
        return self.seen.setdefault(id(value), len(self.seen))

    def _is_rebound(self, tensor: torch.Tensor) -> bool:
        """Whether another tensor may replace this one."""
        return is_device_tensor(tensor) and id(tensor) not in self.pinned and is_bare(tensor)

    def _has_pattern(self, value: Any) -> bool:
        if id(value) not in self.step.state.nodes:
            return False
        if is_container(value):
            return True
        reached = self.step.state.reached
        special = id(value) in reached.streams or id(value) in reached.arrays or id(value) in reached.caches
        special = special or isinstance(value, BaseException)  # whose `args` are not among its attributes
        return id(value) in reached.objects and not special and reader_of(value) is None

    def _add_elements(self, pattern: ObjectPattern, value: Any, fetch: Fetch) -> None:
        self.found.containers[id(value)] = fetch
        elements: Iterable[tuple[Any, Any]] = enumerate(elements_of(value))
        if isinstance(value, dict):
            pattern.keys = tuple(elements_of(value))
            elements = methods_of(value).items(value)
            self.escaped += [k for k in pattern.keys if not is_plain(k) and id(k) not in self.fixed]
        unordered = isinstance(value, (set, frozenset))
        pattern.elements = []
        for key, element in elements:
            place = f"{pattern.path}[{key!r}]" if isinstance(key, (int, str)) else f"{pattern.path}[...]"
            if unordered and not is_plain(element):
                self.escaped += [element] if id(element) not in self.fixed else []
                pattern.elements.append(SamePattern(place, element))
            else:
                pattern.elements.append(self._entry(value, key, element, fetch, place))

    def _add_attributes(self, pattern: ObjectPattern, value: Any, fetch: Fetch) -> None:
        for snapshot in self.step.state.nodes[id(value)].snapshots:
            if snapshot.owner is None:
                continue
            container, entries = snapshot.container, self.restriction.entries.get(snapshot)
            slots, whole = isinstance(container, SlotAttributes), entries is None or entries.keys is None
            names = [*container] if entries is None or entries.keys is None else [*entries.keys]
            absent = () if entries is None else entries.absent
            if not (whole or names or absent):
                continue
            attributes: dict[str, Pattern] = {}
            pattern.attributes.append((slots, attributes, whole))
            find = self.found.containers[id(container)] = _attributes(fetch, slots)
            for name in names:
                place, attribute = f"{pattern.path}.{name}", container.get(name, MISSING)
                attributes[name] = self._entry(container, name, attribute, find, place)
            attributes |= {name: SamePattern(f"{pattern.path}.{name}", MISSING) for name in absent}


def _constant(value: Any) -> Fetch:
    return lambda arguments: value


def _attributes(fetch: Fetch, slots: bool) -> Fetch:
    """The function that fetches the attributes of an object that `fetch` finds."""
    if slots:
        return lambda arguments: SlotAttributes(fetch(arguments))
    return lambda arguments: fetch(arguments).__dict__
