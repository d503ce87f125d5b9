"""Plan: which checks of which entries run in which dtypes, with how many samples each."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from .checks import COMPILED, FULL, OTHER, QUICK, primary
from .entries import OTHERS, Entry, dtype_name
from .excuses import unrepresentable
from .outcome import Outcome, skip
from .results import Results, Row
from .schema import spec_family
from .worker import Unit


def plan(
    entries: Iterable[Entry], dtypes: str, *, quick: bool = False, compiled: bool = False, samples: int | None = None
) -> list[Unit]:
    """The units, in an order that depends only on names and mixes cheap and expensive ones for a good time estimate.

    `dtypes` is `float32` (the primary dtype of each entry), `all` (every dtype that torch lists for CPU or CUDA), or a
    comma-separated list of dtypes. `compiled` is for targets. `samples` caps the samples of every check.
    """
    units = []
    for entry in entries:
        first = primary(entry)
        for dtype in entry.dtypes():
            name = dtype_name(dtype)
            if unrepresentable(dtype):
                continue
            if not (dtypes == "all" or (dtypes == "float32" and dtype == first) or name in dtypes.split(",")):
                continue
            caps = COMPILED if compiled else QUICK if quick else FULL if dtype == first else OTHER
            checks = tuple((c, min(caps[c], samples or caps[c])) for c in entry.checks if c in caps)
            if checks:
                units.append(Unit(entry.key, name, checks))
    return sorted(units, key=lambda u: zlib.crc32(f"{u.key} {u.dtype}".encode()))


def cost(unit: Unit) -> float:
    """The estimated seconds of a unit, from its number of samples; used only for the time estimate."""
    heavy = {"gradgrad": 4.0, "gradient": 2.0, "out": 3.0, "errors": 0.1, "foreach": 0.3, "forloop": 0.3}
    return sum(heavy.get(check, 1.0) * min(samples, 12) for check, samples in unit.checks)


def collect(
    about: dict[str, str], entries: Iterable[Entry], found: Iterable[tuple[Unit, dict[str, Outcome], list[str]]]
) -> Results:
    """The results of a run, from its finished units. An entry without any dtype has a row without outcomes."""
    results = Results(about)
    for entry in entries:
        first = primary(entry)
        results.rows[entry.key] = Row(entry.family, "" if first is None else dtype_name(first))
    for unit, outcomes, ops in found:
        row = results.rows.get(unit.key)
        if row is None:
            continue
        row.ops = ops or row.ops
        row.outcomes |= {(unit.dtype, check): outcome for check, outcome in outcomes.items()}
    for entry in entries:
        row = results.rows[entry.key]
        wide = len(row.dtypes) > 1
        for dtype in entry.dtypes():
            if wide and (reason := unrepresentable(dtype)):
                row.outcomes |= {(dtype_name(dtype), check): skip(f"dtype: {reason}") for check in entry.checks}
        if row.family == OTHERS:
            row.family = spec_family(row.ops) or OTHERS
        order = {dtype_name(d): i for i, d in enumerate(entry.dtypes())}
        row.outcomes = dict(sorted(row.outcomes.items(), key=lambda item: order.get(item[0][0], len(order))))
    return results
