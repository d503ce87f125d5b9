"""Snapshots: what a container of Python held at a moment."""

from __future__ import annotations

import operator
import types
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .._torch.frames import dict_version
from .sources import MISSING, SEQUENCES, Source, StateChange, entry_path, refill, same_value

Entries = dict[Any, Any]


@dataclass(slots=True, eq=False)
class StateSnapshot:
    """A container and what it held."""

    path: str
    container: Any
    keys: dict[Any, None] | None = None  # where only some of its entries are followed
    owner: Any = None  # an object or a tensor whose attributes these are: those count that are read
    named: bool = False  # whether it is a namespace, of which those entries count that code names
    kind: str = ""  # script: each call computes its numbers anew on the host; private: it is only restored
    table: bool = False  # whether it is a dict of torch's own, whose order goes with its values
    content: Entries = None  # type: ignore[assignment]
    version: int | None = None  # of a dict, when the content was taken: every write changes it

    def __post_init__(self) -> None:
        container = self.container
        if isinstance(container, dict) and not isinstance(container, OrderedDict):  # whose order has no version
            self.version = dict_version(container)
        self.content = container.copy() if type(container) is dict and self.is_whole_dict() else self.entries()

    def entries(self) -> Entries:
        """What the container holds now."""
        container = self.container
        if self.keys is not None:
            return {k: container[k] for k in self.keys if k in container}
        if isinstance(container, dict):
            # A subclass may make what it is asked for. An OrderedDict keeps an order of its own.
            base = OrderedDict if isinstance(container, OrderedDict) else dict
            return dict(base.items(container))
        if isinstance(container, types.CellType):
            try:
                return {None: container.cell_contents}
            except ValueError:
                return {}
        return dict(enumerate(container))

    def is_whole_dict(self) -> bool:
        """Whether it is a dict all of whose entries are followed."""
        return self.keys is None and isinstance(self.container, dict)

    def name(self, key: Any, value: Any) -> None:
        """Follow one entry more of a namespace; `value` is MISSING where it has no such entry."""
        assert self.keys is not None
        self.keys[key] = None
        if value is not MISSING:
            self.content[key] = value

    def restore(self) -> None:
        """Put back what the container held."""
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
        """What differs from earlier entries. A dict in another order is one that was emptied and filled anew."""
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
