"""What the coverage commands refuse, and the exit status from which a CI learns of a failure."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tenax.coverage import cli, results, runner
from tenax.coverage.journal import Journal, Record
from tenax.coverage.outcome import PASS, Outcome, fail, skip
from tenax.coverage.worker import Unit


def invoke(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli.app, [*arguments])
    return result.exit_code, result.output


@pytest.fixture
def outcomes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Outcome]:
    """What every unit of a run gives, in place of worker processes."""
    given: dict[str, Outcome] = {}

    def run(self: Any, units: Iterable[Unit], journal: Journal) -> None:
        for unit in units:
            journal.append(Record(unit, given, ["exp"], 0.0))

    monkeypatch.setattr(runner.Pool, "run", run)
    monkeypatch.setattr(cli, "BUILD", tmp_path)
    return given


@pytest.mark.parametrize(
    ("option", "value"), [("--dtypes", "flot32"), ("--suites", "op_dv"), ("--only", "no_such_entry")]
)
def test_a_name_that_nothing_has_is_refused(option: str, value: str) -> None:
    code, said = invoke("run", "--only", "exp", option, value)
    assert code == 2
    assert value in said


def test_lazy_mode_is_of_this_device_alone() -> None:
    code, said = invoke("run", "--only", "exp", "--lazy", "--device", "cpu")
    assert code == 2
    assert "has no lazy mode" in said


def test_a_lazy_run_is_labelled_and_committed_nowhere_by_itself(outcomes: dict[str, Outcome], tmp_path: Path) -> None:
    outcomes["forward"] = PASS
    assert invoke("run", "--only", "exp", "--suites", "op_db", "--dtypes", "float32", "--lazy")[0] == 0
    about = results.load(tmp_path / "last.json").about
    assert about["mode"] == "lazy"
    assert about["scope"] == "primary dtypes only, databases op_db, entries exp"


def test_a_dtype_that_no_entry_has_is_refused() -> None:
    assert invoke("run", "--only", "bitwise_and", "--dtypes", "complex64")[0] == 2


@pytest.mark.parametrize(("outcome", "status"), [(PASS, 0), (skip("why"), 0), (fail("it differs"), 1)])
def test_a_run_fails_where_a_check_does(outcome: Outcome, status: int, outcomes: dict[str, Outcome]) -> None:
    outcomes["forward"] = outcome
    code, said = invoke("run", "--only", "exp", "--suites", "op_db", "--dtypes", "bfloat16")
    assert code == status
    share = {"p": "1 of 1", "s": "0 of 0", "f": "0 of 1"}[outcome.letter]
    assert f"op_db: {share} entries pass every check of this run" in said


@pytest.mark.parametrize("before", [None, PASS, skip("why"), fail("old")])
def test_a_comparison_fails_where_a_failure_is_new(before: Outcome | None, tmp_path: Path) -> None:
    for name, outcome in (("before", before), ("after", fail("new"))):
        row = results.Row("pointwise", "float32", ["exp"])
        if outcome is not None:
            row.outcomes["float32", "forward"] = outcome
        results.Results({"torch": "2.13.0"}, {} if outcome is None else {"op_db/exp": row}).save(tmp_path / name)
    code, said = invoke("compare", str(tmp_path / "before"), str(tmp_path / "after"))
    known = before is not None and before.bad
    assert code == (0 if known else 1)
    kinds = {"broken": before == PASS, "newly failing": not known and before != PASS}
    for kind, expected in kinds.items():
        assert f"{kind}: {int(expected)}" in said
