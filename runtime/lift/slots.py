"""The attributes of an object whose class has `__slots__`, as a mapping: one kind of container more to watch."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any


class Slots(MutableMapping[str, Any]):
    """The slots that are filled, by name."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.names = slots_of(type(owner))

    def __getitem__(self, name: str) -> Any:
        try:
            return getattr(self.owner, name)
        except AttributeError:
            raise KeyError(name) from None

    def __setitem__(self, name: str, value: Any) -> None:
        object.__setattr__(self.owner, name, value)  # also of a frozen dataclass, whose slots are only put back

    def __delitem__(self, name: str) -> None:
        object.__delattr__(self.owner, name)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.names if hasattr(self.owner, name))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def slots_of(cls: type) -> tuple[str, ...]:
    """The names of all slots of a class, as they are written from outside."""
    found: list[str] = []
    for base in cls.__mro__:
        names = vars(base).get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{base.__name__.lstrip('_')}{name}"
            if name not in ("__dict__", "__weakref__"):
                found.append(name)
    return tuple(found)
