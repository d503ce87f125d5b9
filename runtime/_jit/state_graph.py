"""The state graph: the Python objects that a function reaches, such as variables, modules, optimizers and containers.

A compiled program is valid while everything that its run could read is unchanged, and every call must repeat what the
run changed. So the content of the containers is recorded before a trace, compared after it, and guarded.

Objects are followed through attributes, lists, dicts, closures and the globals that a function names; classes and
Python modules through the names that the functions' code uses. The graph is built once; a trace restricts it to what
was read.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import torch

from .container_adapters import ClassAttributes, ContextVarValue, SlotAttributes
from .snapshots import Entries, StateSnapshot, unchanged, version_of
from .sources import MISSING, PLAIN_TYPES, Source, StateChange
from .state_in_c import FunctionCache, HostArray

_MOST = 1_000_000  # the maximum number of objects that are followed; with AdamW, a parameter has up to 17
# The types of values that refer to nothing else. Objects of their subclasses may.
_LEAVES = {*PLAIN_TYPES, type(MISSING)}
Adapter = SlotAttributes | ClassAttributes | ContextVarValue
Edge = tuple[StateSnapshot | None, Any, str, Any]  # snapshot of the entry, or None; then its key, path and value
Moment = list[tuple[int | None, Entries]]  # for each snapshot, the version of the dict and the content


@dataclass(slots=True, eq=False)
class StateNode:
    """A reached object, with its containers and the edges from it."""

    path: str
    value: Any
    snapshots: list[StateSnapshot] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    named: tuple[str, ...] = ()  # the attributes that a function's code names
    members: dict[str, list[Edge]] = field(default_factory=dict)  # of a class or module: followed once code names them
    namespace: StateSnapshot | None = None  # of a module, in which code may also look for names that it lacks

    def hold(self, container: Any, **options: Any) -> StateSnapshot:
        """Take a snapshot of one of its containers."""
        snapshot = StateSnapshot(self.path, container, **options)
        self.snapshots.append(snapshot)
        return snapshot

    def follow(self, snapshot: StateSnapshot, but: Container[str] = ()) -> None:
        """Add an edge for each attribute in a snapshot, except those in `but`."""
        path, items = self.path, snapshot.content.items()
        self.edges += [(snapshot, key, f"{path}.{key}", value) for key, value in items if key not in but]


Visitor = Callable[["StateGraph", StateNode], None]


@dataclass(slots=True)
class Reached:
    """The reached objects by kind and id, with their paths."""

    tensors: dict[int, tuple[str, torch.Tensor]] = field(default_factory=dict)
    modules: dict[int, tuple[str, torch.nn.Module]] = field(default_factory=dict)
    optimizers: dict[int, tuple[str, Any]] = field(default_factory=dict)
    schedulers: dict[int, tuple[str, Any]] = field(default_factory=dict)
    scalers: dict[int, tuple[str, Any]] = field(default_factory=dict)
    generators: dict[int, tuple[str, Any]] = field(default_factory=dict)  # host random number generators
    arrays: dict[int, tuple[str, HostArray]] = field(default_factory=dict)
    streams: dict[int, tuple[str, Any]] = field(default_factory=dict)  # iterators, and others that cannot be followed
    caches: dict[int, FunctionCache] = field(default_factory=dict)  # by the id of the function
    objects: dict[int, tuple[str, Any]] = field(default_factory=dict)  # neither containers nor torch's objects

    @property
    def typed(self) -> set[int]:
        """The ids of objects whose methods a run may have called."""
        return {*self.modules, *self.optimizers, *self.schedulers, *self.objects}


class StateGraph:
    """The objects reached from some roots."""

    def __init__(self, visitor_of: Callable[[type], Visitor], roots: dict[str, Any]) -> None:
        """`visitor_of` returns, for a class, the visitor that records the containers of its objects."""
        self.visitor_of = visitor_of
        self.roots: list[Edge] = [(None, path, path, value) for path, value in roots.items()]
        self.nodes: dict[int, StateNode] = {}
        self.snapshots: list[StateSnapshot] = []
        self.namespaces: dict[int, StateSnapshot] = {}  # of classes, modules and globals, by the id of the container
        self.adapters: dict[int, Adapter] = {}  # by the id of the object
        self.reached = Reached()
        self.tables: set[int] = set()  # the ids of torch's own dicts
        self.modules: set[int] = set()  # the ids of Python's modules that functions name
        self.stored: set[str] = set()  # the attributes that the functions' code sets
        self.named: set[str] = set()  # the attributes that it names
        self.asks_types = False  # whether it may pass a number to `type`
        self.extend()

    def extend(self) -> None:
        """Update the graph: follow new objects in containers that changed since it was built."""
        changed = {*self.changed_snapshots()}
        for node in [n for n in self.nodes.values() if not changed.isdisjoint(n.snapshots)] if changed else ():
            del self.nodes[id(node.value)]
            self.snapshots = [s for s in self.snapshots if s.named or s not in node.snapshots]
        self.named = self.walk(attrgetter("edges"))
        for snapshot in self.namespaces.values():
            if isinstance(snapshot.container, ClassAttributes):
                snapshot.keys.update(dict.fromkeys(self.stored - snapshot.container.keys()))  # type: ignore[union-attr]

    def walk(
        self,
        edges_of: Callable[[StateNode], Iterable[Edge]],
        name: Callable[..., None] | None = None,
        ends_at: Callable[[StateSnapshot | None, Any], bool] | None = None,
    ) -> set[str]:
        """Walk the graph from the roots along some edges, and visit new objects.

        Args:
            edges_of: returns the edges of a node that are followed.
            name: called for each entry that code names, with the snapshot of the namespace, the key, the path and
                the value.
            ends_at: whether to stop at an entry, given the snapshot and the key, or at a root, given None and its path.

        Returns:
            The attributes that the code of the visited functions names.
        """
        named: set[str] = set()
        waiting: dict[str, list[Edge]] = {}  # class members that no code has named yet
        searched: list[StateSnapshot] = []  # namespaces in which code may look for any name
        seen: set[int] = set()
        pending = [*self.roots]
        while pending:
            snapshot, key, path, value = pending.pop()
            if ends_at is not None and ends_at(snapshot, key):
                continue
            if snapshot is not None and snapshot.named:
                if key not in snapshot.keys:  # type: ignore[operator]
                    snapshot.name(key, value)
                if name is not None:
                    name(snapshot, key, path, value)
            if type(value) in _LEAVES or id(value) in seen:
                continue
            seen.add(id(value))
            node = self.nodes.get(id(value)) or self._visit(path, value)
            pending += edges_of(node)
            if node.namespace is not None:
                searched.append(node.namespace)
            for attribute in node.named:
                if attribute not in named:
                    named.add(attribute)
                    pending += waiting.pop(attribute, ())
            for attribute, edges in node.members.items():
                (pending if attribute in named else waiting.setdefault(attribute, [])).extend(edges)
        for snapshot in searched:
            for key in named - snapshot.container.keys():
                if key not in snapshot.keys:  # type: ignore[operator]
                    snapshot.name(key, MISSING)
                if name is not None:
                    name(snapshot, key, f"{snapshot.path}.{key}", MISSING)
        return named

    def _visit(self, path: str, value: Any) -> StateNode:
        if len(self.nodes) > _MOST:
            raise RuntimeError(f"tenax.jit: more than {_MOST} objects are reached from the function, by {path}")
        node = self.nodes[id(value)] = StateNode(path, value)
        self.visitor_of(type(value))(self, node)
        self.snapshots += [s for s in node.snapshots if not s.named]
        return node

    def namespace(self, path: str, container: Any) -> StateSnapshot:
        """The snapshot of a namespace, which is empty until code names an entry."""
        snapshot = self.namespaces.get(id(container))
        if snapshot is None:
            snapshot = self.namespaces[id(container)] = StateSnapshot(path, container, {}, named=True)
            self.snapshots.append(snapshot)
        return snapshot

    def class_attributes(self, cls: type) -> StateSnapshot:
        """The namespace of a class."""
        return self.namespace(cls.__qualname__, self.adapter(cls, ClassAttributes))

    def adapter(self, value: Any, kind: type[Adapter]) -> Any:
        """The mapping over the state of an object that is not in a dict; one per object."""
        return self.adapters.get(id(value)) or self.adapters.setdefault(id(value), kind(value))

    # -- what the run did --------------------------------------------------------------------------------------------

    def moment(self) -> Moment:
        """The current content of all containers."""
        return [
            (s.version, s.content)
            if s.version is not None and version_of(s.container) == s.version
            else (None if s.version is None else version_of(s.container), s.entries())
            for s in self.snapshots
        ]

    def changes(self, since: Moment | None = None) -> list[StateChange]:
        """The changes since before the run, or since a later moment."""
        changes: list[StateChange] = []
        before = [(s.version, s.content) for s in self.snapshots] if since is None else since
        for snapshot, (version, content) in zip(self.snapshots, before, strict=True):
            same = version is not None and version_of(snapshot.container) == version
            if not same and snapshot.kind not in ("private", "read"):
                changes += snapshot.changes(content)
        return changes

    def before(self, source: Source) -> Any:
        """The value of an entry before the run."""
        contents = (s.content for s in self.snapshots if s.container is source.container)
        return next((content[source.key] for content in contents if source.key in content), MISSING)

    def staying(self, changed: set[tuple[int, Any]]) -> Iterator[torch.Tensor]:
        """The tensors that are also reached other than through the entries in `changed`, (id of container, key)."""
        elsewhere: dict[int, bool] = {}
        for snapshot in self.snapshots:
            container = id(snapshot.container)
            for key, value in snapshot.content.items():
                if isinstance(value, torch.Tensor):
                    elsewhere[id(value)] = elsewhere.get(id(value), False) or (container, key) not in changed
        yield from (t for i, (_, t) in self.reached.tensors.items() if elsewhere.get(i, True))

    def restore(self) -> None:
        """Restore the content of every container, and clear caches that the run filled."""
        for cache in self.reached.caches.values():
            cache.finish()
        for _, array in self.reached.arrays.values():
            if array.changed():
                array.restore()
        for snapshot in self.changed_snapshots():
            snapshot.restore()

    def changed_snapshots(self) -> Iterator[StateSnapshot]:
        """The snapshots whose containers have changed."""
        for snapshot in self.snapshots:
            same = snapshot.version is not None and version_of(snapshot.container) == snapshot.version
            if not same and not unchanged(snapshot.content, snapshot.entries()):
                yield snapshot
