"""The source text that is written for an overload's fast path: a change of it shows as a diff of tests/fast_path/.

`EXPECTTEST_ACCEPT=1 pytest tests/test_fast_path.py` writes the files.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tenax.aten.registry import kernel_of

EXPECTED = Path(__file__).parent / "fast_path"

# One overload of each shape of schema that the text depends on.
OVERLOADS = {
    "sin": "one tensor",
    "add.Tensor": "two tensors, the second of which may be a number, and a keyword number",
    "add.Scalar": "numbers with and without a default",
    "add_.Tensor": "written in place, with a second tensor that may share memory",
    "mm": "tensors whose conjugate bit the lowering reads",
    "copy_": "overwritten, unless it is a view",
    "addmm_": "written in place, with such bits and two keyword numbers",
    "clamp.Tensor": "optional tensors",
    "var.correction": "a static list, and static keywords",
    "_softmax": "static arguments",
}


def text(function: Callable[..., Any]) -> str:
    """The source of a function, as a traceback shows it, without spaces at the ends of lines."""
    lines = linecache.getlines(function.__code__.co_filename)
    return "\n".join(line.rstrip() for line in lines).strip() + "\n"


@pytest.mark.parametrize("name", OVERLOADS)
def test_the_text_of_a_fast_path_is_the_expected_one(name: str) -> None:
    found, path = text(kernel_of(name)), EXPECTED / f"{name}.txt"
    if os.environ.get("EXPECTTEST_ACCEPT") == "1":
        path.write_text(found)
    assert found == path.read_text()


def test_each_expected_text_is_of_another_shape() -> None:
    texts = {path.stem: path.read_text() for path in EXPECTED.glob("*.txt")}
    assert texts.keys() == OVERLOADS.keys()
    assert len(set(texts.values())) == len(texts)


def test_overloads_of_one_shape_share_one_text() -> None:
    assert kernel_of("sub.Tensor").__code__ is kernel_of("add.Tensor").__code__
