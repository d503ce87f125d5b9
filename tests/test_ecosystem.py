"""The page of other libraries is what was recorded, and the programs whose libraries are installed here agree."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from tests.ecosystem import __main__ as command
from tests.ecosystem import programs, trainers  # noqa: F401
from tests.ecosystem.__main__ import SUITES, import_error
from tests.ecosystem.page import PAGE, PROGRAMS, ROOT, UNIMPORTABLE, page, read
from tests.ecosystem.program import PROGRAMS as KNOWN
from tests.ecosystem.program import difference


def test_the_page_is_what_was_recorded() -> None:
    assert PAGE.read_text() == page(), "expected: python -m tests.ecosystem --write"


def test_every_library_has_a_program_a_description_and_a_result() -> None:
    assert {row.library for row in read()["rows"]} == set(PROGRAMS) == {*KNOWN, *SUITES}


@pytest.mark.parametrize("library", ["safetensors", "torchmetrics"])
def test_a_library_that_is_installed_for_the_tests_agrees(library: str) -> None:
    """A quick tier; `make ecosystem` runs them all, and tests/test_trainers.py the trainers."""
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
