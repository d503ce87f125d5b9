"""`import torch_xla` for unmodified scripts: the modules of this package under that name."""

from __future__ import annotations

import os
import sys
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType

from ..._lazy.mode import record_everywhere
from ..alias import LibraryFinder
from .missing import PUBLIC, missing_module
from .presented import present
from .version import __version__


class _WithoutFile(Loader):
    """Loads a module whose names raise."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return missing_module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module is complete."""


class _NamesFinder(LibraryFinder):
    """Also finds the modules whose names all raise."""

    def missing(self, fullname: str) -> ModuleSpec:
        if missing_module(fullname) is not None:
            return ModuleSpec(fullname, _WithoutFile(), is_package=hasattr(sys.modules[fullname], "__path__"))
        raise ModuleNotFoundError(
            f"No module named {fullname!r}: tenax lacks this module of PyTorch/XLA. `tenax doctor --xla script.py` "
            "lists what a script uses, and `tenax xla --names` what tenax has",
            name=fullname,
        )


def install() -> None:
    """Make `import torch_xla` mean `tenax.compat.torch_xla`, in spawned processes as well, show devices as "xla", and
    record operations like PyTorch/XLA (see `tenax.lazy`). With `TENAX_LAZY=0` in the environment they run immediately.

    Raises:
        ImportError: PyTorch/XLA itself has been imported.
    """
    if not _NamesFinder(PUBLIC, sys.modules[__package__], __version__).install():
        return
    present()
    if os.environ.get("TENAX_LAZY") != "0":
        record_everywhere()
