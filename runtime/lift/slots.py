"""What objects hold and no dict does, as mappings: three kinds of containers more to watch."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from contextvars import ContextVar
from typing import Any


class Class(MutableMapping[str, Any]):
    """The attributes of a class itself."""

    def __init__(self, owner: type) -> None:
        self.owner = owner
        self.attributes = vars(owner)  # a view

    def __getitem__(self, name: str) -> Any:
        return self.attributes[name]

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self.owner, name, value)

    def __delitem__(self, name: str) -> None:
        delattr(self.owner, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)


class Context(MutableMapping[str, Any]):
    """What a context variable holds, under one name."""

    def __init__(self, owner: ContextVar[Any]) -> None:
        self.owner = owner

    def __getitem__(self, name: str) -> Any:
        try:
            return self.owner.get()
        except LookupError:
            raise KeyError(name) from None

    def __setitem__(self, name: str, value: Any) -> None:
        self.owner.set(value)

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"{self.owner.name} cannot be unset")

    def __iter__(self) -> Iterator[str]:
        return (name for name in ("value",) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


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


def attributes_of(value: Any) -> dict[str, Any]:
    """What an object has in its `__dict__` and in slots."""
    found = getattr(value, "__dict__", {})
    return {**(found if isinstance(found, dict) else {}), **(Slots(value) if slots_of(type(value)) else {})}


def put_attributes(value: Any, attributes: dict[str, Any]) -> None:
    """Set attributes of an object, also of a frozen one."""
    for name, item in attributes.items():
        object.__setattr__(value, name, item)
