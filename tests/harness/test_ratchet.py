"""The ratchet: what passed for the entries of torch's databases still passes, in the quick tier or a sample of it."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tenax.coverage.entries import SUITES, Entry, select
from tenax.coverage.journal import Journal
from tenax.coverage.plan import collect, plan
from tenax.coverage.results import Results, committed, load, regressions
from tenax.coverage.runner import Pool
from tenax.coverage.worker import Unit
from tenax.planning.targets import library

# Parts of the tier: each is one test with one worker process, so that pytest-xdist spreads them over the cores.
PARTS = 2
SECONDS_PER_CHECK = 90.0


def committed_results(mode: str) -> Results:
    path = committed(torch.__version__, mode)
    if not path.exists():
        pytest.skip(f"there are no committed results for torch {torch.__version__}: `tenax coverage run` writes {path}")
    return load(path)


@pytest.fixture(scope="module")
def before() -> Results:
    return committed_results("torch")


@pytest.fixture(scope="module")
def entries(before: Results) -> tuple[Entry, ...]:
    """The entries of the databases that the committed results are about."""
    suites = [s for s in SUITES if any(key.startswith(f"{s}/") for key in before.rows)]
    with warnings.catch_warnings():
        # torch's databases make sparse tensors when they are imported, which warns.
        warnings.simplefilter("ignore")
        return tuple(e for suite in suites for e in select((suite,)))


def test_committed_results_hold_every_entry_and_every_check(before: Results, entries: tuple[Entry, ...]) -> None:
    missing = [e.key for e in entries if e.key not in before.rows]
    assert not missing, f"run `tenax coverage run`: {len(missing)} entries have no committed result: {missing[:10]}"
    unasked = [
        e.key for e in entries for c in e.checks if e.dtypes() and before.rows[e.key].get_primary(c).letter == "-"
    ]
    assert not unasked, f"run `tenax coverage run`: some checks of {len(unasked)} entries never ran: {unasked[:10]}"


def lessened(units: list[Unit]) -> Iterator[Unit]:
    """Half of the units: one in eight as a whole, the others with one sample of their first check."""
    for unit in units:
        number = zlib.crc32(unit.key.encode()) % 8
        if number == 0:
            yield unit
        elif number < 4:
            (check, _), *_ = unit.checks
            yield replace(unit, checks=((check, 1),))


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["sample", "whole"])
@pytest.mark.parametrize("part", range(PARTS))
def test_what_passed_still_passes(
    part: int, whole: bool, before: Results, entries: tuple[Entry, ...], tmp_path: Path
) -> None:
    units = sorted(plan(entries, "float32", quick=True), key=lambda u: u.key)[part::PARTS]
    run("jax", units if whole else [*lessened(units)], before, entries, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(library() is None, reason="the compiler of TPUs is not installed")
@pytest.mark.parametrize("part", range(PARTS))
def test_what_compiled_for_a_tpu_still_compiles(part: int, tmp_path: Path) -> None:
    before = committed_results("tpu")
    entries = select(("op_db", "module_db"))
    units = [u for u in plan(entries, "float32,bfloat16", compiled=True) if zlib.crc32(u.key.encode()) % 8 == part]
    run("TPU v5e", units, before, entries, tmp_path)


def run(device: str, units: list[Unit], before: Results, entries: tuple[Entry, ...], folder: Path) -> None:
    """Run the units, and compare the outcomes with those from before."""
    journal = Journal(folder / "journal.jsonl", {}, resume=False)
    Pool(device, 1, SECONDS_PER_CHECK, folder).run(units, journal)
    journal.close()
    after = collect({}, entries, ((r.unit, r.outcomes, r.ops) for r in journal.records))
    assert len(journal.done()) >= len(units)
    broken = [f"{key} {dtype} {check}: {outcome.why}" for key, dtype, check, outcome in regressions(before, after)]
    assert not broken, "\n".join(["what passed in the committed results fails now:", *broken])
