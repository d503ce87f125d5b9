"""The guard of a program: what the containers hold beside what they held when it was traced."""

from __future__ import annotations

import operator
import types
from collections.abc import Sequence
from itertools import chain, compress, repeat
from typing import Any

import torch

from .watch import MISSING, SEQUENCES, Watch, entry, is_simple, same

_contents = operator.attrgetter("cell_contents")


class Guard:
    """A quick comparison of what the containers hold with what they held."""

    # Flat lists, for loops in C: after a computation all of this is cold, and most time goes to memory.

    def __init__(self, watch: Watch, free: set[tuple[int, Any]]) -> None:
        """`free` are the entries, by id of the container and key, that need not be the same."""
        self.empty: list[Any] = []
        self.empty_paths: list[str] = []
        self.whole: list[dict[Any, Any]] = []  # whose values all count
        self.listed: list[Any] = []  # whose elements count, or the keys of a dict
        self.holders: list[Any] = []  # of which one entry counts, that of the same place among the keys
        self.keys: list[Any] = []
        self.cells: list[types.CellType] = []
        self.without: list[dict[Any, Any]] = []  # in which a name is not found
        self.names: list[Any] = []
        expected: list[list[tuple[str, Any]]] = [[], [], [], [], []]
        values, elements, entries, contents, absences = expected
        for held in watch.held:
            if held.kind:
                continue
            container, content = held.container, held.content
            known = [(entry(held.path, container, k), v) for k, v in content.items() if (id(container), k) not in free]
            if isinstance(container, types.CellType):
                self.cells += [container] * len(known)
                contents += known
            elif held.keys is not None or len(known) < len(content):
                self.holders += [container] * len(known)
                self.keys += [k for k in content if (id(container), k) not in free]
                entries += known
            elif not content:
                self.empty.append(container)
                self.empty_paths.append(held.path)
            elif isinstance(container, SEQUENCES):
                self.listed.append(container)
                elements += known
            else:
                self.whole.append(container)
                values += known
            if held.is_dict() and content and id(container) not in watch.tables:  # of the program: its order counts
                self.listed.append(container)
                elements += [(f"a key of {held.path}", k) for k in content]
            self.without += [container] * len(held.absent)
            self.names += held.absent
            absences += [(entry(held.path, container, k), MISSING) for k in held.absent]
        self.paths = [path for path, _ in chain.from_iterable(expected)]
        self.known = [value for _, value in chain.from_iterable(expected)]

    def now(self) -> Sequence[Any]:
        """What stands where `known` stood; nothing where a container is no longer empty."""
        if any(self.empty):
            return ()
        return [
            *chain.from_iterable(map(dict.values, self.whole)),
            *chain.from_iterable(self.listed),
            *map(operator.getitem, self.holders, self.keys),
            *map(_contents, self.cells),
            *map(dict.get, self.without, self.names, repeat(MISSING)),
        ]

    def failure(self) -> str | None:
        """None while all holds; else what changed."""
        try:
            now = self.now()
        except (KeyError, IndexError, ValueError) as error:
            return f"{error} is gone"
        known = self.known
        if len(now) != len(known):
            for path in compress(self.empty_paths, self.empty):
                return f"{path} is no longer empty"
            return "a container has other entries"
        if all(map(operator.is_, now, known)):
            return None
        for path, new, old in zip(self.paths, now, known, strict=True):
            if not same(old, new):
                return f"{path} was {_short(old)} and is {_short(new)}"
        self.known = list(now)
        return None


def _short(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"another tensor of shape {list(value.shape)}"
    text = repr(value) if is_simple(value) or value is MISSING else f"a {type(value).__name__}"
    return text if len(text) < 60 else f"{text[:57]}..."
