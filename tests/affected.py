"""`make affected`: the tests nearest to what changed since `main`, for a few minutes.

A test file is as far from a changed file as the shortest chain of imports between them; a test whose name has the name
of the changed file comes first. The rest is named as a number: it is what `make test` is for.
"""

from __future__ import annotations

import argparse
import ast
import collections
import functools
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# The folders of packages, as pyproject.toml maps them.
FOLDERS = {
    "tenax.codegen": "codegen",
    "tenax.generated": "generated",
    "tenax.coverage": "tests/coverage",
    "tenax": "runtime",
    "tests": "tests",
    "benchmarks": "benchmarks",
}


@functools.cache
def path_of(module: str) -> str | None:
    """The file of a module of this repository."""
    for package, folder in FOLDERS.items():
        if module == package or module.startswith(package + "."):
            base = Path(folder, *module.removeprefix(package).split(".")[1:])
            found = (base.with_suffix(".py"), base / "__init__.py")
            return next((str(p) for p in found if (ROOT / p).is_file()), None)
    return None


def module_of(path: str) -> str:
    package, folder = next((p, f) for p, f in FOLDERS.items() if path.startswith(f + "/"))
    return ".".join((package, *Path(path).relative_to(folder).with_suffix("").parts)).removesuffix(".__init__")


def imports(path: str) -> Iterator[str]:
    """The files of this repository that a file imports anywhere."""
    name = module_of(path)
    package = name.split(".") if path.endswith("__init__.py") else name.split(".")[:-1]
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{module}.{a.name}" if path_of(f"{module}.{a.name}") else module for a in node.names]
        else:
            continue
        yield from filter(None, map(path_of, names))


def files() -> list[str]:
    found = (p.relative_to(ROOT) for folder in dict.fromkeys(FOLDERS.values()) for p in (ROOT / folder).rglob("*.py"))
    return sorted({str(p) for p in found})


@functools.cache
def importers() -> dict[str, set[str]]:
    """The files that import each file."""
    found: dict[str, set[str]] = collections.defaultdict(set)
    for path in files():
        for imported in imports(path):
            found[imported].add(path)
    return found


def is_test(path: str) -> bool:
    return path.startswith("tests/") and Path(path).name.startswith("test_")


def nearest(changed: Iterable[str]) -> dict[str, int]:
    """The test files that have the name of a changed file or import it, directly or through others, and how far away.

    Those of the same name come first, though they may not import the file: specs name kernels, for example.
    """
    distances = dict.fromkeys(changed, 0)
    words = [f"_{Path(p).stem.strip('_')}_" for p in distances]
    named = {
        p for p in filter(is_test, files()) if any(w in f"_{p.replace('/', '_').removesuffix('.py')}_" for w in words)
    }
    queue = collections.deque(distances)
    while queue:
        path = queue.popleft()
        for importer in sorted(importers()[path]):
            if importer not in distances:
                distances[importer] = distances[path] + 1
                queue.append(importer)
    tests = dict.fromkeys(named, 0) | {p: 0 if p in named else d for p, d in distances.items() if is_test(p)}
    return {p: tests[p] for p in sorted(tests, key=lambda p: (tests[p], p)) if (ROOT / p).exists()}


def changes(base: str) -> list[str]:
    """The Python files that differ from where this branch left `base`, in commits or in the working tree."""

    def git(*arguments: str) -> list[str]:
        command = ["git", *arguments]
        return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()

    (start,) = git("merge-base", base, "HEAD")
    found = [*git("diff", "--name-only", start), *git("ls-files", "--others", "--exclude-standard")]
    return [p for p in found if p.endswith(".py") and p.startswith(tuple(f + "/" for f in FOLDERS.values()))]


class Limit:
    """Ends a run of pytest between two tests when its time is over."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.begun, self.ran = seconds, time.monotonic(), 0

    def pytest_runtest_logfinish(self) -> None:
        self.ran += 1

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        if time.monotonic() - self.begun > self.seconds:
            item.session.shouldstop = f"{self.seconds:.0f} seconds are over"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="main")
    parser.add_argument("--seconds", type=float, default=170)
    parser.add_argument("--list", action="store_true", help="print the test files with their distances and run nothing")
    options = parser.parse_args()
    changed = changes(options.base)
    tests = nearest(changed)
    if options.list or not tests:
        print(*(f"{distance} {path}" for path, distance in tests.items()), sep="\n")
        return 0
    limit = Limit(options.seconds)
    os.chdir(ROOT)
    # Of files that import what changed through many others, a run of minutes reaches none.
    chosen = [*tests][:40]
    status = pytest.main(["-q", "-m", "not slow", *chosen], plugins=[limit])
    took = time.monotonic() - limit.begun
    print(f"{len(changed)} changed files, {limit.ran} tests in {took:.0f} seconds. Left out: slow tests, what was left")
    print(f"when time was over, and {len(tests) - len(chosen)} more files that import what changed.")
    return 0 if status == pytest.ExitCode.NO_TESTS_COLLECTED else int(status)


if __name__ == "__main__":
    sys.exit(main())
