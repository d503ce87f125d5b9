"""Schema: the status of every entry of torch's native_functions.yaml, with the locations of its spec and code."""

from __future__ import annotations

import ast
import fnmatch
import functools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text

from tenax.codegen.build import Build, build
from tenax.codegen.release import Change, changes, load
from tenax.codegen.schema import Schemas, committed, facts, installed_release, supported
from tenax.codegen.signature import function_name
from tenax.codegen.status import STATUSES
from tenax.codegen.tree import PACKAGE, Tree


@dataclass(frozen=True)
class Native:
    """One overload. `spec` and `code` are `file:line` in the repository, empty if there is none."""

    name: str
    status: str
    reason: str
    spec: str = ""
    code: str = ""


@functools.cache
def natives(release: str | None = None) -> tuple[Native, ...]:
    """Every native function of a torch release (by default the installed one), or of all if it is not supported."""
    found = build(Tree.at(PACKAGE), supported())
    held = _of(release or installed_release()) or found.schemas
    entries = {e.name: e for e in found.entries} | {r.name: r.entry for r in found.rows}
    lines = _lines(found)
    rows = []
    for name, status in sorted(found.statuses.items()):
        if name not in held:
            continue
        entry = entries.get(name)
        spec = f"{entry.where}:{entry.line}" if entry else ""
        code = f"generated/{entry.family}.py" if entry and entry.lowered else ""
        line = lines.get((code, function_name(entry.name))) if entry else None
        rows.append(Native(name, status.status, status.reason, spec, f"{code}:{line}" if line else ""))
    return tuple(rows)


@functools.cache
def _spec_files() -> dict[str, str]:
    return {n.name: n.spec.partition(".")[0].rpartition("/")[2] for n in natives() if n.spec}


def spec_family(ops: Iterable[str]) -> str:
    """The name of the spec file that most of the overloads come from; empty if there is none."""
    held = _spec_files()
    counts = Counter(held[op] for op in sorted(ops) if op in held)
    return counts.most_common(1)[0][0] if counts else ""


def statuses(only: str | None = None) -> list[Native]:
    """The natives whose name matches a shell pattern."""
    return [n for n in natives() if not only or fnmatch.fnmatchcase(n.name, only) or n.name.partition(".")[0] == only]


def table(rows: list[Native]) -> Table:
    """Counts by status, with the meaning of each status."""
    counts = Counter(row.status for row in rows)
    made = Table("status", "overloads", "meaning", box=None)
    for status, meaning in STATUSES.items():
        made.add_row(status, str(counts[status]), meaning)
    made.add_row("all", str(len(rows)), "")
    return made


def _of(release: str) -> Schemas | None:
    return committed(release) if facts(release).exists() else None


def compared(torch: str, against: str) -> list[Change]:
    """The overloads that the release `torch` adds, changes and removes since `against`; see `release.load`.

    Raises:
        ReleaseError: a release, wheel or file does not exist.
    """
    return changes(load(against), load(torch), Tree.at(PACKAGE))


def change_table(found: list[Change]) -> Table:
    """One line for each overload: how it changed, what to do, and where."""
    made = Table("", "overload", "means", "spec", box=None, pad_edge=False)
    for change in found:
        made.add_row(change.kind, Text(change.detail, overflow="fold"), Text(change.means), change.where)
    return made


def _lines(found: Build) -> dict[tuple[str, str], int]:
    """The line of each (file, function) in the generated modules."""
    held = {}
    for family in found.families:
        path: Path = found.tree.generated / f"{family}.py"
        if path.exists():
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef):
                    held[f"generated/{family}.py", node.name] = node.lineno
    return held
