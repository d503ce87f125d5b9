"""Functions that replace attributes of torch and JAX; they raise for attributes that `changes` does not list."""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pkgutil import resolve_name
from typing import Any

from ._torch import NAME

_checks = False  # not while `import tenax` replaces attributes
_ABSENT = object()
_made: dict[str, Any] = {}  # the replacement at each path


def owner_of(path: str) -> tuple[Any, str]:
    """The class or module of an attribute, and the attribute's name.

    Raises:
        LookupError: the attribute is not in the table.
    """
    if _checks and path not in _table():
        raise LookupError(f"{path} is replaced, but tenax.changes.PATCHES has no row for it")
    owner, _, name = path.rpartition(".")
    return _resolved(owner), name


_resolved = functools.cache(resolve_name)


@functools.cache
def _table() -> set[str]:
    """The paths of the table, loaded for the first replacement after `import tenax`, whose own are checked then."""
    from .changes import PATCHES

    paths = {path for row in PATCHES if row.of == "itself" for path in row.paths}
    if unknown := _made.keys() - paths:
        raise LookupError(f"{sorted(unknown)} are replaced, but tenax.changes.PATCHES has no rows for them")
    return paths


def check_from_here() -> None:
    """Refuse attributes that are not in the table."""
    global _checks
    _checks = True


def replace(path: str, new: Any) -> Any:
    """Replace or add an attribute of the table for the rest of the process; return the old value, or None."""
    owner, name = owner_of(path)
    before = getattr(owner, name, None)
    setattr(owner, name, new)
    _made[path] = new
    return before


def wrap(path: str, make: Callable[[Any], Any]) -> Any:
    """Replace an attribute of the table with `make(attribute)`; return the attribute."""
    owner, name = owner_of(path)
    return replace(path, make(getattr(owner, name)))


def for_device(path: str, method: Callable[..., Any]) -> Any:
    """Replace a method of the table for tensors or storages of the device; return the old one."""

    def make(plain: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(plain)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            return (method if self.device.type == NAME else plain)(self, *args, **kwargs)

        return call

    return wrap(path, make)


def delegate(owner: str, names: str, module: str) -> None:
    """Replace functions of the table (`names`, space-separated) with those of the same names in a module of tenax.

    The module is imported on the first call. Its functions receive the original function as their first argument."""

    def make(name: str, plain: Any) -> Any:
        @functools.wraps(plain)
        def call(*args: Any, **kwargs: Any) -> Any:
            return getattr(importlib.import_module(module), name)(plain, *args, **kwargs)

        return call

    for name in names.split():
        wrap(f"{owner}.{name}", functools.partial(make, name))


def temporarily(path: str, new: Any) -> AbstractContextManager[None]:
    """Replace or add an attribute of the table within a context, then restore it."""
    return within(*owner_of(path), new)


@contextmanager
def within(owner: Any, name: str, new: Any) -> Iterator[None]:
    """Replace or add an attribute within a context, then restore it."""
    own = vars(owner).get(name, _ABSENT)
    setattr(owner, name, new)
    try:
        yield
    finally:
        if own is _ABSENT:
            delattr(owner, name)  # a class inherits it again
        else:
            setattr(owner, name, own)


def replaced() -> dict[str, Any]:
    """The replacements that tenax has made so far, by path."""
    return dict(_made)


def of_object(value: Any, name: str, new: Any) -> AbstractContextManager[None]:
    """The same for an attribute of a torch object.

    Raises:
        LookupError: the table does not list it.
    """
    from .changes import PATCHES

    classes = {f"{c.__module__}.{c.__qualname__}" for c in type(value).__mro__}
    for row in PATCHES:
        if row.of == "its objects" and name in row.names.split():
            cls = resolve_name(row.owner)
            if f"{cls.__module__}.{cls.__qualname__}" in classes:
                return within(value, name, new)
    raise LookupError(f"{name} of a {type(value).__name__} is replaced, but tenax.changes.PATCHES has no row for it")


class ScopedPatches:
    """Attributes of the table that are replaced while any thread traces, and then restored.

    A replacement must not hold a trace, because torch may keep a reference to it.
    """

    def __init__(self, *patches: tuple[str, Callable[[Any], Any]]) -> None:
        """Each patch is a path of the table and a function that makes the replacement from the original."""
        self._lock = threading.Lock()
        self._running = 0
        self._patches: list[tuple[Any, str, Any, Any]] = []
        for path, make in patches:
            owner, name = owner_of(path)
            plain = vars(owner)[name]
            self._patches.append((owner, name, plain, make(plain)))

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Replace the attributes until the last thread inside has left."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        with self._lock:
            before, self._running = self._running, self._running + more
            if 0 in (before, self._running):
                for owner, name, plain, ours in self._patches:
                    setattr(owner, name, ours if self._running else plain)
