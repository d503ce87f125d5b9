"""Mappings over state that is not in a dict: class attributes, context variables, and slots."""

from __future__ import annotations

import gc
import types
from collections.abc import Iterator, MutableMapping
from contextvars import ContextVar
from typing import Any


class ClassAttributes(MutableMapping[str, Any]):
    """The attributes of a class itself."""

    def __init__(self, owner: type) -> None:
        self.owner = owner
        self.attributes = vars(owner)  # a live view
        (self.dict,) = gc.get_referents(self.attributes)  # behind the view: it has a version; it is only read

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


class _Named(MutableMapping[str, Any]):
    """State under those of some names that have a value."""

    names: tuple[str, ...]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.names if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class ContextVarValue(_Named):
    """The value of a context variable, under the key "value"."""

    names = ("value",)

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


class SlotAttributes(_Named):
    """The slots that have a value, by name."""

    def __init__(self, owner: Any, names: tuple[str, ...] | None = None) -> None:
        """`names` selects slots; None means all."""
        self.owner = owner
        self.names = slots_of(type(owner)) if names is None else names

    def __getitem__(self, name: str) -> Any:
        try:
            return getattr(self.owner, name)
        except AttributeError:
            raise KeyError(name) from None

    def __setitem__(self, name: str, value: Any) -> None:
        object.__setattr__(self.owner, name, value)  # works on frozen dataclasses, whose slots are only restored

    def __delitem__(self, name: str) -> None:
        object.__delattr__(self.owner, name)


def slots_of(cls: type) -> tuple[str, ...]:
    """The names of all slots of a class, C members included, mangled as attribute access from outside requires."""
    members = [item for base in cls.__mro__ for item in vars(base).items()]
    return tuple(
        name
        for name, member in members
        if isinstance(member, types.MemberDescriptorType) and not (name.startswith("__") and name.endswith("__"))
    )


def attributes_of(value: Any) -> dict[str, Any]:
    """The attributes of an object, in its `__dict__` and in slots."""
    attributes = getattr(value, "__dict__", {})
    own = attributes if isinstance(attributes, dict) else {}
    return {**own, **(SlotAttributes(value) if slots_of(type(value)) else {})}
