"""Numerics: the measured errors as a Markdown table, and the functions that exceed the bound.

The latter are kept between two markers of docs/numerics.md.
"""

from __future__ import annotations

import math

from .ulp import Error, Function, Row, accuracy_notes

BEGIN = "<!-- errors: written by `tenax coverage ulp --write` -->"
END = "<!-- /errors -->"
COLUMNS = ("float32", "bfloat16", "float16", "float64")


def table(measured: dict[Function, list[Row]]) -> str:
    """One row per function with the largest errors of the device and of CPU torch by dtype; † marks exceptions."""
    lines = [f"| function | {' | '.join(COLUMNS)} |", f"|---|{'---|' * len(COLUMNS)}"]
    for function, rows in measured.items():
        by = {row.dtype: row for row in rows}
        lines.append(f"| `{function.name}` | {' | '.join(_cell(by.get(d)) for d in COLUMNS)} |")
    return "\n".join(lines)


def exceptions(measured: dict[Function, list[Row]]) -> str:
    """The functions whose error exceeds the bound, with the notes of their specs."""
    worse = sorted({function.aten for function, rows in measured.items() if not all(row.good for row in rows)})
    notes = accuracy_notes()
    return "\n".join(f"- `{aten}`: {notes.get(aten, 'accuracy: no note').removeprefix('accuracy: ')}" for aten in worse)


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{_pair(row.device)} / {_pair(row.cpu)}{'' if row.good else ' †'}"


def _pair(error: Error) -> str:
    """The largest error, followed by the 99.9th percentile in brackets if it differs."""
    most, usual = short(error.most), short(error.usual)
    return most if most == usual else f"{most} ({usual})"


def short(x: float) -> str:
    """Format with two digits, because more would differ between processors."""
    if math.isinf(x):
        return "∞"
    return f"{x:.2g}"
