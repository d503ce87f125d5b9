"""Submodules as attributes of their packages, imported at their first use.

`import torch_xla` alone makes `torch_xla.experimental.eager_mode` and `torch_xla.runtime.world_size` available.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType


def submodules_of(package: str) -> Callable[[str], ModuleType]:
    """The `__getattr__` of a package, which imports the submodule of that name."""

    def get(name: str) -> ModuleType:
        path = f"{package}.{name}"
        if name.startswith("__") or find_spec(path) is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return importlib.import_module(path)

    return get
