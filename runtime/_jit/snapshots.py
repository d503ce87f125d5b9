"""Snapshots: the content of a Python container at one point in time."""

from __future__ import annotations

import operator
import types
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .._torch.frames import dict_version
from .sources import MISSING, SEQUENCES, Source, StateChange, elements_of, entry_path, methods_of, refill, same_value

Entries = dict[Any, Any]


def version_of(container: dict[Any, Any]) -> int:
    """A number that changes with every write to a dict. From Python 3.12 on, torch's does not where `update` fills an
    empty dict."""
    version = dict_version(container)
    return version if dict.__len__(container) else -version


@dataclass(slots=True, eq=False)
class StateSnapshot:
    """A container and its content."""

    path: str
    container: Any
    keys: dict[Any, None] | None = None  # the entries that are followed; None means all
    owner: Any = None  # the object or tensor whose attributes these are; only attributes that are read matter
    named: bool = False  # whether it is a namespace, where only entries that code names matter
    # script: its numbers are recomputed on the host by each call; read: the same container, of which the function may
    # read entries; private: it is only restored
    kind: str = ""
    table: bool = False  # whether it is one of torch's own dicts, whose order follows from its values
    content: Entries = None  # type: ignore[assignment]
    version: int | None = None  # the dict's version when the content was taken; every write changes it

    def __post_init__(self) -> None:
        container = self.container
        if isinstance(container, dict) and not isinstance(container, OrderedDict):  # whose order is not versioned
            self.version = version_of(container)
        self.content = container.copy() if type(container) is dict and self.is_whole_dict() else self.entries()

    def entries(self) -> Entries:
        """The container's current content."""
        container = self.container
        if self.keys is not None:
            return {k: container[k] for k in self.keys if k in container}
        if isinstance(container, dict):
            return dict(methods_of(container).items(container))
        if isinstance(container, types.CellType):
            try:
                return {None: container.cell_contents}
            except ValueError:
                return {}
        return dict(enumerate(elements_of(container)))

    def is_whole_dict(self) -> bool:
        """Whether it is a dict all of whose entries are followed."""
        return self.keys is None and isinstance(self.container, dict)

    def name(self, key: Any, value: Any) -> None:
        """Follow another entry of a namespace; `value` is MISSING if there is none."""
        assert self.keys is not None
        self.keys[key] = None
        if value is not MISSING:
            self.content[key] = value

    def restore(self) -> None:
        """Restore the container's content."""
        container, content = self.container, self.content
        if isinstance(container, types.CellType):
            if content:
                container.cell_contents = content[None]
        elif isinstance(container, SEQUENCES):
            refill(container, content.values())
        elif self.is_whole_dict():
            refill(container, content.items())
        else:
            now = self.entries()
            for key in now:
                if key not in content:
                    del container[key]
            for key, value in content.items():
                if now.get(key, MISSING) is not value:
                    container[key] = value

    def changes(self, before: Entries) -> Iterator[StateChange]:
        """The changes since earlier entries. A reordered dict counts as emptied and refilled."""
        now = self.entries()
        if unchanged(before, now):
            return
        pairs = [(k, before.get(k, MISSING), now.get(k, MISSING)) for k in {**before, **now}]
        refilled = False
        if self.is_whole_dict():
            in_order = [*(k for k in before if k in now), *(k for k in now if k not in before)]
            if refilled := list(now) != in_order:
                pairs = [(k, v, MISSING) for k, v in before.items()]
                pairs += [(k, before.get(k, MISSING), v) for k, v in now.items()]
        for key, old, new in pairs:
            if refilled or not same_value(old, new):
                yield StateChange(Source(self.container, key, entry_path(self.path, self.container, key)), old, new)


def unchanged(before: Entries, now: Entries) -> bool:
    """Whether entries are the same objects in the same order."""
    return (
        len(before) == len(now) and all(map(operator.is_, before.values(), now.values())) and list(before) == list(now)
    )
