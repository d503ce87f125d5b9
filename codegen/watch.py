"""The contributor's loop: watch specs and kernels, regenerate, and test the changed entries."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tenax.codegen import spec
from tenax.codegen.fault import SpecError
from tenax.codegen.spec import Entry
from tenax.codegen.tree import Tree

SECONDS = 0.3  # between two polls


class Watcher:
    """Holds the watched files as of the last poll."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.texts: dict[Path, str] = {}
        self.times: dict[Path, int] = {}
        self.changed()

    def changed(self) -> dict[Path, str]:
        """The files that changed since the last poll, with their former text, which is empty for a new file."""
        found = {}
        for path in sorted([*self.tree.spec_files(), *self.tree.kernels.glob("*.py")]):
            written = path.stat().st_mtime_ns
            if self.times.get(path) == written:
                continue
            text = path.read_text(encoding="utf-8")
            if text != (before := self.texts.get(path, "")):
                found[path] = before
            self.times[path], self.texts[path] = written, text
        return found

    def overloads(self, changed: dict[Path, str]) -> list[str]:
        """The overloads of the entries that were edited, or whose kernel was edited."""
        entries = {path: spec.load(path)[0] for path in self.tree.spec_files()}
        found: list[str] = []
        for path, before in changed.items():
            if path.suffix == ".py":
                kernels = {f"{path.stem}.{name}" for name in edited(before, self.texts[path])}
                found += [entry.name for file in entries.values() for entry in file if entry.kernel in kernels]
            else:
                old = _entries(before, path.stem)
                found += [entry.name for entry in entries[path] if entry not in old]
        return sorted(set(found))


def _entries(text: str, name: str) -> list[Entry]:
    try:
        return spec.parse(text, name)[0]
    except SpecError:
        return []


def edited(before: str, after: str) -> set[str]:
    """The functions of a module that are new or were edited, and those of the module that call them."""
    try:
        old, new = (
            {node.name: ast.dump(node) for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
            for text in (before, after)
        )
    except SyntaxError:
        return set()
    found = {name for name, dump in new.items() if old.get(name) != dump}
    while callers := {n for n, dump in new.items() for name in found if f"Name(id='{name}'" in dump} - found:
        found |= callers
    return found


def coverage(overloads: list[str]) -> list[str]:
    """The command that tests overloads in the primary dtype of their entries."""
    names = sorted({name.partition(".")[0].strip("_") for name in overloads})
    run = "from tenax.cli import app; app()"
    options = ["--only", ",".join(names), "--dtypes", "float32", "--jobs", "1"]
    return [sys.executable, "-c", run, "coverage", "run", *options]


def test(overloads: list[str]) -> None:
    """Test overloads; the command prints its results."""
    subprocess.run(coverage(overloads), check=False)


def wait() -> None:
    """Wait until the next poll."""
    time.sleep(SECONDS)


def watch(tree: Tree, generate: Callable[[], int], say: Callable[[str], None], rounds: Iterator[object]) -> None:
    """Wait for edits; after each, generate, and without faults test the edited entries. A round is one poll."""
    watcher = Watcher(tree)
    say("watching ops_spec/ and runtime/kernels/; Ctrl-C ends")
    for _ in rounds:
        wait()
        if not (changed := watcher.changed()):
            continue
        say("")
        if generate():
            continue
        if overloads := watcher.overloads(changed):
            say(f"testing {', '.join(overloads)}")
            test(overloads)
