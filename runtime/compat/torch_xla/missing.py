"""Names of PyTorch/XLA that tenax lacks: they can be imported, and raise where they are used.

The rows "not" of `table.py` list them. A module that has only such names is created from the table.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any

HOME = __package__
PUBLIC = "torch_xla"


class _Refuses(type):
    """The class of a name that raises NotImplementedError when it is called or asked for an attribute."""

    message: str

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(cls.message)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):  # libraries look for protocols
            raise AttributeError(name)
        raise NotImplementedError(cls.message)


@cache
def _refused(path: str, instead: str) -> _Refuses:
    message = f"{path}: tenax lacks this name of PyTorch/XLA; expected {instead.replace('`', '')}"
    return _Refuses(path.rpartition(".")[2], (), {"message": message, "__doc__": message, "__module__": HOME})


@cache
def _rows() -> dict[str, dict[str, str]]:
    """What replaces each name that is missing, by module."""
    from .table import NOT, ROWS

    found: dict[str, dict[str, str]] = {}
    for row in ROWS:
        if row.status == NOT:
            found.setdefault(row.module, {}).update(dict.fromkeys(row.names, row.tenax))
    return found


def exists(module: str) -> bool:
    """Whether this package has a module."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its package is missing
        return False


def missing_module(name: str) -> ModuleType | None:
    """The module `torch_xla...` if all its names are missing; None if it is not in the table, or exists."""
    if name in sys.modules:
        return sys.modules[name]
    inner = any(known.startswith(f"{name}.") for known in _rows())
    if (name not in _rows() and not inner) or exists(HOME + name.removeprefix(PUBLIC)):
        return None
    module = ModuleType(name, f"The module {name} of PyTorch/XLA, whose names raise.")
    module.__getattr__ = names_of(HOME + name.removeprefix(PUBLIC))  # type: ignore[method-assign]
    if inner:
        module.__path__ = []
    sys.modules[name] = module
    return module


def names_of(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module of this package: its submodules, imported at their first use, and the names that
    raise. `import torch_xla` alone makes `torch_xla.experimental.eager_mode` available."""
    public = PUBLIC + module.removeprefix(HOME)

    def get(name: str) -> Any:
        if not name.startswith("__"):
            instead = _rows().get(public, {}).get(name)
            if instead is not None:
                return _refused(f"{public}.{name}", instead)
            path = f"{module}.{name}"
            if getattr(sys.modules.get(module), "__path__", None) and exists(path):
                return importlib.import_module(path)
            found = missing_module(f"{public}.{name}")
            if found is not None:
                return found
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return get
