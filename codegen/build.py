"""One run of the generator: specs in, the text of every generated file and all faults out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tenax.codegen import policy, render, spec
from tenax.codegen.check import Context, check
from tenax.codegen.derive import Row, derive
from tenax.codegen.fault import Fault
from tenax.codegen.policy import Policy
from tenax.codegen.schema import Schemas
from tenax.codegen.spec import Entry
from tenax.codegen.status import Status, classify
from tenax.codegen.style import style
from tenax.codegen.tree import Tree

MARK = "by `python -m tenax.codegen`"


@dataclass(frozen=True)
class Build:
    """What the specs amount to. `families` with a fault are complete but for the entries at fault."""

    tree: Tree
    schemas: Schemas
    context: Context
    entries: list[Entry]
    rows: list[Row]
    policies: list[Policy]
    faults: list[Fault]

    @cached_property
    def statuses(self) -> dict[str, Status]:
        """The status of every native function, by overload."""
        return classify(self.schemas, self.entries, self.rows, self.tree)

    @property
    def families(self) -> list[str]:
        return sorted({e.family for e in self.entries if e.lowered})

    def files(self, only: Sequence[str] = ()) -> dict[Path, str]:
        """The text of each generated file; of `only` these families and the table when any are named."""
        folder = self.tree.generated
        made = {}
        for family in self.families:
            if not only or family in only:
                lowered = [e for e in self.entries if e.family == family and e.lowered]
                made[folder / f"{family}.py"] = render.module(family, lowered, self.context)
        unsupported = {s.name: s.reason for s in self.statuses.values() if s.status == "unsupported"}
        made[folder / "table.py"] = render.table(self.rows, self.entries, unsupported)
        if self.policies and (not only or self.tree.autocast.stem in only):
            made[folder / "autocast.py"] = render.autocast(self.policies)
        made[folder / "__init__.py"] = render.init()
        return made

    def stale(self, only: Sequence[str] = ()) -> dict[Path, str | None]:
        """The files whose text is not what the specs say; None stands for one that no spec gives."""
        made = self.files(only)
        found: dict[Path, str | None] = {
            path: text for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text
        }
        broken = {f.file for f in self.faults}
        for path in [] if only else self.tree.generated.glob("*.py"):
            kept = path in made or self.tree.spec_name(path.stem) in broken
            if not kept and MARK in path.read_text(encoding="utf-8")[:400]:
                found[path] = None
        return found


def build(tree: Tree, schemas: Schemas) -> Build:
    """Load, check and derive. A fault leaves its entry out and everything else in."""
    entries: list[Entry] = []
    faults: list[Fault] = []
    for path in tree.spec_files():
        loaded, wrong = spec.load(path)
        entries += loaded
        faults += wrong
    schemas = schemas.joined(e.func for e in entries if e.library)
    # Entries name each other's functions: one at fault must not take those that call it along silently, so the
    # rest is checked again without it.
    while True:
        context = Context.of(schemas, tree, entries)
        good, wrong = check(entries, context)
        faults += wrong
        if not wrong:
            break
        entries = good
    faults += style(entries, context)
    policies, wrong = policy.load(tree.autocast, tree.spec_name(tree.autocast.stem), schemas)
    faults += wrong
    return Build(tree, schemas, context, entries, derive(entries, schemas), policies, sorted(faults))
