"""The recorded programs of `tests.ecosystem.families`, and the part of docs/ecosystem.md that is made from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("families.jsonl")
HEAD = (
    "## Compiled for accelerators\n\n"
    "`python -m tests.ecosystem.families --target H100 --dtype bfloat16 --length 256 --write` compiles the forward "
    "pass and an AdamW step of small models of transformers, with heads of 64, for a device that need not exist. A "
    "cell has the seconds of both compilations, on two CPU cores that did other work too, and the kernels of attention "
    "and grouped products in the step. On TPUs, which emulate 64-bit types, \\* marks a step whose optimized "
    "program still names them; most are pairs of 32-bit values there, which are not counted.\n"
)

Programs = list[dict[str, Any]]  # of the forward pass and of the training step, as counted or with an `error`


def read() -> dict[tuple[str, str], dict[str, Any]]:
    """The recorded rows, by run (target, dtype and length) and model."""
    rows = map(json.loads, RESULTS.read_text().splitlines())
    return {(row["run"], row["model"]): row for row in rows}


def keep(run: str, model: str, where: Mapping[str, str], programs: Programs) -> None:
    """Record the programs of a model, and the releases with which they were compiled."""
    rows = read() | {(run, model): {"run": run, "model": model, **where, "programs": programs}}
    RESULTS.write_text("".join(json.dumps(row) + "\n" for _, row in sorted(rows.items())))


def lost(run: str, model: str, programs: Programs) -> bool:
    """Whether a program does not compile that is recorded to compile, or is not recorded."""
    known = read().get((run, model), {"programs": [{}, {}]})["programs"]
    return any("error" in now and "error" not in old for old, now in zip(known, programs, strict=True))


def section() -> str:
    """The part of the page: a row for each model, a column for each run."""
    rows = read()
    runs, models = (sorted({key[i] for key in rows}) for i in (0, 1))
    releases = sorted({f"torch {row['torch']} and jax {row['jax']}" for row in rows.values()})
    lines = [
        HEAD,
        f"Recorded with {', '.join(releases)}.\n",
        f"| model | {' | '.join(runs)} |",
        f"| --- | {' | '.join('---' for _ in runs)} |",
    ]
    for model in models:
        cells = (_cell(run, rows.get((run, model), {}).get("programs", [])) for run in runs)
        lines.append(f"| {model} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(run: str, programs: Programs) -> str:
    if not programs:
        return ""
    step = programs[-1]
    seconds = " / ".join("-" if "error" in one else f"{one['seconds']:.0f}" for one in programs)
    mark = "\\*" if run.startswith("TPU") and step.get("wide") else ""
    kernels = ", ".join(
        f"{count} {kind.removesuffix(' product')}"
        for kind, count in step.get("kernels", {}).items()
        if kind in ("attention", "grouped product")
    )
    reasons = dict.fromkeys(one["error"].partition(":")[0] for one in programs if "error" in one)
    return "; ".join(filter(None, (seconds + mark, kernels, *reasons)))
