"""Results: the file of one run, one line per entry, so that a change of behaviour shows as a readable diff."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .entries import CHECKS
from .outcome import BAD, LETTERS, Outcome

SCHEMA = 1
FOLDER = Path(__file__).parent / "results"
NOT_RUN = Outcome("-")


@dataclass
class Row:
    """One entry: outcomes by dtype and check. `primary` is the dtype in which every check runs."""

    family: str
    primary: str
    ops: list[str] = field(default_factory=list)
    outcomes: dict[tuple[str, str], Outcome] = field(default_factory=dict)

    @property
    def dtypes(self) -> list[str]:
        return list(dict.fromkeys(dtype for dtype, _ in self.outcomes))

    def get(self, dtype: str, check: str) -> Outcome:
        return self.outcomes.get((dtype, check), NOT_RUN)

    def get_primary(self, check: str) -> Outcome:
        return self.get(self.primary, check)

    def checks(self, dtype: str) -> dict[str, Outcome]:
        return {c: o for (d, c), o in self.outcomes.items() if d == dtype}

    def passes(self, dtype: str | None = None) -> bool:
        """Whether every check of the dtype (by default the primary one) ran, none failed and at least one passed."""
        found = self.checks(dtype or self.primary).values()
        letters = {o.letter for o in found}
        return "p" in letters and not letters & (BAD | {"-"})

    def is_applicable(self) -> bool:
        """Whether any check passed or failed; false for an entry of another backend or of a dtype that JAX lacks."""
        return any(o.letter in BAD | {"p"} for o in self.outcomes.values())

    def passes_everywhere(self) -> bool:
        """Whether the primary dtype passes and no check failed in any dtype."""
        return self.passes() and not any(o.letter in BAD for o in self.outcomes.values())


@dataclass
class Results:
    """All rows of a run by entry key; `about` describes the run."""

    about: dict[str, str]
    rows: dict[str, Row] = field(default_factory=dict)

    def triples(self) -> Iterator[tuple[str, str, str, Outcome]]:
        """(entry key, dtype, check, outcome)."""
        for key, row in self.rows.items():
            for (dtype, check), outcome in row.outcomes.items():
                yield key, dtype, check, outcome

    def suite(self, name: str) -> dict[str, Row]:
        return {key: row for key, row in self.rows.items() if key.startswith(name + "/")}

    def merge(self, other: Results) -> None:
        """Update these results with those of another run, and keep results that it lacks."""
        self.about = other.about
        for key, row in other.rows.items():
            mine = self.rows.setdefault(key, Row(row.family, row.primary))
            mine.family, mine.primary, mine.ops = row.family, row.primary, row.ops or mine.ops
            mine.outcomes |= {place: o for place, o in row.outcomes.items() if o.letter != "-"}

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        head = {"schema": SCHEMA, **self.about, "letters": LETTERS, "checks": CHECKS}
        lines = [f"{json.dumps(name)}: {json.dumps(value)}," for name, value in head.items()]
        rows = [
            f"{json.dumps(key)}: {json.dumps(_written(key, row), ensure_ascii=False)}"
            for key, row in sorted(self.rows.items())
        ]
        text = "\n".join(["{", *lines, '"entries": {', ",\n".join(rows), "}}", ""])
        path.write_text(text, encoding="utf-8")


def load(path: Path) -> Results:
    """Read a results file; raises `ValueError` if its schema differs."""
    data = json.loads(path.read_text(encoding="utf-8"))
    if data.get("schema") != SCHEMA:
        raise ValueError(f"{path}: schema {data.get('schema')!r}; expected {SCHEMA}")
    known = data["checks"]
    results = Results({k: v for k, v in data.items() if isinstance(v, str)})
    for key, written in data["entries"].items():
        results.rows[key] = _read(path, key, written, known[key.partition("/")[0]])
    return results


def committed(torch_version: str, mode: str = "torch") -> Path:
    """The file with the committed results of a torch release: `results/torch-2.13.json`, or those of another mode."""
    return FOLDER / f"{mode}-{'.'.join(torch_version.split('+')[0].split('.')[:2])}.json"


def releases(mode: str = "torch") -> list[Path]:
    """The committed results of every torch release, newest first, or those of another mode, such as "lazy"."""
    return sorted(FOLDER.glob(f"{mode}-*.json"), key=_version, reverse=True)


def others() -> list[Path]:
    """The committed results of lazy mode, of accelerators, and of targets."""
    return [path for mode in ("lazy", "gpu", "tpu", "h100") for path in releases(mode)]


def _version(path: Path) -> list[int]:
    return [int(n) for n in path.stem.partition("-")[2].split(".")]


def regressions(before: Results, after: Results) -> list[tuple[str, str, str, Outcome]]:
    """The checks that fail, crash or hang after, and did not before: they passed, were skipped or are new."""

    def earlier(key: str, dtype: str, check: str) -> Outcome:
        return before.rows[key].get(dtype, check) if key in before.rows else NOT_RUN

    return [found for found in after.triples() if found[3].bad and not earlier(*found[:3]).bad]


@dataclass(frozen=True)
class Change:
    """One difference between two runs; `dtype` and `check` are empty where a whole entry came or went."""

    key: str
    dtype: str = ""
    check: str = ""
    why: str = ""

    def __str__(self) -> str:
        place = " ".join(filter(None, (self.key, self.dtype, self.check)))
        return f"{place}: {self.why}" if self.why else place


# What a check did before and does now; a check that one of the runs did not make is in none but `newly failing`.
KINDS: dict[str, tuple[str, str]] = {
    "broken": ("p", "fct"),
    "newly failing": ("sn-", "fct"),
    "newly skipped": ("pfctn", "s"),
    "fixed": ("fct", "p"),
}
FAILURES = ("broken", "newly failing")


def changes(before: Results, after: Results) -> dict[str, list[Change]]:
    """The differences between two runs by kind: those of `KINDS`, and the entries that were `added` and `removed`."""
    found: dict[str, list[Change]] = {kind: [] for kind in (*KINDS, "added", "removed")}
    for key, dtype, check, outcome in after.triples():
        row = before.rows.get(key)
        earlier = row.get(dtype, check) if row else NOT_RUN
        for kind, (old, new) in KINDS.items():
            if earlier.letter in old and outcome.letter in new:
                found[kind].append(Change(key, dtype, check, outcome.why))
    found["added"] = [Change(key) for key in after.rows if key not in before.rows]
    found["removed"] = [Change(key) for key in before.rows if key not in after.rows]
    return found


def shared(before: Results, after: Results) -> int:
    """The number of checks that both runs made, which is what `changes` can compare."""
    made = {(key, dtype, check) for key, dtype, check, _ in before.triples()}
    return sum((key, dtype, check) in made for key, dtype, check, _ in after.triples())


def _written(key: str, row: Row) -> dict[str, Any]:
    checks = CHECKS[key.partition("/")[0]]
    letters = {d: "".join(row.get(d, c).letter for c in checks) for d in row.dtypes}
    # Reasons of checks that do not apply are left out: they are obvious, and would be most of the file.
    told = {place: o.why for place, o in row.outcomes.items() if o.why and o.letter != "n"}
    why = {f"{d} {c}": told[d, c] for d in row.dtypes for c in checks if (d, c) in told}
    return {"family": row.family, "primary": row.primary, "ops": row.ops, "dtypes": letters, "why": why}


def _read(path: Path, key: str, written: dict[str, Any], checks: list[str]) -> Row:
    row = Row(written["family"], written["primary"], written["ops"])
    for dtype, letters in written["dtypes"].items():
        if len(letters) != len(checks):
            raise ValueError(f"{path}: {key} {dtype}: {letters!r} has {len(letters)} letters; expected {len(checks)}")
        for check, letter in zip(checks, letters, strict=True):
            if letter != "-":
                row.outcomes[dtype, check] = Outcome(letter, written["why"].get(f"{dtype} {check}", ""))
    return row
