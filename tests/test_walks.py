"""docs/walks.md lists the functions that calls really pass."""

from __future__ import annotations

import sys

import pytest

from .walks import PAGE, WALKS, record, section


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the page was recorded on Python 3.11")
@pytest.mark.parametrize(("title", "call"), WALKS)
def test_the_page_lists_the_functions_of_a_call(title: str, call: str) -> None:
    text = PAGE.read_text()
    for which, lines in zip(("first call", "later calls"), record(call), strict=True):
        assert section(f"{title}, {which}", lines) in text, "run: python -m tests.walks"
