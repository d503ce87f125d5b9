"""One run of the generator: it turns specs into the text of every generated file and a list of all faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tenax.codegen import conditions, policy, render, spec
from tenax.codegen.check import Context, check, condition_faults
from tenax.codegen.derive import Row, derive
from tenax.codegen.fault import Fault, SpecError, Unreadable
from tenax.codegen.policy import Policy
from tenax.codegen.schema import Schemas
from tenax.codegen.source import defined
from tenax.codegen.spec import Entry
from tenax.codegen.status import Status, classify
from tenax.codegen.style import style
from tenax.codegen.tree import Tree

MARK = "by `python -m tenax.codegen`"


@dataclass(frozen=True)
class Build:
    """The result of a run. Families with a fault are complete except for the faulty entries."""

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
        """The spec files with generated functions; a kernel that is itself a lowering needs no function."""
        return sorted({e.family for e in self.entries if render.has_functions(e, self.context)})

    def files(self, only: Sequence[str] = ()) -> dict[Path, str]:
        """The text of each generated file; with `only`, of these families and the table."""
        folder = self.tree.generated
        made = {}
        for family in self.families:
            if not only or family in only:
                made[folder / f"{family}.py"] = render.module(family, self.entries, self.context)
        if self.context.conditions and (not only or self.tree.checks.stem in only):
            made[folder / f"{self.tree.checks.stem}.py"] = render.checks(self.context)
        unsupported = {s.name: s.reason for s in self.statuses.values() if s.status == "unsupported"}
        made[folder / "table.py"] = render.table(self.rows, self.entries, unsupported, self.context)
        if self.policies and (not only or self.tree.autocast.stem in only):
            made[folder / "autocast.py"] = render.autocast(self.policies)
        made[folder / "__init__.py"] = render.init()
        return made

    def stale(self, only: Sequence[str] = ()) -> dict[Path, str | None]:
        """The files whose text differs from the specs, with their new text; None for a file that no spec generates."""
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
    """Load, check and derive. An entry with a fault is skipped, and everything else is kept.

    Raises:
        SpecError: a file cannot be read as a list of entries, or a module of words or kernels does not parse.
    """
    _refuse_unparsable(tree)
    entries: list[Entry] = []
    faults: list[Fault] = []
    for path in tree.spec_files():
        loaded, wrong = spec.load(path)
        entries += loaded
        faults += wrong
    named, wrong = conditions.load(tree.checks, tree.spec_name(tree.checks.stem))
    faults += wrong
    _refuse_unreadable(faults)
    schemas = schemas.joined(e.func for e in entries if e.library)
    # Entries may call the functions of other entries. The rest is checked again without the faulty entries, so that an
    # entry that calls one of them is reported and not generated.
    while True:
        context = Context.of(schemas, tree, entries, named)
        good, wrong = check(entries, context)
        faults += wrong
        if not wrong:
            break
        entries = good
    faults += [*style(entries, context), *condition_faults(entries, context)]
    policies, wrong = policy.load(tree.autocast, tree.spec_name(tree.autocast.stem), schemas)
    faults += wrong
    _refuse_unreadable(faults)
    return Build(tree, schemas, context, entries, derive(entries, context), policies, sorted(faults))


def _refuse_unreadable(faults: Sequence[Fault]) -> None:
    """Stop at a file whose entries are unknown: every entry that refers to one of them would be reported."""
    for fault in faults:
        if isinstance(fault, Unreadable):
            raise SpecError(fault)


def _refuse_unparsable(tree: Tree) -> None:
    """Stop at a module that does not parse: every entry that uses one of its functions would be reported."""
    for path in [*tree.modules(), *tree.aten.glob("*.py")]:
        try:
            defined(path)
        except SyntaxError as error:
            where = f"runtime/{path.relative_to(tree.runtime).as_posix()}"
            raise SpecError(Unreadable(where, error.lineno or 1, f"does not parse: {error.msg}", "Python")) from None
