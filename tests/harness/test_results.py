"""What becomes of the outcomes of a coverage run: the file, the journal, the summary and the dashboard."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tenax.coverage import history, libraries, plan, processes, report, results, source, summary
from tenax.coverage.entries import select
from tenax.coverage.journal import Journal, Record
from tenax.coverage.outcome import Outcome, fail
from tenax.coverage.runner import remaining
from tenax.coverage.schema import natives
from tenax.coverage.worker import Unit


def made(**outcomes: Outcome) -> results.Results:
    row = results.Row("pointwise", "float32", ["exp"], {("float32", c): o for c, o in outcomes.items()})
    return results.Results({"torch": "2.13.0", "date": "today"}, {"op_db/exp": row})


def test_results_survive_the_file_one_line_for_each_entry(tmp_path: Path) -> None:
    whole = made(forward=Outcome("p"), gradient=fail("2 of 3 differ"), errors=Outcome("n"))
    whole.save(tmp_path / "r.json")
    assert results.load(tmp_path / "r.json") == whole
    lines = (tmp_path / "r.json").read_text().splitlines()
    assert [line for line in lines if line.startswith('"op_db/exp"')] == [
        '"op_db/exp": {"family": "pointwise", "primary": "float32", "ops": ["exp"], '
        '"dtypes": {"float32": "p-f------n-"}, "why": {"float32 gradient": "2 of 3 differ"}}'
    ]


def test_an_unknown_schema_is_an_error_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps({"schema": 0}))
    with pytest.raises(ValueError, match=r"r\.json: schema 0; expected 1"):
        results.load(tmp_path / "r.json")


def test_regressions_are_what_passed_and_fails() -> None:
    before = made(forward=Outcome("p"), gradient=fail("old"), gradgrad=Outcome("p"), out=Outcome("p"))
    after = made(forward=fail("new"), gradient=Outcome("p"), gradgrad=Outcome("c", "killed"), out=Outcome("s", "why"))
    assert [check for _, _, check, _ in results.regressions(before, after)] == ["forward", "gradgrad"]
    changes = results.changes(before, after)
    assert list(map(str, changes["broken"])) == ["op_db/exp float32 forward: new", "op_db/exp float32 gradgrad: killed"]
    assert list(map(str, changes["fixed"])) == ["op_db/exp float32 gradient"]
    assert list(map(str, changes["newly skipped"])) == ["op_db/exp float32 out: why"]


def test_a_failure_of_a_check_that_did_not_run_before_is_new_and_not_broken() -> None:
    before, after = (
        made(forward=Outcome("s", "why")),
        made(forward=fail("x"), gradient=fail("y"), out=Outcome("s", "z")),
    )
    changes = results.changes(before, after)
    assert list(map(str, changes["newly failing"])) == ["op_db/exp float32 forward: x", "op_db/exp float32 gradient: y"]
    assert not any(changes[kind] for kind in ("broken", "fixed", "newly skipped", "added", "removed"))
    assert results.shared(before, after) == 1
    assert list(map(str, results.changes(results.Results({}), after)["added"])) == ["op_db/exp"]


def test_an_entry_passes_when_something_passes_and_nothing_fails_or_is_left_out() -> None:
    assert made(forward=Outcome("p"), gradient=Outcome("s", "why"), out=Outcome("n")).rows["op_db/exp"].passes()
    assert not made(forward=Outcome("p"), gradient=Outcome("t", "why")).rows["op_db/exp"].passes()
    assert not made(forward=Outcome("s", "why")).rows["op_db/exp"].passes()


def test_a_failure_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="no reason given"):
        Outcome("f")


def test_a_journal_resumes_past_a_cut_line_and_refuses_other_settings(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    first, second = (
        Unit("op_db/add", "float32", (("forward", 2), ("out", 1))),
        Unit("op_db/mul", "float32", (("out", 1),)),
    )
    journal = Journal(path, {"torch": "2.13"}, resume=False)
    journal.append(
        Record(Unit("op_db/add", "float32", (("forward", 2),)), {"forward": Outcome("p")}, ["add.Tensor"], 1.0)
    )
    journal.close()
    path.write_text(path.read_text() + '{"unit": ["op_db/mul", "flo')
    resumed = Journal(path, {"torch": "2.13"}, resume=True)
    assert list(remaining([first, second], resumed.done())) == [Unit("op_db/add", "float32", (("out", 1),)), second]
    resumed.close()
    with pytest.raises(ValueError, match="cannot resume: torch changed"):
        Journal(path, {"torch": "2.14"}, resume=True)


def test_the_quick_tier_asks_every_entry_that_has_a_dtype() -> None:
    entries = select(("op_db",))
    asked = {unit.key for unit in plan.plan(entries, "float32", quick=True)}
    assert asked == {e.key for e in entries if e.dtypes()}


def test_the_summary_stands_between_its_markers() -> None:
    text = f"# Title\n{summary.BEGIN}\nold\n{summary.END}\nrest"
    written = summary.replace_marked(text, summary.markdown(made(forward=Outcome("p"), gradient=fail("x"))))
    assert "| operators (`op_db`) | 1 | 0 | 0 (0%) | 1 of 2 (50%) |" in written
    assert "old" not in written
    assert written.endswith("\nrest")
    with pytest.raises(ValueError, match="expected the lines"):
        summary.replace_marked("# Title", "table")


def test_every_run_is_shown_beside_the_newest() -> None:
    newest, other = made(forward=Outcome("p")), made(forward=fail("x"))
    newest.about |= {"torch": "2.15.0", "jax": "0.12.0"}
    other.about |= {"jax": "0.10.2", "mode": "lazy", "scope": "the quick tier"}
    assert (
        "| 2.15.0 | 0.12.0 | eager, every check | 1 of 1 | 1 of 1 |\n"
        "| 2.13.0 | 0.10.2 | lazy, the quick tier | 0 of 1 | 0 of 1 |"
    ) in summary.markdown(newest, other)
    assert "| 2.15.0 |" not in summary.markdown(newest)


def test_the_matrix_holds_each_release_with_its_trend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(history, "FILE", tmp_path / "history.jsonl")
    about = {"torch": "2.13.0", "jax": "0.10.2", "tenax": "0.1.0"}
    runs = [made(forward=fail("x")), made(forward=Outcome("p")), made(forward=Outcome("p")), made(forward=Outcome("p"))]
    for run, more in zip(runs, ({"date": "1"}, {"date": "2"}, {"scope": "few"}, {"torch": "2.15.0"}), strict=True):
        run.about = {"date": "2", **about, **more}
        history.record([run])
    history.record(runs)  # once more changes nothing
    cells = history.matrix(history.read())
    assert [(c.last.torch, c.last.scope, len(c.runs), c.gain) for c in cells] == [
        ("2.15.0", "", 1, 0),
        ("2.13.0", "", 2, 1),
        ("2.13.0", "few", 1, 0),
    ]
    page = report.render(report.Run(runs[1], "index.html"), [report.Run(runs[3], "other.html")], totals=history.read())
    assert '<a href="other.html">2.15.0</a>' in page
    assert "+1" in page and "reduced: few" in page
    assert "Reduced run" in report.render(report.Run(runs[2])) and "Reduced run" not in page


def test_committed_results_are_in_the_history() -> None:
    recorded = {(run.cell, run.date): run.checks for run in history.read()}
    for path in (*results.releases(), *results.others()):
        run = history.total(results.load(path))
        assert recorded[(run.cell, run.date)] == run.checks, "run `tenax coverage summary --write`"


def test_the_native_functions_of_a_page_are_those_of_its_release() -> None:
    held = {release: {n.name for n in natives(release)} for release in ("2.13.0", "2.15.0")}
    assert {"cholesky", "qr"} < held["2.13.0"] - held["2.15.0"]
    assert "linalg_polar" in held["2.15.0"] - held["2.13.0"]


def embedded(page: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(page.split('id="data">')[1].split("</script>")[0])
    return data


def test_the_dashboard_is_one_file_that_holds_its_data() -> None:
    hostile = made(forward=fail("</script><b>"), gradient=Outcome("p"))
    page = report.render(report.Run(hostile), source="https://host/tree/")
    (row,) = embedded(page)["rows"]
    assert row["why"]["float32 forward"] == "</script><b>"
    assert row["dtypes"]["float32"].startswith("f-p")
    assert not any(word in page for word in ("<link", "src=", "@import", "fetch(", "file://"))


def test_the_dashboard_compares_each_two_runs() -> None:
    first, second, third = made(forward=Outcome("p")), made(forward=fail("x")), made(forward=Outcome("s", "why"))
    page = report.render(report.Run(first), [report.Run(second), report.Run(third, name="older.json")])
    compare = embedded(page)["compare"]
    assert [run["label"] for run in compare["runs"]] == ["torch 2.13.0", "torch 2.13.0", "older.json"]
    assert compare["pairs"]["0 1"]["changes"]["broken"] == [["op_db/exp", "float32", "forward", "x"]]
    assert compare["pairs"]["1 0"]["changes"]["fixed"] == [["op_db/exp", "float32", "forward", ""]]
    assert compare["pairs"]["2 1"]["changes"]["newly failing"] == [["op_db/exp", "float32", "forward", "x"]]
    assert compare["pairs"]["0 2"]["changes"]["newly skipped"] == [["op_db/exp", "float32", "forward", "why"]]
    assert {pair["checks"] for pair in compare["pairs"].values()} == {1}
    assert compare["initial"] == ["1", "0"]
    second.about["torch"] = "2.15.0"
    page = report.render(report.Run(first), [report.Run(second)])
    assert embedded(page)["compare"]["initial"] == ["0", "1"], "expected the older release first"


def test_other_modes_are_columns_of_the_eager_run_of_their_release() -> None:
    eager, lazy, target = (
        made(forward=Outcome("p"), gradient=o) for o in (Outcome("p"), fail("differs"), Outcome("p"))
    )
    lazy.about |= {"mode": "lazy", "scope": "the quick tier"}
    target.about |= {"mode": "compiled for TPU v5e"}
    data = embedded(report.render(report.Run(eager), [report.Run(lazy), report.Run(target)]))
    assert data["rows"][0]["modes"]["lazy"] == ["f", "forward: pass; gradient: differs"]
    assert data["rows"][0]["modes"]["TPU v5e"][0] == "p"
    assert "the quick tier" in data["modes"]["lazy"]
    assert not embedded(report.render(report.Run(lazy), [report.Run(eager)]))["modes"]
    lazy.about["torch"] = "2.15.0"
    assert not embedded(report.render(report.Run(eager), [report.Run(lazy)]))["modes"]


def test_links_lead_to_the_public_tree_of_a_published_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"remote": "git@github.com:owner/name.git", "rev-parse": "abc", "branch": "origin/main"}
    monkeypatch.setattr(source, "_git", lambda command, *rest: answers[command])
    monkeypatch.setattr(source, "_declared", lambda: "")
    assert source.public_tree() == "https://github.com/owner/name/blob/abc/"
    monkeypatch.setattr(source, "_declared", lambda: "https://gitlab.com/some/group/name")
    assert source.public_tree() == "https://gitlab.com/some/group/name/blob/abc/"
    answers["branch"] = ""
    assert not source.public_tree()
    monkeypatch.setattr(source, "_declared", lambda: "/srv/name.git")
    answers["branch"] = "origin/main"
    assert not source.public_tree()


def test_models_and_libraries_have_sections_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {
        "results.json": [
            {"library": "timm", "version": "1.0", "result": "agrees", "error": 1e-7},
            {"library": "vae", "version": "2.13.0", "result": "differs", "error": 0.5},
        ],
        "models.json": [
            {"library": "timm", "model": "resnet10t", "version": "1.0", "result": "agrees", "errors": {"jit": 2e-7}}
        ],
    }

    def read(name: str, torch_version: str) -> dict[str, Any]:
        about = {"torch": "2.13.0", "jax": "0.10.2", "date": "2026-01-01"}
        return {**about, "rows": kept[name]} if torch_version == "2.13.0" else {}

    monkeypatch.setattr(libraries, "_read", read)
    assert [row["library"] for row in libraries.libraries("2.13.0")["rows"]] == ["timm"]
    page = report.render(report.Run(made(forward=Outcome("p"))))
    (tab,) = re.findall(r'<section id="models".*?</section>', page, re.DOTALL)
    assert re.search(r"resnet10t.*?✓.*?2\.0e-07", tab, re.DOTALL) and re.search(r"vae.*?✗.*?5\.0e-01", tab, re.DOTALL)
    assert "vae" not in re.findall(r'<section id="libraries".*?</section>', page, re.DOTALL)[0]


def test_the_tests_of_process_groups_have_a_section_of_their_own() -> None:
    tests = processes.tests_of("2.13.0")
    assert len(tests) > 50
    newest = made(forward=Outcome("p"))
    newest.about["torch"] = "2.13.0"
    page = report.render(report.Run(newest))
    passed = processes.passing(tests)
    assert f"<b>{passed}</b> of torch's tests" in page
    assert f"{passed} pass with the backend" in (Path(__file__).parents[2] / "docs" / "coverage.md").read_text()
    newest.about["torch"] = "2.15.0"
    assert 'id="distributed"' not in report.render(report.Run(newest))
