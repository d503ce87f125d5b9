"""Journal: the results of a run so far, one JSON line per unit, so that an interrupted run can be resumed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from .outcome import Outcome
from .worker import Unit


@dataclass(frozen=True)
class Record:
    """One finished unit."""

    unit: Unit
    outcomes: dict[str, Outcome]
    ops: list[str]
    seconds: float


class Journal:
    """An append-only file; its first line states the versions and settings of its records."""

    def __init__(self, path: Path, settings: dict[str, str], *, resume: bool) -> None:
        self.path = path
        self.records: list[Record] = []
        path.parent.mkdir(parents=True, exist_ok=True)
        if resume and path.exists():
            self.records = self._read(settings)
        else:
            path.write_text(json.dumps(settings) + "\n", encoding="utf-8")
        self._file: TextIO = path.open("a", encoding="utf-8")

    def append(self, record: Record) -> None:
        outcomes = {check: [o.letter, o.why] for check, o in record.outcomes.items()}
        unit = [record.unit.key, record.unit.dtype, [list(c) for c in record.unit.checks]]
        line = {"unit": unit, "outcomes": outcomes, "ops": record.ops, "seconds": round(record.seconds, 3)}
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()
        self.records.append(record)

    def done(self) -> set[Unit]:
        return {record.unit for record in self.records}

    def close(self) -> None:
        self._file.close()

    def _read(self, settings: dict[str, str]) -> list[Record]:
        lines = self.path.read_text(encoding="utf-8").splitlines()
        written = json.loads(lines[0]) if lines else {}
        if written != settings:
            different = sorted(k for k in {*written, *settings} if written.get(k) != settings.get(k))
            raise ValueError(f"{self.path}: cannot resume: {', '.join(different)} changed; run without --resume")
        return [record for line in lines[1:] if (record := _record(line)) is not None]


def _record(line: str) -> Record | None:
    """Parse a line; a line that was truncated by a kill is skipped, and its unit runs again."""
    try:
        data: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return None
    key, dtype, checks = data["unit"]
    unit = Unit(key, dtype, tuple((c, n) for c, n in checks))
    return Record(unit, {c: Outcome(*o) for c, o in data["outcomes"].items()}, data["ops"], data["seconds"])
