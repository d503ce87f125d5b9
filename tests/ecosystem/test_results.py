"""The page of other libraries is what was recorded, and the programs whose libraries are installed here agree."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tenax.planning.targets import library
from tests.ecosystem import __main__ as command
from tests.ecosystem import families, family_page, model_page, models, programs, suite_page, suites, trainers  # noqa: F401
from tests.ecosystem.__main__ import SUITES, import_error
from tests.ecosystem.page import PAGE, PROGRAMS, ROOT, UNIMPORTABLE, environment, page, read
from tests.ecosystem.program import CLASSICS, difference
from tests.ecosystem.program import PROGRAMS as KNOWN
from tests.ecosystem.suites import SUITES as TESTED
from tests.ecosystem.suites import Suite, outcomes, start

SMALL = """
import pytest, torch

def test_on_the_device():
    assert torch.ones(2).device == torch.device("jax:0")

def test_wrong():
    assert torch.ones(2).sum() == 3

@pytest.mark.skip(reason="a reason")
def test_skipped():
    pass
"""


def test_the_page_is_what_was_recorded() -> None:
    assert PAGE.read_text() == page(), "expected: python -m tests.ecosystem --write"


def test_every_library_has_a_program_a_description_and_a_result() -> None:
    assert set(PROGRAMS) | set(CLASSICS) == {*KNOWN, *SUITES}
    assert {row.library for row in read()["rows"]} == {*KNOWN, *SUITES}


def test_every_model_agrees_in_every_mode() -> None:
    rows = model_page.read()["rows"]
    assert {f"{row.library}/{row.model}" for row in rows} == set(models.NAMES)
    assert {row.result for row in rows} == {"agrees"}
    assert all(set(row.errors) == set(model_page.MODES) for row in rows)


def test_a_model_trains_as_on_the_cpu() -> None:
    """One of them here; `python -m tests.ecosystem.models` trains all."""
    errors = models.one("transformers/gpt2", ("jit",))
    assert set(errors) == {"jit"} and errors["jit"] < 1e-5


@pytest.mark.slow
def test_a_model_compiles_for_a_device_that_need_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    """One of them here; `python -m tests.ecosystem.families` compiles all."""
    if library() is None:
        pytest.skip("the compiler of TPUs is not installed")
    families.one("bert", "TPU v5e", "bfloat16", 256)
    forward, step = map(json.loads, capsys.readouterr().out.splitlines())
    assert (forward["kernels"], step["kernels"]) == ({"attention": 2}, {"attention": 6})
    assert forward["wide"] == step["wide"] == {}


def test_a_program_that_compiled_and_does_not_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(family_page, "RESULTS", tmp_path / "families.jsonl")
    family_page.RESULTS.touch()
    compiles, fails = {"seconds": 1.0}, {"error": "TraceError: no"}
    family_page.keep("run", "model", {"torch": "1.0", "jax": "1.0"}, [compiles, fails])
    assert not family_page.lost("run", "model", [compiles, fails])
    assert family_page.lost("run", "model", [fails, fails])
    assert family_page.lost("run", "another model", [compiles, fails])
    assert "| model | 1 / -; TraceError |" in family_page.section()


def test_every_failure_of_a_suite_is_explained() -> None:
    rows = suite_page.read()["rows"]
    assert {row.library for row in rows} == set(TESTED)
    assert suite_page.faults(rows, suite_page.explanations()) == []


def test_a_failure_without_an_explanation_is_a_fault_and_so_is_an_explanation_of_nothing() -> None:
    suite = suite_page.Suite("einops", "1.0", "jax:0", 3, 1, 0, {"test_a": "RuntimeError: no"})
    fits, other = suite_page.Explanation("it has to", "test_a$", "no"), suite_page.Explanation("stale", "test_b")
    assert "test_a: not explained: RuntimeError: no" in suite_page.faults([suite], {})[0]
    assert suite_page.faults([suite], {"einops": [fits]}) == []
    assert suite_page.faults([suite], {"einops": [fits, other]}) == ["einops: no failure is explained by: stale"]
    assert suite_page.faults([suite], {"einops": [fits, dataclasses.replace(other, sometimes=True)]}) == []
    assert suite_page.faults([dataclasses.replace(suite, device="cpu", failures={})], {"einops": [other]}) == []
    on_cpu = dataclasses.replace(suite, device="cpu")
    assert "einops on cpu" in suite_page.faults([suite, on_cpu], {"einops": [fits]})[0]


def test_a_test_that_ends_the_process_has_failed() -> None:
    lines = [("a", "began"), ("a", "passed"), ("b", "began"), ("b", "failed"), ("b", "passed"), ("c", "began")]
    text = "\n".join(json.dumps({"id": name, "outcome": outcome}) for name, outcome in lines)
    assert outcomes(text) == {"a": ("passed", ""), "b": ("failed", ""), "c": ("failed", "the process ended")}


@pytest.mark.slow
def test_a_suite_runs_on_the_device_and_its_failures_are_written_down(tmp_path: Path) -> None:
    (tmp_path / "test_small.py").write_text(SMALL)
    results = tmp_path / "results.jsonl"
    start(Suite(("test_small.py",)), "jax:0", tmp_path, results)
    found = {name.partition("::")[2]: end for name, end in outcomes(results.read_text()).items()}
    assert found["test_on_the_device"] == ("passed", "")
    assert found["test_wrong"][0] == "failed" and "assert" in found["test_wrong"][1]
    assert found["test_skipped"][0] == "skipped" and "a reason" in found["test_skipped"][1]


@pytest.mark.slow
@pytest.mark.parametrize("library", ["safetensors", "torchmetrics", "actor-critic"])
def test_a_library_that_is_installed_for_the_tests_agrees(library: str) -> None:
    """A quick tier; `make ecosystem` runs them all, and tests/integrations/test_trainers.py the trainers."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.ecosystem", "--only", library], capture_output=True, text=True, cwd=ROOT
    )
    assert not done.returncode and "agrees" in done.stdout, done.stdout + done.stderr


def test_a_build_that_cannot_be_imported_is_told_from_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a torchvision that was built against another torch."""
    assert import_error("safetensors") == ""
    monkeypatch.setattr(command, "version", lambda name: "1.0")
    row = command.run("not-a-library")
    assert row.result.startswith(UNIMPORTABLE) and "No module named 'not_a_library'" in row.result


def test_what_differs_is_seen() -> None:
    ours, theirs = torch.ones(2, device="jax"), torch.ones(2)
    assert difference([ours], [theirs]) == 0
    assert difference([ours], [2 * theirs]) == 0.5
    for wrong in (theirs, ours.double(), ours / 0):
        with pytest.raises(ValueError, match=r"on the device|expected|not finite"):
            difference([wrong], [theirs])


def test_a_suite_that_cannot_be_downloaded_is_said_and_the_others_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept: list[tuple[object, ...]] = []

    def obtain(library: str, release: str) -> Path:
        if library == "kornia":
            raise RuntimeError("git clone: Could not resolve host")
        return Path(library)

    def run(library: str, device: str, folder: Path, again: bool) -> suite_page.Suite:
        return suite_page.Suite(library, "1.0", device, 1, 0, 0, {})

    for name, made in {"obtain": obtain, "run": run, "explanations": dict, "version": lambda name: "1.0"}.items():
        monkeypatch.setattr(suites, name, made)
    monkeypatch.setattr(suites, "keep", lambda *arguments: kept.append(arguments))
    monkeypatch.setattr(sys, "argv", ["suites", "--only", "einops,kornia", "--write"])
    with pytest.raises(SystemExit) as end:
        suites.main()
    assert end.value.code == 1
    assert capsys.readouterr().out.count("kornia: not run: git clone: Could not resolve host") == 2
    [(_, found, _, partial)] = kept
    assert set(found) == {("einops", "cpu"), ("einops", "jax:0")} and partial, "kept results of the other stay"


def test_a_word_that_selects_nothing_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for main in (suites.main, command.main, models.main, families.main):
        monkeypatch.setattr(sys, "argv", ["command", "--only", "captn"])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2 and "no name contains 'captn'" in capsys.readouterr().err


def test_results_beside_kept_ones_name_the_days_of_both() -> None:
    today = environment()
    kept = {**today, "date": "2020-01-02"}
    assert environment(kept) == {**today, "date": f"2020-01-02 and {today['date']}"}
    assert environment(environment(kept)) == environment(kept)
    with pytest.raises(RuntimeError, match=r"recorded with torch 1.*expected a run of every row"):
        environment({**kept, "torch": "1.0"})
