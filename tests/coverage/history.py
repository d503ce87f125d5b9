"""History: the totals of every run whose results were committed, one JSON line each, from which trends are drawn."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields

from .entries import SUITES
from .results import FOLDER, Results
from .summary import percent, tally

FILE = FOLDER / "history.jsonl"


@dataclass(frozen=True)
class Total:
    """One run: its releases, mode and scope (empty where nothing was left out), and how many passed, of how many.

    `suites` counts the entries of each database that pass every check of their primary dtype, `checks` all checks.
    """

    date: str
    torch: str
    jax: str
    tenax: str
    mode: str
    scope: str
    suites: dict[str, list[int]]
    checks: list[int]

    @property
    def cell(self) -> tuple[str, str, str, str, str]:
        """The cell of the matrix in which the run stands."""
        return self.torch, self.jax, self.tenax, self.mode, self.scope

    @property
    def share(self) -> str:
        return percent(*self.checks)


def total(results: Results) -> Total:
    """The totals of a run."""
    suites = {}
    for suite in SUITES:
        rows = [row for row in results.suite(suite).values() if row.is_applicable()]
        if rows:
            suites[suite] = [sum(row.passes() for row in rows), len(rows)]
    about = {name: results.about.get(name, "") for name in ("date", "torch", "jax", "tenax", "scope")}
    checks = list(tally(list(results.rows.values())))
    return Total(mode=results.about.get("mode", "eager"), suites=suites, checks=checks, **about)


def read() -> list[Total]:
    """The recorded runs, oldest first."""
    lines = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
    return [Total(**json.loads(line)) for line in lines]


def record(runs: Iterable[Results]) -> None:
    """Add the totals of runs; a run of the same day, releases, mode and scope replaces the earlier one."""
    names = [field.name for field in fields(Total)]
    found = {(one.date, one.cell): one for one in [*read(), *map(total, runs)]}
    kept = sorted(found.values(), key=lambda one: (one.date, one.cell))
    lines = [json.dumps({name: asdict(one)[name] for name in names}) for one in kept]
    FILE.write_text("\n".join([*lines, ""]), encoding="utf-8")


@dataclass(frozen=True)
class Cell:
    """One place of the matrix: its runs of one scope, oldest first."""

    runs: list[Total]

    @property
    def last(self) -> Total:
        return self.runs[-1]

    @property
    def gain(self) -> int:
        """How many more checks pass than in the run before the last."""
        return self.last.checks[0] - self.runs[-2].checks[0] if len(self.runs) > 1 else 0

    def points(self, width: float = 72, height: float = 16) -> list[tuple[float, float]]:
        """Where a line of the share of passing checks runs; the foot of the picture is the least of the shares."""
        shares = [passed / max(expected, 1) for passed, expected in (run.checks for run in self.runs)]
        low, span = min(shares), max(shares) - min(shares)
        step = width / max(len(shares) - 1, 1)
        return [
            (round(i * step, 1), round(height - 2 - (height - 4) * ((s - low) / span if span else 1), 1))
            for i, s in enumerate(shares)
        ]


def matrix(runs: Iterable[Total]) -> list[Cell]:
    """The recorded runs by torch, jax and tenax release, mode and scope, the newest release first."""
    cells: dict[tuple[str, ...], list[Total]] = {}
    for run in runs:
        cells.setdefault(run.cell, []).append(run)

    def newest(cell: list[Total]) -> tuple[list[list[int]], bool, bool]:
        last = cell[-1]
        versions = [[int(part) for part in version.split(".") if part.isdigit()] for version in last.cell[:3]]
        return versions, last.mode == "eager", not last.scope

    return [Cell(cell) for cell in sorted(cells.values(), key=newest, reverse=True)]
