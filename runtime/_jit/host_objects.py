"""C objects that hold state outside of attributes: XML elements, memory maps, contexts, in-memory files, hashes.

As with host arrays, the values that a trace reads from them are constants of its program, so their content is compared
before each call. A run that changes the content, for example by reading from a file, is refused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True, eq=False)
class _Identity:
    """A wrapper that compares an object by identity."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.value is other.value

    __hash__ = None  # type: ignore[assignment]


class HostKind(NamedTuple):
    """How the content of the objects of a class is read and restored."""

    read: Callable[[Any], Any]
    restore: Callable[[Any, Any], None]


def _read_element(root: Any) -> Any:
    return [(e, {**e.__getstate__(), "attrib": dict(e.attrib)}) for e in root.iter()]  # elements compare by identity


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
        context.run(variable.set, value.value)  # variables that the run added cannot be unset


def _read_file(value: Any) -> Any:
    return None if value.closed else value.__getstate__()


def _restore_file(value: Any, content: Any) -> None:
    if content is not None and not value.closed:
        value.__setstate__(content)


def _read_hash(value: Any) -> str:
    content: str = value.hexdigest() if value.digest_size else value.hexdigest(64)  # of SHAKE
    return content


def _restore_hash(_: Any, content: Any) -> None:
    """Do nothing: a hash cannot be reset, and a run that changed one is refused."""


# Keyed by class name, so that programs without such objects need not import the classes.
_KINDS = {
    "xml.etree.ElementTree.Element": HostKind(_read_element, _restore_element),
    "mmap.mmap": HostKind(_read_map, _restore_map),
    "_contextvars.Context": HostKind(_read_context, _restore_context),
    "_io.StringIO": HostKind(_read_file, _restore_file),
    "_io.BytesIO": HostKind(_read_file, _restore_file),
}


def host_kind(cls: type) -> HostKind | None:
    """The kind of the objects of a class, or None."""
    if hasattr(cls, "hexdigest") and cls.__module__ in sys.stdlib_module_names:  # each algorithm has its own C module
        return HostKind(_read_hash, _restore_hash)
    names = (f"{base.__module__}.{base.__qualname__}" for base in cls.__mro__)
    return next((_KINDS[name] for name in names if name in _KINDS), None)
