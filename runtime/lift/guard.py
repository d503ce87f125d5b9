"""The guard of a program: what the containers hold beside what they held when it was traced."""

from __future__ import annotations

import operator
import types
from collections.abc import Sequence
from itertools import chain, compress
from typing import Any

import torch
from torch._C._dynamo.guards import dict_version

from .places import MISSING, entry, is_simple, same
from .slots import Class
from .watch import Watch

_contents = operator.attrgetter("cell_contents")


class Guard:
    """A quick comparison of what the containers hold with what they held.

    After a computation all of this is cold, and most time goes to memory. So of a dict only its version is read, which
    every write changes, and what is no dict stands in flat lists, for loops in C.
    """

    def __init__(self, watch: Watch, free: set[tuple[int, Any]]) -> None:
        """`free` are the entries, by id of the container and key, that need not be the same."""
        self.empty: list[Any] = []
        self.empty_paths: list[str] = []
        self.entries: list[Entries] = []
        self.listed: list[Any] = []  # whose elements count, or the keys of a dict
        self.holders: list[Any] = []  # no dicts, of which one entry counts, that of the same place among the keys
        self.keys: list[Any] = []
        self.cells: list[types.CellType] = []
        classes: dict[type, Any] = {}
        elements, items, contents = Known(), Known(), Known()
        for held in watch.held:
            if held.kind:
                continue
            container: Any = held.container
            content = held.content
            keys = [k for k in content if (id(container), k) not in free]
            paths, values = [entry(held.path, container, k) for k in keys], [content[k] for k in keys]
            some = held.keys is not None or len(keys) < len(content)
            if isinstance(container, types.CellType):
                self.cells += [container] * len(keys)
                contents.add(paths, values)
            elif isinstance(container, dict) and (content or some or held.absent):
                paths += [entry(held.path, container, k) for k in held.absent]
                values += [MISSING] * len(held.absent)
                asked = tuple(keys) if some else None
                self.entries.append(Entries(container, asked, held.absent, Known(paths, values)))
            elif some:
                if isinstance(container, Class):
                    classes[container.owner] = container = container.attributes
                self.keys += keys
                self.holders += [container] * len(keys)
                items.add(paths, values)
            elif content:
                self.listed.append(container)
                elements.add(paths, values)
            else:
                self.empty.append(container)
                self.empty_paths.append(held.path)
            if held.is_dict() and content and id(container) not in watch.tables:  # of the program: its order counts
                self.listed.append(container)
                elements.add([f"a key of {held.path}"] * len(content), list(content))
        self.others = Known()
        for known in (elements, items, contents):
            self.others.add(known.paths, known.values)
        self.dicts = [e.container for e in self.entries]
        self.versions: list[int | None] = [None] * len(self.dicts)
        self.classes = [*classes.values()]  # which get no more attributes
        self.sizes = [*map(len, self.classes)]
        self.memory = watch.memory

    def failure(self) -> str | None:
        """None while all holds; else what changed."""
        if any(self.empty):
            return f"{next(compress(self.empty_paths, self.empty))} is no longer empty"
        if [*map(len, self.classes)] != self.sizes:
            return "a class has other attributes"
        if (versions := [*map(dict_version, self.dicts)]) != self.versions:
            for entries, version, before in zip(self.entries, versions, self.versions, strict=True):
                if version != before and (reason := entries.failure()):
                    return reason
            self.versions[:] = versions
        try:
            now = [
                *chain.from_iterable(self.listed),
                *map(operator.getitem, self.holders, self.keys),
                *map(_contents, self.cells),
            ]
        except (KeyError, IndexError, ValueError) as error:
            return f"{error} is gone"
        for memory in self.memory:
            if memory.changed():
                return f"{memory.path} holds other numbers"
        return self.others.failure(now)


class Known:
    """What stood at some places."""

    __slots__ = ("paths", "values")

    def __init__(self, paths: Sequence[str] = (), values: Sequence[Any] = ()) -> None:
        self.paths, self.values = [*paths], [*values]

    def add(self, paths: Sequence[str], values: Sequence[Any]) -> None:
        """More places."""
        self.paths += paths
        self.values += values

    def failure(self, now: list[Any]) -> str | None:
        """None if the same stands there `now`; else what changed."""
        if len(now) != len(self.values):
            return "a container has other entries"
        if all(map(operator.is_, now, self.values)):
            return None
        for path, new, old in zip(self.paths, now, self.values, strict=True):
            if not same(old, new):
                return f"{path} was {_short(old)} and is {_short(new)}"
        self.values = now
        return None


class Entries:
    """The entries of one dict that count: those of some keys, or all; and keys that it does not have."""

    __slots__ = ("absent", "container", "keys", "known")

    def __init__(
        self, container: dict[Any, Any], keys: tuple[Any, ...] | None, absent: tuple[Any, ...], known: Known
    ) -> None:
        self.container, self.keys, self.absent, self.known = container, keys, absent, known

    def failure(self) -> str | None:
        """None while they are the same; else what changed."""
        held = self.container
        found = dict.values(held) if self.keys is None else [dict.get(held, k, MISSING) for k in self.keys]
        return self.known.failure([*found, *(dict.get(held, k, MISSING) for k in self.absent)])


def _short(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"another tensor of shape {list(value.shape)}"
    text = repr(value) if is_simple(value) or value is MISSING else f"a {type(value).__name__}"
    return text if len(text) < 60 else f"{text[:57]}..."
