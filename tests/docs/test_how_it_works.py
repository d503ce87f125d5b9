"""The literate page: it is short, and the files that it points to exist. tests/docs/test_pages.py runs its code."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/how_it_works.md").read_text()
CODE = "\n".join(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))


def test_the_code_of_the_page_does_without_tenax() -> None:
    assert "tenax" not in CODE


def test_the_page_keeps_its_promise_of_length() -> None:
    assert len(CODE.splitlines()) < 200


def test_the_files_that_the_page_names_exist() -> None:
    for path in re.findall(r"`((?:runtime|generated|ops_spec)/[\w/.]*)`", TEXT):
        assert (ROOT / path).exists(), path
