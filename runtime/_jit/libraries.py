"""Tells the program's own code, whose state must be followed completely, from that of libraries.

State that a library keeps in its classes seldom changes, and guarding it would take longer than running a small model.
Of its namespaces, those that a program may patch are compared as a whole: torch's functions, and the methods of the
classes of reached objects; and only if the version of the dict shows that something was written to it.
"""

from __future__ import annotations

import functools
import gc
import sys
import sysconfig
import types
from collections.abc import Iterable, Iterator
from operator import is_
from typing import Any

import torch

from ..changes import PATCHES
from .sources import MISSING

# Libraries whose objects hold no state of a program.
_STATELESS = {"torch", "jax", "jaxlib", "numpy", "tenax", "torchgen", "sympy", "functools", *sys.stdlib_module_names}
_STATELESS -= {"__main__"}
# Standard library modules (names without a leading underscore) that run programs or handle their output.
_MACHINERY = {"builtins", "functools", "importlib", "io", "logging", "thread", "types", "warnings"}
_SITE_PACKAGES = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib")})
# The names that tenax itself patches, each with the last part of its owner's path.
_OWN = {(row.owner.rpartition(".")[2], name) for row in PATCHES if row.of == "itself" for name in row.names.split()}
_OWN_OF_CLASSES = {"__getattribute__", "__setattr__"}
_FUNCTIONS = (torch, torch.nn.functional)

Content = dict[str, Any]
_contents: dict[int, Content] = {}  # the latest, by the id of the namespace; shared by steps


def module_of(cls: type) -> str:
    """The name of the module of a class."""
    name: Any = cls.__module__
    return name if isinstance(name, str) else "builtins"  # Cython classes have a descriptor there


def may_hold_state(module: str | None) -> bool:
    """Whether objects of a module's classes may hold state of a program; true for most libraries."""
    name = module or ""
    return name.partition(".")[0] not in _STATELESS or name.startswith("tenax.integrations.")  # trainers


def may_hold_state_in_objects(module: str | None) -> bool:
    """The same, also for the standard library, and for parts of torch whose objects hold parameters."""
    package = (module or "").partition(".")[0]
    in_python = package in sys.stdlib_module_names and package.lstrip("_") not in _MACHINERY
    return may_hold_state(module) or in_python or (module or "").startswith("torch.distributions")


def is_own(module: str | None) -> bool:
    """Whether a module belongs to the program rather than to an installed library."""
    return may_hold_state(module) and not _is_installed((module or "").partition(".")[0])


@functools.lru_cache(maxsize=1 << 10)
def _is_installed(package: str) -> bool:
    spec = getattr(sys.modules.get(package), "__spec__", None)
    locations = [] if spec is None else [spec.origin or "", *(spec.submodule_search_locations or ())]
    return any(location.startswith(_SITE_PACKAGES) for location in locations)


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
