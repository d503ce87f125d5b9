"""The recorded results of test suites, why tests failed, and the part of docs/ecosystem.md that is made from them."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

RESULTS = Path(__file__).with_name("suites.json")
EXPLANATIONS = Path(__file__).with_name("explanations.yaml")
HEAD = (
    "## Test suites\n\n"
    "`make suites` runs the tests of these libraries on the CPU and on the device, in the same environment. The tests "
    "of einops and gpytorch (all but `examples` and `variational`), from their source distributions, have no parameter "
    'for a device: `torch.set_default_device("jax:0")` moves them. Those of kornia (color, filters and morphology in '
    "float32) and torch-geometric (the tests that take a device) come from their repositories at the tag of the "
    "release, because their source distributions contain no tests. Each failure is explained below; a failure without "
    "an explanation fails the command.\n"
)


@dataclasses.dataclass(frozen=True)
class Suite:
    """The results of one suite on one device; `failures` are messages by test."""

    library: str
    release: str
    device: str
    passed: int
    failed: int
    skipped: int
    failures: dict[str, str]

    @property
    def cells(self) -> tuple[str | int, ...]:
        return self.library, self.release, self.device, self.passed, self.failed, self.skipped


@dataclasses.dataclass(frozen=True)
class Explanation:
    """Why tests fail: those whose names, and whose messages, match; `sometimes`, if it depends on random numbers."""

    why: str
    tests: str = ""
    message: str = ""
    devices: tuple[str, ...] = ("jax:0",)
    sometimes: bool = False

    def covers(self, device: str, test: str, message: str) -> bool:
        return device in self.devices and bool(re.search(self.tests, test) and re.search(self.message, message))


def explanations() -> dict[str, list[Explanation]]:
    """The explanations of each library."""
    found = yaml.safe_load(EXPLANATIONS.read_text())
    return {
        name: [Explanation(**{**one, "devices": tuple(one.get("devices", ("jax:0",)))}) for one in entries]
        for name, entries in found.items()
    }


def why(suite: Suite, known: Mapping[str, list[Explanation]]) -> dict[str, Explanation | None]:
    """The first explanation of each failure."""
    entries = known.get(suite.library, [])
    return {
        test: next((entry for entry in entries if entry.covers(suite.device, test, message)), None)
        for test, message in suite.failures.items()
    }


def faults(suites: Iterable[Suite], known: Mapping[str, list[Explanation]]) -> list[str]:
    """Failures without an explanation, and explanations of nothing on devices that ran."""
    found, used, ran = [], set(), set()
    for suite in suites:
        ran.add((suite.library, suite.device))
        for test, entry in why(suite, known).items():
            used.add(entry)
            if entry is None:
                message = " ".join(suite.failures[test].split())[:300]
                found.append(f"{suite.library} on {suite.device}: {test}: not explained: {message}")
    for library in sorted({library for library, _ in ran}):
        entries = [entry for entry in known.get(library, []) if ran.issuperset((library, d) for d in entry.devices)]
        stale = [entry for entry in entries if entry not in used and not entry.sometimes]
        found += [f"{library}: no failure is explained by: {entry.why}" for entry in stale]
    return found


def read() -> dict[str, Any]:
    """The kept results; the rows are objects."""
    found = json.loads(RESULTS.read_text())
    return {**found, "rows": [Suite(**row) for row in found["rows"]]}


def write(where: Mapping[str, str], suites: Iterable[Suite]) -> None:
    """Keep results."""
    rows = [dataclasses.asdict(suite) for suite in sorted(suites, key=lambda s: (s.library, s.device))]
    RESULTS.write_text(json.dumps({**where, "rows": rows}, indent=1) + "\n")


def section() -> str:
    """The part of the page: a table of counts, and the explanations."""
    found, known = read(), explanations()
    lines = [
        HEAD,
        f"Recorded on {found['date']} with torch {found['torch']}, jax {found['jax']} and numpy {found['numpy']}.\n",
        "| library | release | device | passed | failed | skipped |",
        "| --- | --- | --- | ---: | ---: | ---: |",
        *(f"| {' | '.join(map(str, suite.cells))} |" for suite in found["rows"]),
        "",
        "| library | device | tests | why they fail |",
        "| --- | --- | ---: | --- |",
    ]
    for suite in found["rows"]:
        causes = list(why(suite, known).values())
        for entry in known.get(suite.library, []):
            if count := causes.count(entry):
                lines.append(f"| {suite.library} | {suite.device} | {count} | {entry.why.strip()} |")
    return "\n".join(lines) + "\n"
