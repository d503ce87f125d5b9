"""The contributor's loop: watch specs and kernels, regenerate, and test the changed entries."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from tenax.codegen import conditions, spec
from tenax.codegen.spec import Entry
from tenax.codegen.tree import Tree

SECONDS = 0.3  # between two polls
SEVERAL = 8  # as many entries of the databases are tested after one edit; more take minutes


class Watcher:
    """Holds the watched files as of the last poll, and as of the last round that had no fault.

    Edits are those since the latter: after a slip is mended, the entries that were edited before or with it are tested,
    and those that were never edited are not.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.times: dict[Path, int] = {}
        self.texts: dict[Path, str] = {}
        self.changed()
        self.sound = dict(self.texts)

    def changed(self) -> bool:
        """Whether a file was edited, created or deleted since the last poll."""
        texts = {}
        files = [*self.tree.spec_files(), self.tree.autocast, self.tree.checks, *self.tree.modules()]
        for path in files:
            try:
                written = path.stat().st_mtime_ns
                kept = self.times.get(path) == written and path in self.texts
                texts[path] = self.texts[path] if kept else path.read_text(encoding="utf-8")
            except FileNotFoundError:  # an editor that replaces a file may have deleted it for a moment
                continue
            self.times[path] = written
        before, self.texts = self.texts, texts
        return texts != before

    def overloads(self) -> list[str]:
        """The overloads whose entry, named check or kernel was edited since the last round without a fault."""
        before, self.sound = self.sound, dict(self.texts)
        functions = self._functions(before)
        checks = self._checks(before)
        found = set()
        for path in self.tree.spec_files():
            old = spec.parse(before.get(path, ""), path.stem)[0]
            for entry in spec.parse(self.texts.get(path, ""), path.stem)[0]:
                if entry not in old or entry.kernel in functions or _names(entry) & checks:
                    found.add(entry.name)
        return sorted(found)

    def _functions(self, before: Mapping[Path, str]) -> set[str]:
        """The functions of kernels that were edited, or that use what was edited, as `module.function`."""

        def modules(texts: Mapping[Path, str]) -> dict[str, str]:
            folder = self.tree.kernels
            return {
                ".".join(path.relative_to(folder).with_suffix("").parts): text
                for path, text in texts.items()
                if path.is_relative_to(folder)
            }

        return edited(modules(before), modules(self.texts))

    def _checks(self, before: Mapping[Path, str]) -> set[str]:
        """The names of the named checks that were edited."""
        path, where = self.tree.checks, self.tree.spec_name(self.tree.checks.stem)
        old, new = (conditions.parse(texts.get(path, ""), where)[0] for texts in (before, self.texts))

        def said(checks: Mapping[str, conditions.Condition], name: str) -> tuple[str, ...]:
            check = checks.get(name)
            return (str(check), check.that, check.error) if check else ()

        return {name for name in new if said(old, name) != said(new, name)}


def _names(entry: Entry) -> set[str]:
    """The named checks that an entry calls."""
    return {check.that.partition("(")[0] for check in entry.conditions if not check.error}


def definitions(module: str, text: str) -> dict[str, tuple[str, set[str]]]:
    """What a module of kernels defines, as `module.name`: its syntax tree as text, and what it may use of kernels."""
    body = ast.parse(text).body
    imported: dict[str, str] = {}
    for node in body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tenax.kernels"):
            package = (node.module or "").removeprefix("tenax.kernels").strip(".")
            for alias in node.names:
                imported[alias.asname or alias.name] = f"{package}.{alias.name}".strip(".")
    found: dict[str, tuple[str, set[str]]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)]
        else:
            continue
        uses = set()
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name):
                uses.add(imported.get(inner.id, f"{module}.{inner.id}"))
            elif isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
                uses.add(f"{imported.get(inner.value.id, inner.value.id)}.{inner.attr}")
        found |= {f"{module}.{name}": (ast.dump(node), uses) for name in names}
    return found


def edited(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    """What is new or edited in modules of kernels, given as text by module, and what uses it in any of them."""
    if before == after:
        return set()
    old, new = (
        {name: held for module, text in texts.items() for name, held in definitions(module, text).items()}
        for texts in (before, after)
    )
    found = {name for name, (dump, _) in new.items() if name not in old or old[name][0] != dump}
    while users := {name for name, (_, uses) in new.items() if uses & found} - found:
        found |= users
    return found


def recorded(tree: Tree) -> dict[str, list[str]]:
    """The overloads that each entry of torch's databases calls, from the committed results of the coverage runs."""
    found: dict[str, list[str]] = {}
    for path in sorted((tree.specs.parent / "tests/coverage/results").glob("torch-*.json"), reverse=True):
        entries = json.loads(path.read_text(encoding="utf-8"))["entries"]
        found |= {key: entry["ops"] for key, entry in entries.items() if key not in found}
    return found


def covering(overloads: Iterable[str], calls: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The entries of torch's databases that test each overload; none if none calls it.

    They are those with its name or, without such an entry, those that call it and the fewest others.
    """
    found = {}
    for overload in overloads:
        base = overload.partition(".")[0].strip("_")
        named = [key for key in calls if f".{base}." in f".{key.partition('/')[2]}.".replace("._", ".")]
        counts = {key: len(ops) for key, ops in calls.items() if overload in ops}
        fewest = [key for key, count in counts.items() if count == min(counts.values())]
        found[overload] = named or fewest
    return found


def command(entries: Iterable[str]) -> list[str]:
    """The command that tests entries in their primary dtypes."""
    run = "from tenax.cli import app; app()"
    options = ["--only", ",".join(entries), "--dtypes", "float32", "--jobs", "1"]
    return [sys.executable, "-c", run, "coverage", "run", *options]


def test(entries: list[str]) -> None:
    """Test entries; the command prints its results."""
    subprocess.run(command(entries), check=False)


def wait() -> None:
    """Wait until the next poll."""
    time.sleep(SECONDS)


def watch(tree: Tree, generate: Callable[[], int], say: Callable[[str], None], rounds: Iterator[object]) -> None:
    """Wait for edits; after each, generate, and without faults test the edited entries. A round is one poll."""
    watcher = Watcher(tree)
    say("watching ops_spec/ and runtime/kernels/; Ctrl-C ends")
    for _ in rounds:
        wait()
        if not watcher.changed():
            continue
        say("")
        if generate():
            continue
        tests = covering(watcher.overloads(), recorded(tree))
        if untested := [overload for overload, entries in tests.items() if not entries]:
            say(f"no entry of torch's databases tests {', '.join(untested)}; expected a test in tests/")
        entries = list(dict.fromkeys(entry for found in tests.values() for entry in found))
        if more := entries[SEVERAL:]:
            say(f"left out, to be quick: tenax coverage run --dtypes float32 --only {','.join(more)}")
        if entries:
            say(f"testing {', '.join(entries[:SEVERAL])}")
            test(entries[:SEVERAL])
