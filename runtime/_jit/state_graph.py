"""What a function reaches in Python: its variables, modules, optimizers and containers, as a graph.

A compiled program holds for as long as what its run could read is the same, and what the run changed there must be
changed again by every call. So the content of the containers is noted before a trace, compared after it, and guarded.

Objects are followed through attributes, lists, dicts, closures and the globals that a function names; of classes and of
Python's modules, through what the code of the functions names. The graph is built once: a trace restricts it to what
was read.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import torch

from .._torch.frames import dict_version
from .container_adapters import ClassAttributes, ContextVarValue, SlotAttributes
from .function_caches import FunctionCache
from .host_arrays import HostArray
from .snapshots import Entries, StateSnapshot, unchanged
from .sources import MISSING, PLAIN_TYPES, Source, StateChange

_MOST = 100_000  # objects that are followed
# The types of values that lead nowhere. Objects of their subclasses may hold more.
_LEAVES = {*PLAIN_TYPES, type(MISSING)}
Adapter = SlotAttributes | ClassAttributes | ContextVarValue
Edge = tuple[StateSnapshot | None, Any, str, Any]  # the entry of a snapshot, or None; the path and the value there
Moment = list[tuple[int | None, Entries]]  # of each snapshot: the version of the dict, and the content


@dataclass(slots=True, eq=False)
class StateNode:
    """An object that is reached, with its containers and where they lead."""

    path: str
    value: Any
    snapshots: list[StateSnapshot] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    named: tuple[str, ...] = ()  # the attributes that a function names
    members: dict[str, list[Edge]] = field(default_factory=dict)  # of a class: they count once a function names them

    def hold(self, container: Any, **options: Any) -> StateSnapshot:
        """Take a snapshot of one of its containers."""
        snapshot = StateSnapshot(self.path, container, **options)
        self.snapshots.append(snapshot)
        return snapshot

    def follow(self, snapshot: StateSnapshot, but: Container[str] = ()) -> None:
        """Lead on from each attribute in a snapshot, but for some."""
        path, items = self.path, snapshot.content.items()
        self.edges += [(snapshot, key, f"{path}.{key}", value) for key, value in items if key not in but]


Visitor = Callable[["StateGraph", StateNode], None]


@dataclass(slots=True)
class Reached:
    """What was reached, by kind; each by its id, with its path."""

    tensors: dict[int, tuple[str, torch.Tensor]] = field(default_factory=dict)
    modules: dict[int, tuple[str, torch.nn.Module]] = field(default_factory=dict)
    optimizers: dict[int, tuple[str, Any]] = field(default_factory=dict)
    schedulers: dict[int, tuple[str, Any]] = field(default_factory=dict)
    scalers: dict[int, tuple[str, Any]] = field(default_factory=dict)
    generators: dict[int, tuple[str, Any]] = field(default_factory=dict)  # of random numbers on the host
    arrays: dict[int, tuple[str, HostArray]] = field(default_factory=dict)
    streams: dict[int, tuple[str, Any]] = field(default_factory=dict)  # iterators, and queues of C
    caches: dict[int, FunctionCache] = field(default_factory=dict)  # by the id of the function, or of the logger
    objects: dict[int, tuple[str, Any]] = field(default_factory=dict)  # that are neither containers nor torch's

    @property
    def typed(self) -> set[int]:
        """The ids of the objects whose methods a run may have called."""
        return {*self.modules, *self.optimizers, *self.schedulers, *self.objects}


class StateGraph:
    """The objects reached from some roots."""

    def __init__(self, visitor_of: Callable[[type], Visitor], roots: dict[str, Any]) -> None:
        """`visitor_of` gives for a class what notes the containers of its objects."""
        self.visitor_of = visitor_of
        self.roots: list[Edge] = [(None, None, path, value) for path, value in roots.items()]
        self.nodes: dict[int, StateNode] = {}
        self.snapshots: list[StateSnapshot] = []
        self.namespaces: dict[int, StateSnapshot] = {}  # of classes, modules and globals, by the id of the container
        self.adapters: dict[int, Adapter] = {}  # by the id of the object
        self.reached = Reached()
        self.tables: set[int] = set()  # the ids of dicts of torch's own
        self.stored: set[str] = set()  # the attributes that the code of the functions sets
        self.named: set[str] = set()  # those that it names
        self.asks_types = False  # whether it may ask if a value is a number
        self.extend()

    def extend(self) -> None:
        """Follow what is new since the graph was built: objects in containers that changed."""
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
        ends_at: Callable[[StateSnapshot, Any], bool] | None = None,
    ) -> set[str]:
        """Go through what the roots lead to by some edges, and visit what is new.

        Args:
            edges_of: the edges of a node that are followed.
            name: is called for each entry that code names, with the snapshot of the namespace, the key, the path and
                the value.
            ends_at: whether it does not go on from an entry, given by the snapshot and the key.

        Returns:
            The attributes that the code of the functions on the way names.
        """
        named: set[str] = set()
        waiting: dict[str, list[Edge]] = {}  # members of classes that no function has named yet
        seen: set[int] = set()
        pending = [*self.roots]
        while pending:
            snapshot, key, path, value = pending.pop()
            if ends_at is not None and snapshot is not None and ends_at(snapshot, key):
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
            for attribute in node.named:
                if attribute not in named:
                    named.add(attribute)
                    pending += waiting.pop(attribute, ())
            for attribute, edges in node.members.items():
                (pending if attribute in named else waiting.setdefault(attribute, [])).extend(edges)
        return named

    def _visit(self, path: str, value: Any) -> StateNode:
        if len(self.nodes) > _MOST:
            raise RuntimeError(f"tenax.jit: more than {_MOST} objects are reached from the function, by {path}")
        node = self.nodes[id(value)] = StateNode(path, value)
        self.visitor_of(type(value))(self, node)
        self.snapshots += [s for s in node.snapshots if not s.named]
        return node

    def namespace(self, path: str, container: Any) -> StateSnapshot:
        """The snapshot of a namespace, which holds nothing until code names an entry."""
        snapshot = self.namespaces.get(id(container))
        if snapshot is None:
            snapshot = self.namespaces[id(container)] = StateSnapshot(path, container, {}, named=True)
            self.snapshots.append(snapshot)
        return snapshot

    def class_attributes(self, cls: type) -> StateSnapshot:
        """The namespace of a class."""
        return self.namespace(cls.__qualname__, self.adapter(cls, ClassAttributes))

    def adapter(self, value: Any, kind: type[Adapter]) -> Any:
        """The mapping that shows the state of an object without a dict; one for each object."""
        return self.adapters.get(id(value)) or self.adapters.setdefault(id(value), kind(value))

    # -- what the run did --------------------------------------------------------------------------------------------

    def moment(self) -> Moment:
        """What the containers hold now."""
        return [
            (s.version, s.content)
            if s.version is not None and dict_version(s.container) == s.version
            else (None if s.version is None else dict_version(s.container), s.entries())
            for s in self.snapshots
        ]

    def changes(self, since: Moment | None = None) -> list[StateChange]:
        """What differs from before the run, or from a later moment."""
        changes: list[StateChange] = []
        before = [(s.version, s.content) for s in self.snapshots] if since is None else since
        for snapshot, (version, content) in zip(self.snapshots, before, strict=True):
            same = version is not None and dict_version(snapshot.container) == version
            if not same and snapshot.kind != "private":
                changes += snapshot.changes(content)
        return changes

    def before(self, source: Source) -> Any:
        """What an entry held before the run."""
        contents = (s.content for s in self.snapshots if s.container is source.container)
        return next((content[source.key] for content in contents if source.key in content), MISSING)

    def staying(self, changed: set[tuple[int, Any]]) -> Iterator[torch.Tensor]:
        """The tensors that are also elsewhere than in changed entries, each an id of a container and a key."""
        elsewhere: dict[int, bool] = {}
        for snapshot in self.snapshots:
            container = id(snapshot.container)
            for key, value in snapshot.content.items():
                if isinstance(value, torch.Tensor):
                    elsewhere[id(value)] = elsewhere.get(id(value), False) or (container, key) not in changed
        yield from (t for i, (_, t) in self.reached.tensors.items() if elsewhere.get(i, True))

    def scripted(self) -> set[int]:
        """The ids of the containers that schedulers and scalers keep."""
        return {id(s.container) for s in self.snapshots if s.kind == "script"}

    def restore(self) -> None:
        """Put back what every container held, and forget what functions cached of the run."""
        for cache in self.reached.caches.values():
            cache.finish()
        for _, array in self.reached.arrays.values():
            if array.changed():
                array.restore()
        for snapshot in self.changed_snapshots():
            snapshot.restore()

    def changed_snapshots(self) -> Iterator[StateSnapshot]:
        """The snapshots whose containers hold something else now."""
        for snapshot in self.snapshots:
            same = snapshot.version is not None and dict_version(snapshot.container) == snapshot.version
            if not same and not unchanged(snapshot.content, snapshot.entries()):
                yield snapshot
