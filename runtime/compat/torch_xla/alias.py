"""`import torch_xla` for unmodified scripts: the modules of this package under that name.

A finder maps each module of `torch_xla` to that of `tenax.compat.torch_xla`, so both names refer to the same object.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from ..._lazy.mode import record_everywhere
from .missing import exists, missing_module
from .presented import present
from .version import __version__

NAME = "torch_xla"
_HOME = __package__
_ANY = DistributionFinder.Context()
_FOLDER = str(Path(__file__).parent / "importable")  # contains a module of that name, which calls `install`


class _Alias(Loader):
    """Loads a module by its name in tenax."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.name)
        self.spec = module.__spec__
        return module

    def get_code(self, name: str) -> CodeType | None:
        """The code, for `-m`."""
        spec = find_spec(self.name)
        loader: Any = spec and spec.loader
        return loader and loader.get_code(self.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import has set the spec of the other name


class _WithoutFile(Loader):
    """Loads a module whose names raise."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return missing_module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module is complete."""


class _Release(Distribution):
    """What `importlib.metadata` says of `torch_xla`, by which libraries choose among its names."""

    def read_text(self, filename: str) -> str | None:
        return f"Name: {NAME}\nVersion: {__version__}\n" if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Path:
        return Path(_FOLDER) / path


class _Names(DistributionFinder):
    """Finds `torch_xla`, its submodules and its metadata."""

    def find_distributions(self, context: DistributionFinder.Context = _ANY) -> Iterable[Distribution]:
        asked = NAME if context.name is None else context.name.replace("-", "_").lower()
        return [_Release()] if asked == NAME else []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != NAME and not fullname.startswith(f"{NAME}."):
            return None
        name = _HOME + fullname.removeprefix(NAME)
        found = find_spec(name) if exists(name) else None
        if found is None and missing_module(fullname) is not None:
            return ModuleSpec(fullname, _WithoutFile(), is_package=hasattr(sys.modules[fullname], "__path__"))
        if found is None:
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: tenax lacks this module of PyTorch/XLA. `tenax doctor --xla script.py` "
                "lists what a script uses, and `tenax xla --names` what tenax has",
                name=fullname,
            )
        return ModuleSpec(fullname, _Alias(name), is_package=found.submodule_search_locations is not None)


def install() -> None:
    """Make `import torch_xla` mean `tenax.compat.torch_xla`, in spawned processes as well, show devices as "xla", and
    record operations like PyTorch/XLA (see `tenax.lazy`). With `TENAX_LAZY=0` in the environment they run immediately.

    Raises:
        ImportError: PyTorch/XLA itself has been imported.
    """
    if any(isinstance(finder, _Names) for finder in sys.meta_path):
        return
    home = sys.modules[_HOME]
    other = sys.modules.get(NAME, home)
    if other is not home and getattr(other, "__file__", None) != str(Path(_FOLDER) / f"{NAME}.py"):
        raise ImportError(
            "tenax.compat.torch_xla.install: PyTorch/XLA itself has been imported; expected a new process"
        )
    sys.meta_path.insert(0, _Names())
    sys.modules[NAME] = home
    sys.path.insert(0, _FOLDER)
    present()
    if os.environ.get("TENAX_LAZY") != "0":
        record_everywhere()
