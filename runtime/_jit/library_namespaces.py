"""Library namespaces that a program may patch: torch's functions, and the methods of the classes of its objects.

A namespace is compared as a whole, and only if the version of its dict shows that something was written to it.
"""

from __future__ import annotations

import gc
import types
from collections.abc import Iterable, Iterator
from operator import is_
from typing import Any

import torch

from ..changes import PATCHES
from .libraries import is_own, module_of
from .sources import MISSING

# The names that tenax itself patches, each with the last part of its owner's path.
_OWN = {(row.owner.rpartition(".")[2], name) for row in PATCHES if row.of == "itself" for name in row.names.split()}
_OWN_OF_CLASSES = {"__getattribute__", "__setattr__"}
_FUNCTIONS = (torch, torch.nn.functional)

Content = dict[str, Any]
_contents: dict[int, Content] = {}  # the latest, by the id of the namespace; shared by steps


def namespaces_of(objects: Iterable[Any]) -> Iterator[tuple[str, dict[str, Any], Content]]:
    """Yield the name, dict and content of torch's function namespaces and of the classes of some objects."""
    for module in _FUNCTIONS:
        path, scope = module.__name__, vars(module)
        last = path.rpartition(".")[2]
        kept = {name: item for name, item in scope.items() if callable(item) and (last, name) not in _OWN}
        yield path, scope, _shared(scope, kept)
    classes = {base: None for cls in {torch.Tensor, *map(type, objects)} for base in cls.__mro__}
    for cls in classes:
        if cls is not object and not is_own(module_of(cls)):
            (scope,) = gc.get_referents(vars(cls))  # the dict behind the proxy, because it has a version
            yield cls.__qualname__, scope, _shared(scope, _methods(cls.__qualname__, scope))


def _methods(path: str, scope: dict[str, Any]) -> Content:
    cls = path.rpartition(".")[2]
    return {
        name: item
        for name, item in scope.items()
        if name not in _OWN_OF_CLASSES and (cls, name) not in _OWN and (callable(item) or not name.startswith("_"))
    }


def _shared(scope: dict[str, Any], content: Content) -> Content:
    """Return an equal content that was found before, if there is one, so that steps share it."""
    before = _contents.get(id(scope))
    if before is not None and len(before) == len(content) and all(map(is_, before.values(), content.values())):
        return before
    _contents[id(scope)] = content
    return content


class LibraryEntries:
    """The content of one namespace."""

    __slots__ = ("container", "content", "name", "of_class")

    def __init__(self, name: str, container: dict[str, Any], content: Content) -> None:
        self.name, self.container, self.content = name, container, content
        self.of_class = "__module__" in container  # in a class, a new name may hide a base's

    def failure(self) -> str | None:
        """None if all of it is the same; otherwise what was replaced."""
        now, content = self.container, self.content
        for name, item in content.items():
            if now.get(name, MISSING) is not item:
                return f"{self.name}.{name} was replaced"
        if self.of_class:
            return next((f"{self.name} got {name}" for name in _methods(self.name, now) if name not in content), None)
        return None


def replacements(cls: type) -> list[tuple[str, types.FunctionType]]:
    """The functions that a program has patched into a library class."""
    return [*_functions_of_programs(cls.__qualname__, vars(cls))]


def replaced_functions() -> dict[str, types.FunctionType]:
    """The functions that a program has patched into torch's namespaces."""
    found: dict[str, types.FunctionType] = {}
    for module in _FUNCTIONS:
        found |= _functions_of_programs(module.__name__, vars(module))
    return found | dict(replacements(torch.Tensor))


def _functions_of_programs(path: str, scope: Any) -> Iterator[tuple[str, types.FunctionType]]:
    for name, item in [*scope.items()]:
        if isinstance(item, types.FunctionType) and is_own(item.__module__):
            yield f"{path}.{name}", item
