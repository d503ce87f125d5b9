"""Imports of another library that resolve to a package of tenax, for unmodified scripts.

A finder maps each module of the library to that of the package, so both names refer to the same object.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

_ANY = DistributionFinder.Context()


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


class _Release(Distribution):
    """What `importlib.metadata` says of the library, by which others choose among its names."""

    def __init__(self, name: str, version: str, folder: str) -> None:
        self._metadata, self._folder = f"Name: {name}\nVersion: {version}\n", folder

    def read_text(self, filename: str) -> str | None:
        return self._metadata if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Path:
        return Path(self._folder) / path


class LibraryFinder(DistributionFinder):
    """Finds a library, its submodules and its metadata.

    Args:
        name: the name of the library.
        home: the package of tenax. Its folder `importable`, for the path of spawned processes, contains a module with
            the library's name, which installs the finder there.
        version: the release of the library whose names the package has.
    """

    def __init__(self, name: str, home: ModuleType, version: str) -> None:
        self.name, self.home = name, home
        self.folder = str(Path(str(home.__file__)).parent / "importable")
        self._release = _Release(name, version, self.folder)

    def install(self) -> bool:
        """Find the library from now on, in spawned processes as well; whether this is the first call.

        Raises:
            ImportError: the library itself has been imported.
        """
        if any(isinstance(finder, LibraryFinder) and finder.name == self.name for finder in sys.meta_path):
            return False
        other = sys.modules.get(self.name, self.home)
        if other is not self.home and getattr(other, "__file__", None) != str(Path(self.folder) / f"{self.name}.py"):
            raise ImportError(
                f"{self.home.__name__}.install: {self.name} itself has been imported; expected a new process"
            )
        sys.meta_path.insert(0, self)
        sys.modules[self.name] = self.home
        sys.path.insert(0, self.folder)
        return True

    def find_distributions(self, context: DistributionFinder.Context = _ANY) -> Iterable[Distribution]:
        asked = self.name if context.name is None else context.name.replace("-", "_").lower()
        return [self._release] if asked == self.name else []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not f"{fullname}.".startswith(f"{self.name}."):
            return None
        name = self.home.__name__ + fullname.removeprefix(self.name)
        try:
            found = find_spec(name)
        except ModuleNotFoundError:  # its package is missing
            found = None
        if found is None:
            return self.missing(fullname)
        return ModuleSpec(fullname, _Alias(name), is_package=found.submodule_search_locations is not None)

    def missing(self, fullname: str) -> ModuleSpec:
        """The spec of a module of the library that tenax lacks.

        Raises:
            ModuleNotFoundError: always, except in subclasses.
        """
        raise ModuleNotFoundError(
            f"No module named {fullname!r}: tenax lacks this module of {self.name}", name=fullname
        )
