"""The programs of docs/interop.md run."""

from __future__ import annotations

import re
from pathlib import Path

import jax
import pytest

TEXT = (Path(__file__).parent.parent / "docs" / "interop.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```", TEXT, re.S)


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_of_the_page_runs(number: int) -> None:
    with jax.numpy_dtype_promotion("standard"):
        exec(compile(PROGRAMS[number], f"docs/interop.md #{number}", "exec"), {})


def test_the_page_has_programs() -> None:
    assert len(PROGRAMS) == 3
