"""`make gpu` runs every part, loses none when one fails, and its tables get into their pages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.gpu import GIVEN_UP, Part, machine, parts, run

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / "benchmarks.md", *(ROOT / "benchmarks" / "results").glob("*.md")]
MERGED = r"""
import sys
sys.path.insert(0, "benchmarks")
import tables
from pathlib import Path
tables.PAGES = sorted(Path(sys.argv[1]).glob("*.md"))
print(*tables.merge(Path(sys.argv[2])), sep="\n")
"""


@pytest.mark.slow
def test_every_part_runs_on_the_cpu_and_its_table_is_merged(tmp_path: Path) -> None:
    command = [sys.executable, "benchmarks/gpu.py", "--platform=cpu", f"--out={tmp_path}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary.pop("machine")["device"] == "cpu"
    assert summary.keys() == {part.name for part in parts(True, None)}
    failed = {name: end for name, end in summary.items() if end["status"]}
    assert not failed, {name: (tmp_path / f"{name.replace(' ', '_')}.log").read_text()[-2000:] for name in failed}
    assert "passed" in summary["tests"]["last line"]
    for page in PAGES:
        (tmp_path / page.name).write_text(page.read_text())
    merged = [sys.executable, "-c", MERGED, str(tmp_path), str(tmp_path / "results.jsonl")]
    done = subprocess.run(merged, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {*done.stdout.splitlines()} == {"gpt-2", "models", "first steps", "eager"}


def test_a_part_that_takes_too_long_or_fails_is_told(tmp_path: Path) -> None:
    slow = Part("slow", 9, [sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(60)"])
    assert (found := run(slow, tmp_path, 1.0))["status"] == GIVEN_UP and found["last line"] == "begun"
    assert run(Part("wrong", 9, [sys.executable, "-c", "1 / 0"]), tmp_path, 9)["last line"].startswith("ZeroDivision")


def test_a_machine_without_a_gpu_is_told_in_a_line() -> None:
    with pytest.raises(SystemExit, match="JAX sees cpu, no gpu"):
        machine("gpu")


def test_every_table_of_a_gpu_has_a_place() -> None:
    text = "".join(page.read_text() for page in PAGES)
    for name in ("gpt-2", "models, gpu", "first steps, gpu", "eager, gpu"):
        assert text.count(f"<!-- {name} -->") == text.count(f"<!-- /{name} -->") == 1
