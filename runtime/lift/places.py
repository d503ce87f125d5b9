"""Places in what a function reaches in Python: containers, with what they held."""

from __future__ import annotations

import enum
import types
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

SIMPLE = (
    *(int, float, complex, bool, str, bytes, type(None), enum.Enum),
    *(torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size),
)
SEQUENCES = (list, deque, set)


class Place(NamedTuple):
    """An entry of a container, and how a person would write it."""

    container: Any  # a dict, a list, or a closure's cell
    key: Any
    path: str


@dataclass(slots=True)
class Held:
    """A container and what it held; `keys` where only some of its entries count."""

    path: str
    container: Any
    content: Any
    keys: tuple[Any, ...] | None = None
    absent: tuple[Any, ...] = ()  # entries that were looked for and are not there
    hidden: frozenset[str] = frozenset()  # entries that do not count, where all others do
    kind: str = ""  # script: each call computes its numbers anew on the host; private: it is only put back

    def items(self) -> dict[Any, Any]:
        """The entries now."""
        container = self.container
        if isinstance(container, types.CellType):
            try:
                return {None: container.cell_contents}
            except ValueError:
                return {}
        if isinstance(container, SEQUENCES):
            return dict(enumerate(container))
        if self.keys is not None:
            return {k: container[k] for k in self.keys if k in container}
        if self.hidden:
            return {k: v for k, v in container.items() if k not in self.hidden}
        return dict(dict.items(container))  # a subclass may make what it is asked for

    def is_dict(self) -> bool:
        """Whether it is a dict all of whose entries count."""
        return self.keys is None and not self.hidden and isinstance(self.container, dict)

    def restore(self) -> None:
        """Put back what it held."""
        container, content = self.container, self.content
        if isinstance(container, types.CellType):
            if content:
                container.cell_contents = content[None]
        elif isinstance(container, SEQUENCES):
            refill(container, content.values())
        elif self.keys is not None or self.hidden:
            for key in self.items():
                if key not in content:
                    del container[key]
            container.update(content)
        else:
            container.clear()
            container.update(content)


def refill(container: Any, values: Iterable[Any]) -> None:
    """Have a list, deque or set hold these values, or a dict these pairs."""
    kept = list(values)
    container.clear()
    (container.update if isinstance(container, (dict, set)) else container.extend)(kept)


def content_at(place: Place) -> Any:
    """What stands at a place that is none in a list."""
    if isinstance(place.container, types.CellType):
        return place.container.cell_contents
    return place.container.get(place.key, MISSING)


class Change(NamedTuple):
    """What a run did to a container: `new` stands at `place`, or is gone."""

    place: Place
    old: Any
    new: Any


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()


def same(old: Any, new: Any) -> bool:
    """Whether a run that reads one would read the other: the same object, or equal plain values."""
    return old is new or (isinstance(old, SIMPLE) and type(old) is type(new) and (old == new or old != old))


def is_simple(value: Any) -> bool:
    """Whether a value is a plain one, compared by value."""
    return isinstance(value, SIMPLE)


def entry(path: str, container: Any, key: Any) -> str:
    """How a person would write an entry of a container."""
    if isinstance(container, types.CellType):
        return path
    if isinstance(container, SEQUENCES) or (
        isinstance(container, dict) and not path.isidentifier() and not isinstance(key, str)
    ):
        return f"{path}[{text_of(key)}]"
    return f"{path}.{key}" if path else str(key)


def text_of(key: Any) -> str:
    """How a person would write a key."""
    return repr(key) if isinstance(key, (str, int)) else type(key).__name__
