"""The schema changes of a torch release, and their consequences for the specs."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

from tenax.codegen import facts as facts_module
from tenax.codegen import spec
from tenax.codegen.build import Build, build
from tenax.codegen.check import differences, drift, renames
from tenax.codegen.schema import Native, Schemas, committed, facts, installed, minor, parse, releases, supported
from tenax.codegen.spec import Entry
from tenax.codegen.tree import Tree

_RELEASE = re.compile(r"\d+\.\d+(\.\d+)?\w*")


class ReleaseError(Exception):
    """The schemas of a release cannot be read; the message explains why to the user."""


@dataclass(frozen=True)
class Change:
    """One overload that differs between two releases; `entry` is the affected spec, `means` the required action."""

    kind: str  # added, changed, removed
    name: str
    detail: str
    entry: Entry | None
    means: str

    @property
    def to_do(self) -> bool:
        """Whether the change requires a decision or work."""
        return self.means.startswith(("needs", "entry to", "schema to", "a view", "takes"))

    @property
    def where(self) -> str:
        return f"{self.entry.where}:{self.entry.line}" if self.entry else ""

    def __str__(self) -> str:
        return f"{self.kind:8}{self.detail}: {self.means}" + (f"  [{self.where}]" if self.where else "")


def load(source: str) -> Schemas:
    """The schemas of `installed`, a release such as 2.15.0, a torch wheel, or a file of facts.

    A release without committed facts is read from its wheel on the package index.

    Raises:
        ReleaseError: the release, wheel or file does not exist.
    """
    if source == "installed":
        return installed()
    path = Path(source)
    if path.suffix == ".whl" and path.exists():
        with zipfile.ZipFile(path) as wheel:
            return parse(read(wheel), path.name.split("-")[1])
    if path.is_file():
        return parse(path.read_text(encoding="utf-8").splitlines(), path.stem.removeprefix("torch-"))
    if not _RELEASE.fullmatch(source):
        raise ReleaseError(
            f"{source}: not found; expected `installed`, a release such as {releases()[-1]}, a torch wheel or a file "
            "that `facts` wrote"
        )
    if facts(source).exists():
        return committed(minor(source))
    from tenax.codegen.index import wheel_of

    with wheel_of(source) as wheel:
        return parse(read(wheel), source)


def read(wheel: zipfile.ZipFile) -> list[str]:
    """The facts of a release, computed by the torchgen of its wheel.

    Raises:
        ReleaseError: the wheel has no torchgen, or its torchgen fails.
    """
    names = [name for name in wheel.namelist() if name.startswith("torchgen/")]
    if not names:
        raise ReleaseError(f"{wheel.filename}: contains no torchgen/; expected a torch wheel")
    with tempfile.TemporaryDirectory() as folder:
        wheel.extractall(folder, names)
        done = subprocess.run(
            [sys.executable, "-P", str(facts_module.__file__), str(Path(folder) / "torchgen" / "packaged")],
            env={"PYTHONPATH": folder},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise ReleaseError(f"{wheel.filename}: its torchgen fails: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout.splitlines()


def changes(old: Schemas, new: Schemas, tree: Tree) -> list[Change]:
    """The overloads that `new` adds, changes and removes, by name."""
    after = build(tree, _beside_supported(new))
    written = {e.name: e for e in _written(tree, old, new)}
    held = written | {r.name: r.entry for r in after.rows}
    found = []
    for name in sorted({*old.functions, *new.functions}):
        entry = held.get(name)
        if name not in old:
            found.append(Change("added", name, new[name].schema, entry, _added(name, after)))
        elif name not in new:
            found.append(Change("removed", name, old[name].schema, entry, _removed(name, written)))
        elif detail := _changed(old[name], new[name]):
            found.append(Change("changed", name, detail, entry, _touched(old[name], new[name], entry)))
    return found


def _written(tree: Tree, *schemas: Schemas) -> list[Entry]:
    names = {name for one in schemas for name in one.functions}
    return [e for path in tree.spec_files() for e in spec.load(path)[0] if e.name in names]


def _beside_supported(new: Schemas) -> Schemas:
    """The supported schemas, and those of `new` alone that the installed torchgen can parse."""
    held = supported()
    return replace(held, functions={f.name: f for f in new if _parses(f)} | held.functions)


def _parses(native: Native) -> bool:
    try:
        return bool(native.func)
    except RuntimeError:
        return False


def _changed(old: Native, new: Native) -> str:
    if old.schema != new.schema:
        return drift(old.func, new.func) if _parses(old) and _parses(new) else new.schema
    if old.composite != new.composite:
        return f"{new.name}: {'became' if new.composite else 'is no longer'} CompositeImplicitAutograd"
    return ""


def _added(name: str, after: Build) -> str:
    if name not in after.schemas:
        return "takes a type that the installed torch does not know"
    status = after.statuses[name]
    if status.status == "missing":
        f = after.schemas[name]
        if f.is_view:
            return "a view: needs review, because the runtime may not implement it"
        return "needs an entry" if f.func.kind().name in ("functional", "inplace") else "needs an entry for its base"
    return f"{status.status}: {status.reason}" if status.reason else status.status


def _removed(name: str, written: dict[str, Entry]) -> str:
    if name not in written:
        return "nothing to do"
    serves = [release for release in releases() if name in committed(release)]
    return f"entry serves torch {' and '.join(serves)}" if serves else "entry to delete"


def _touched(old: Native, new: Native, entry: Entry | None) -> str:
    if entry is None:
        return "nothing to do: no entry"
    if not entry.lowered:
        return "schema to update"
    if old.composite != new.composite:
        return "entry to delete, or `grad: vjp`" if new.composite else "needs review: autograd now sees it"
    if not (_parses(old) and _parses(new)):
        return "entry to rewrite"
    bad = [text for text, harmless in differences(old.func, new.func, renames(old.func, new.func)) if not harmless]
    if bad:
        return f"entry to change: {'; '.join(bad)}"
    return "nothing to do: the lowering serves both"
