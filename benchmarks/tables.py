"""Print tables of results, and store them between their markers in docs/benchmarks.md or benchmarks/results/*.md.

Where `BENCHMARKS_OUT` names a file, they are appended to it instead, a line of JSON each; `merge` stores them later, on
any machine.

First calls are those of a machine that has run nothing before: programs that tenax or Inductor stored are not used.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
from collections.abc import Sequence
from pathlib import Path

import jax
import torch
from rich.console import Console
from rich.table import Table

import tenax

os.environ |= {"TENAX_CACHE": "0", "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1", "TENAX_QUIET": "1"}

ROOT = Path(__file__).parent.parent
# What a user wants to know is in the first; the others are for maintainers.
PAGES = [ROOT / "docs" / "benchmarks.md", *sorted((ROOT / "benchmarks" / "results").glob("*.md"))]
_NUMBER = re.compile(r"-?[\d.,]+")


def machine() -> str:
    """A description of the machine: the processor, and the JAX device if it is not the CPU."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), platform.processor())
    device = jax.devices()[0]
    return f"{model}, {os.cpu_count()} cores" + ("" if device.platform == "cpu" else f", {device.device_kind}")


MEDIANS = "Medians, interleaved"


def publish(
    name: str, titles: Sequence[str], rows: Sequence[Sequence[str]], *, write: bool, how: str = MEDIANS, only: int = 0
) -> None:
    """Print a table; with `write`, also store it and how it was measured; `only` is that of `store`."""
    table = Table(*titles)
    for row in rows:
        table.add_row(*row)
    Console(width=None if write else 150).print(table)
    if write:
        store(name, titles, rows, only, how)


def store(name: str, titles: Sequence[str], rows: Sequence[Sequence[str]], only: int = 0, how: str = MEDIANS) -> None:
    """Write a table between `<!-- name -->` and `<!-- /name -->` of its page, with machine and versions.

    The tables of a GPU have markers of their own: `<!-- name, gpu -->`. With `only`, existing rows are kept unless a
    new row has the same first `only` cells.
    """
    if jax.default_backend() != "cpu":
        name = f"{name}, {jax.default_backend()}"
    versions = f"tenax {tenax.__version__}, torch {torch.__version__}, jax {jax.__version__}"
    about = f"{versions}; {machine()}, {datetime.date.today()}. {how}."
    if out := os.environ.get("BENCHMARKS_OUT"):
        with open(out, "a") as file:
            print(json.dumps([name, titles, rows, only, about]), file=file)
    else:
        _write(name, titles, rows, only, about)


def merge(file: Path) -> list[str]:
    """Store the tables of a file; return their names.

    Raises:
        ValueError: no page has a place for a table.
    """
    tables = [json.loads(line) for line in file.read_text().splitlines()]
    for table in tables:
        _write(*table)
    return [name for name, *_ in tables]


def _write(name: str, titles: Sequence[str], rows: Sequence[Sequence[str]], only: int, about: str) -> None:
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    page = next((page for page in PAGES if begin in page.read_text()), None)
    if page is None:
        raise ValueError(f"no page has a place for the table {name!r}; expected {begin} and {end} in {PAGES[0]}")
    head, _, rest = page.read_text().partition(begin)
    before, _, rest = rest.partition(end)
    if only:
        found = [line.strip("| ").split(" | ") for line in before.splitlines() if line.startswith("|")][2:]
        merged = {tuple(row[:only]): row for row in found} | {tuple(row[:only]): row for row in rows}
        rows = list(merged.values())
    body = "\n".join([about, "", *markdown(titles, rows)])
    page.write_text(f"{head}{begin}\n{body}\n{end}{rest}")


def markdown(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table, whose columns of numbers are aligned to the right."""
    columns = [[row[i].strip() for row in rows if len(row) > i] for i in range(len(titles))]
    rules = ["---:" if _is_numeric(column) else "---" for column in columns]
    return ["| " + " | ".join(r) + " |" for r in (titles, rules, *rows)]


def _is_numeric(column: Sequence[str]) -> bool:
    filled = [cell for cell in column if cell not in ("", "-")]
    return bool(filled) and all(map(_NUMBER.fullmatch, filled))
