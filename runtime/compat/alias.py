"""Imports of another library that resolve to a package of tenax, for unmodified scripts.

A finder maps each module of the library to that of the package, so both names refer to the same object. The modules are
rows of a table, which says where each name is. Names that tenax lacks raise where they are used.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.abc import Loader, MetaPathFinder
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


RUNS, NOT = "runs", "not"


@dataclass(frozen=True, slots=True)
class Row:
    """Names of one module with the same status and equivalent."""

    module: str  # a module of the library
    own: tuple[str, ...]  # its names; `a:b` is the name a for what is b in its home
    home: str  # the module that has them; "-" if none has
    tenax: str  # the spelling without the library's names
    why: str  # how they differ from those of the library

    @property
    def names(self) -> list[str]:
        """The names."""
        return [name.partition(":")[0] for name in self.own]

    @property
    def status(self) -> str:
        """RUNS, "runs, differently: ..." or NOT."""
        return NOT if self.home == "-" else f"{RUNS}, differently: {self.why}" if self.why else RUNS

    @property
    def paths(self) -> list[str]:
        """The names with their module."""
        return [f"{self.module}.{name}" for name in self.names]


def rows(library: str, text: str) -> Iterator[Row]:
    """The rows of a text, whose lines are `names | home | tenax | why`, below or behind a module of the library.

    The last two cells may be missing, and "." stands for no names. A line that begins with eight spaces continues the
    one before. A module or home that begins with "torch" is a whole name.
    """
    module = ""
    for line in re.sub(r"\n {8,}", " ", text).strip().splitlines():
        head, names, cells = re.fullmatch(r"(?:([\w.]+):|   ) ?([^|]*)(.*)", line).groups()  # type: ignore[union-attr]
        if head:
            module = head if head.startswith("torch") else f"{library}.{head}"
        if cells:
            home, tenax, why = [*cells.removeprefix("| ").split(" | "), "", ""][:3]
            yield Row(module, tuple(names.replace(". ", "").split()), home, tenax or f"as `{home}`", why)


class Modules(MetaPathFinder, Loader):
    """Finds and makes the modules of a library, whose names are those of other modules, imported at their first use.

    Args:
        package: the package of tenax that stands for the library. Relative homes are below it.
        library: the name of the library.
        title: the name of the library in errors.
        rows: the names of the modules.
    """

    def __init__(self, package: str, library: str, title: str, rows: Iterable[Row]) -> None:
        self.package, self.library, self.title = package, library, title
        self.table: dict[str, dict[str, str]] = {}  # of each module: its names, by their home
        self.lacking: dict[str, str] = {}  # what replaces each name that raises
        for row in rows:
            parts = row.module.split(".")
            for end in range(1 if parts[0] == library else len(parts), len(parts) + 1):
                names = self.table.setdefault(self._own(".".join(parts[:end])), {})
            if row.status == NOT:
                self.lacking.update(dict.fromkeys(row.paths, row.tenax))
            else:
                home = self._own(row.home)
                names[home] = " ".join([names.get(home, ""), *row.own])

    def _own(self, module: str) -> str:
        """The name in tenax of a module of the library."""
        return self.package + module.removeprefix(self.library) if module.startswith(self.library) else module

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname not in self.table:
            return None
        return ModuleSpec(fullname, self, is_package=any(name.startswith(f"{fullname}.") for name in self.table))

    def exec_module(self, module: ModuleType) -> None:
        module.__getattr__ = partial(self.get, module.__name__)  # type: ignore[method-assign]
        names = " ".join(self.table[module.__name__].values()).split()
        module.__all__ = [name.partition(":")[0] for name in names]  # type: ignore[attr-defined]
        module.__dir__ = partial(sorted, module.__all__)  # type: ignore[method-assign]

    def get_code(self, name: str) -> CodeType:
        """The code of a module that is a program, for `-m`."""
        return compile(f"from {name} import main\nmain()", name, "exec")

    def get(self, module: str, name: str) -> Any:
        """An attribute of a module: one of its names, or a submodule.

        Raises:
            AttributeError: there is none.
        """
        public, inner = module.replace(self.package, self.library, 1), f"{module}.{name}"
        for home, names in self.table[module].items():
            for own, _, there in (entry.partition(":") for entry in names.split()):
                if own == name:
                    found = getattr(importlib.import_module(home, self.package), there or name)
                    setattr(sys.modules[module], name, found)
                    return found
        if f"{public}.{name}" in self.lacking:
            return refused(f"{public}.{name}", self.title, self.lacking[f"{public}.{name}"])
        if inner in self.table:
            return importlib.import_module(inner)
        raise AttributeError(f"module {public!r} has no attribute {name!r}")


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
def refused(path: str, library: str, instead: str) -> Any:
    """A name of a library that tenax lacks: it can be imported, and raises where it is used."""
    message = f"{path}: tenax lacks this name of {library}; expected {instead.replace('`', '')}"
    return _Refuses(path.rpartition(".")[2], (), {"message": message, "__doc__": message, "__module__": __name__})


class _Release(Distribution):
    """What `importlib.metadata` says of the library, by which others choose among its names."""

    def __init__(self, name: str, version: str, folder: str, others: Mapping[str, str]) -> None:
        self._files, self._folder = {"METADATA": f"Name: {name}\nVersion: {version}\n", **others}, folder

    def read_text(self, filename: str) -> str | None:
        return self._files.get(filename)

    def locate_file(self, path: Any) -> Path:
        return Path(self._folder) / path


class LibraryFinder(DistributionFinder):
    """Finds a library, its submodules and its metadata.

    Args:
        name: the name of the library.
        home: the package of tenax. Its folder `importable`, for the path of spawned processes, contains a module with
            the library's name, which installs the finder there.
        version: the release of the library whose names the package has.
        metadata: further files of its metadata.
        hint: the end of the error about a module that does not exist.
    """

    def __init__(
        self, name: str, home: ModuleType, version: str, metadata: Mapping[str, str] | None = None, hint: str = ""
    ) -> None:
        self.name, self.home, self.hint = name, home, hint
        self.folder = str(Path(str(home.__file__)).parent / "importable")
        self._release = _Release(name, version, self.folder, metadata or {})

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
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: tenax lacks this module of {self.name}{self.hint}", name=fullname
            )
        return ModuleSpec(fullname, _Alias(name), is_package=found.submodule_search_locations is not None)
