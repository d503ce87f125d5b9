"""What a torch release changes in the schemas, and which specs it touches."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tenax.codegen.check import drift
from tenax.codegen.schema import Schemas, installed, packaged, read
from tenax.codegen.spec import Entry

_FOLDER = "torchgen/packaged/ATen/native"


@dataclass(frozen=True)
class Change:
    """One overload that differs between two releases; `entry` is the spec it touches."""

    kind: str  # added, changed, removed
    name: str
    detail: str
    entry: Entry | None

    def __str__(self) -> str:
        where = f"  [{self.entry.where}:{self.entry.line}]" if self.entry else ""
        return f"{self.kind:8}{self.detail}{where}"


def load(source: str) -> Schemas:
    """The schemas of `installed`, a native_functions.yaml, a folder that holds one, or a torch wheel.

    Raises:
        FileNotFoundError: there is nothing at that path.
    """
    if source == "installed":
        return installed()
    path = Path(source)
    if not path.exists():
        raise FileNotFoundError(f"{source}: not there; expected `installed`, a native_functions.yaml or a torch wheel")
    if path.suffix == ".whl":
        return _wheel(path)
    file = path / "native_functions.yaml" if path.is_dir() else path
    tags = file.with_name("tags.yaml")
    return read(file, tags if tags.exists() else packaged() / "tags.yaml", file.parent.name)


def _wheel(path: Path) -> Schemas:
    with zipfile.ZipFile(path) as wheel, tempfile.TemporaryDirectory() as folder:
        for name in ("native_functions.yaml", "tags.yaml"):
            wheel.extract(f"{_FOLDER}/{name}", folder)
        held = Path(folder) / _FOLDER
        return read(held / "native_functions.yaml", held / "tags.yaml", path.name.split("-")[1])


def changes(old: Schemas, new: Schemas, entries: Iterable[Entry]) -> Iterator[Change]:
    """What `new` adds, changes and removes, by name."""
    held = {e.name: e for e in entries}
    for name in sorted({*old.functions, *new.functions}):
        if name not in old:
            yield Change("added", name, str(new[name].func), held.get(name))
        elif name not in new:
            yield Change("removed", name, str(old[name].func), held.get(name))
        elif str(old[name].func) != str(new[name].func):
            yield Change("changed", name, drift(old[name].func, new[name].func), held.get(name))
        elif old.composite(name) != new.composite(name):
            became = "became" if new.composite(name) else "is no longer"
            yield Change("changed", name, f"{name}: {became} CompositeImplicitAutograd", held.get(name))
