"""Sources: places in Python state, such as an attribute or a dict entry, and how they are read and written."""

from __future__ import annotations

import enum
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from .._torch.frames import MARKS

PLAIN_TYPES = (
    *(int, float, complex, bool, str, bytes, type(None), enum.Enum, np.number, np.bool_, range),
    *(torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size),
)
SEQUENCES = (list, deque, set)
_BUILTIN = (OrderedDict, dict, bytearray, *SEQUENCES, tuple, frozenset)
_PLAIN = frozenset(PLAIN_TYPES)
Fetch = Callable[[Sequence[Any]], Any]  # finds a value in a call, given the leaves of its arguments
EntryId = tuple[int, Any]  # an entry of a container: the id of the container, and the key
TensorSource = torch.Tensor | int  # a tensor that is the same in every call, or the position of an argument


def tensor_at(source: TensorSource, arguments: Sequence[Any]) -> torch.Tensor:
    """The tensor of a source in a call with these arguments."""
    return arguments[source] if isinstance(source, int) else source


class Source(NamedTuple):
    """An entry of a container, and its path for messages."""

    container: Any  # a dict, a list, or a closure's cell; None if each call finds it
    key: Any
    path: str
    find: Fetch | None = None  # finds the container in a call

    @property
    def entry(self) -> EntryId:
        """Its identity."""
        return id(self.container), self.key

    def relocated(self, containers: Mapping[int, Fetch]) -> Source:
        """The source in a container that each call finds, if `containers`, by the ids of the run's, has it."""
        find = containers.get(id(self.container))
        return self if find is None else self._replace(container=None, find=find)

    def at(self, arguments: Sequence[Any]) -> Source:
        """The source in a call with these arguments."""
        return self if self.find is None else self._replace(container=self.find(arguments), find=None)


def methods_of(container: Any) -> Any:
    """The class whose methods find and store what a container holds: a built-in one, which a subclass may override."""
    cls = type(container)
    return cls if cls in _BUILTIN else next((base for base in _BUILTIN if issubclass(cls, base)), cls)


def elements_of(container: Iterable[Any]) -> Iterator[Any]:
    """The elements of a built-in container, or the keys of a dict."""
    return methods_of(container).__iter__(container)


class BuiltinElements:
    """What a container holds, whose subclass of a built-in class may override how it is counted and iterated."""

    def __init__(self, container: Iterable[Any]) -> None:
        self.container = container

    def __iter__(self) -> Iterator[Any]:
        return elements_of(self.container)

    def __len__(self) -> int:
        return methods_of(self.container).__len__(self.container)


def refill(container: Any, values: Iterable[Any]) -> None:
    """Replace the elements of a list, deque or set, or the items of a dict, bypassing methods of its subclass."""
    kept = [*elements_of(values)]
    base = methods_of(container)
    base.clear(container)
    if base is OrderedDict:  # whose `update` calls the `__setitem__` of a subclass
        for key, value in kept:
            base.__setitem__(container, key, value)
    else:
        (base.update if issubclass(base, (dict, set)) else base.extend)(container, kept)


def content_at(place: Source) -> Any:
    """The value at a place that is not in a sequence; MISSING if there is no such entry."""
    if isinstance(place.container, types.CellType):
        return place.container.cell_contents
    return methods_of(place.container).get(place.container, place.key, MISSING)


def put_at(source: Source, value: Any, deleted: bool = False) -> None:
    """Store a value at a source, or delete the entry."""
    container, key = source.container, source.key
    if isinstance(container, types.CellType):
        container.cell_contents = value
    elif isinstance(container, SEQUENCES):
        refill(container, value)
    elif deleted:
        methods_of(container).pop(container, key, None)
    else:
        methods_of(container).__setitem__(container, key, value)


def fetch_entry(source: Source) -> Fetch:
    """A function that fetches the value at a source."""
    container, key = source.container, source.key
    if isinstance(container, types.CellType):
        return lambda arguments: container.cell_contents
    methods = methods_of(container)
    if methods is type(container):
        return lambda arguments: container[key]
    return lambda arguments: methods.__getitem__(container, key)


def fetch_element(fetch: Fetch, key: Any, methods: Any) -> Fetch:
    """A function that fetches an element of the container that `fetch` finds, by the `__getitem__` of a class."""
    return lambda arguments: methods.__getitem__(fetch(arguments), key)


class StateChange(NamedTuple):
    """A change of a container's entry; `new` is MISSING if the entry was deleted."""

    place: Source
    old: Any
    new: Any


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()


def same_value(old: Any, new: Any) -> bool:
    """Whether two values are interchangeable for a run: the same object, or equal plain values."""
    return old is new or (type(old) is type(new) and is_plain(old) and plain_key(old) == plain_key(new))


def plain_key(value: Any) -> Any:
    """A plain value as a key: 0.0 and -0.0 differ, and NaN equals itself."""
    kind = value.__class__
    if kind is complex or (kind is float and (not value or value != value)) or isinstance(value, np.inexact):
        return repr(value)
    return value


def is_plain(value: Any) -> bool:
    """Whether a value is plain, that is, compared by value. An instance of a subclass with a `__dict__` is not plain,
    unless it is an enum member."""
    return type(value) in _PLAIN or (
        isinstance(value, PLAIN_TYPES) and (isinstance(value, enum.Enum) or not hasattr(value, "__dict__"))
    )


def is_told_by_key(argument: Any) -> bool:
    """Whether the key of a call tells an argument from others: a tensor or a plain value, not another object."""
    return isinstance(argument, torch.Tensor) or is_plain(argument)


def argument_path(position: int) -> str:
    """The path of a leaf of the arguments."""
    return f"argument {position}"


def given_attributes(tensor: torch.Tensor) -> dict[str, Any]:
    """The attributes that a program gave to a tensor, without the marks of `torch._dynamo.mark_dynamic` and its kin."""
    return {name: value for name, value in vars(tensor).items() if not name.startswith(MARKS)}


def entry_path(path: str, container: Any, key: Any) -> str:
    """The path of an entry of a container, for messages."""
    if isinstance(container, types.CellType):
        return path
    if isinstance(container, (*SEQUENCES, BuiltinElements)) or (
        isinstance(container, dict) and not path.isidentifier() and not isinstance(key, str)
    ):
        return f"{path}[{text_of(key)}]"
    name = key if isinstance(key, str) else text_of(key)
    return f"{path}.{name}" if path else name


def text_of(key: Any) -> str:
    """A key as text, for messages."""
    if isinstance(key, torch.Tensor):
        return f"{type(key).__name__} of shape {list(key.shape)}"
    return repr(key) if isinstance(key, (str, int)) else type(key).__name__
