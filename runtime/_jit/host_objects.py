"""Objects of C that hold state of a program without attributes: XML elements, memory maps, contexts, files in memory,
hashes.

As with arrays of the host, what a trace reads from them is constant in its program, so their content is compared before
each call. A run that changes it, as one that reads on in a file does, is refused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True, eq=False)
class _Identity:
    """An object that is equal to itself alone."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.value is other.value

    __hash__ = None  # type: ignore[assignment]


class HostKind(NamedTuple):
    """How the content of the objects of a class is read and put back."""

    read: Callable[[Any], Any]
    restore: Callable[[Any, Any], None]


def _read_element(root: Any) -> Any:
    return [(e, {**e.__getstate__(), "attrib": dict(e.attrib)}) for e in root.iter()]  # elements are equal if identical


def _restore_element(_: Any, content: Any) -> None:
    for element, state in content:
        element.__setstate__(state)


def _read_map(value: Any) -> Any:
    return None if value.closed else (value[:], value.tell())


def _restore_map(value: Any, content: Any) -> None:
    if content is not None and not value.closed:
        content_before, position = content
        if value[:] != content_before:
            value[:] = content_before
        value.seek(position)


def _read_context(context: Any) -> Any:
    return {variable: _Identity(value) for variable, value in context.items()}


def _restore_context(context: Any, content: Any) -> None:
    for variable, value in content.items():
        context.run(variable.set, value.value)  # a variable that is new there cannot be unset


def _read_file(value: Any) -> Any:
    return None if value.closed else value.__getstate__()


def _restore_file(value: Any, content: Any) -> None:
    if content is not None and not value.closed:
        value.__setstate__(content)


def _read_hash(value: Any) -> str:
    content: str = value.hexdigest() if value.digest_size else value.hexdigest(64)  # of SHAKE
    return content


def _restore_hash(_: Any, content: Any) -> None:
    """Nothing: a hash cannot forget, and the run that changed it is refused."""


# By the names of the classes, because programs without such objects need not import them.
_KINDS = {
    "xml.etree.ElementTree.Element": HostKind(_read_element, _restore_element),
    "mmap.mmap": HostKind(_read_map, _restore_map),
    "_contextvars.Context": HostKind(_read_context, _restore_context),
    "_io.StringIO": HostKind(_read_file, _restore_file),
    "_io.BytesIO": HostKind(_read_file, _restore_file),
}


def host_kind(cls: type) -> HostKind | None:
    """How the content of a class is read, if its objects are such."""
    if hasattr(cls, "hexdigest") and cls.__module__ in sys.stdlib_module_names:  # a module of C for each algorithm
        return HostKind(_read_hash, _restore_hash)
    names = (f"{base.__module__}.{base.__qualname__}" for base in cls.__mro__)
    return next((_KINDS[name] for name in names if name in _KINDS), None)
