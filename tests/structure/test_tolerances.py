"""The tests compare by the one table of tolerances, and what replaces it has a name and a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.helpers import tolerances
from tests.helpers.agreement import agree, close
from tests.helpers.tolerances import COMPOSED, TABLE, Allowance, tolerance

TESTS = Path(__file__).parents[1]
ALLOWANCES = {name: value for name, value in vars(tolerances).items() if isinstance(value, Allowance)}
# The harness has a table of its own; agreement.py calls torch's comparison with the table of the tests.
FILES = [p for p in TESTS.rglob("*.py") if not p.is_relative_to(TESTS / "coverage") and p.name != "agreement.py"]


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def test_no_test_states_a_tolerance_of_its_own() -> None:
    others = {"assert_close", "assert_allclose", "approx", "isclose"}
    for path in FILES:
        for function, call in calls(path):
            place = f"{path.relative_to(TESTS)}:{call.lineno}"
            assert function.rpartition(".")[2] not in others, f"{place}: {function}; expected agreement.close"
            # A comparison that is what is tested may be given tolerances.
            given = {k.arg for k in call.keywords} & {"rtol", "atol", "rel", "tolerance"}
            assert not given or function == "debug.compare", f"{place}: {given}; expected an allowance"


def test_an_allowance_is_used_and_says_why() -> None:
    texts = [path.read_text() for path in FILES]
    unused = [name for name in ALLOWANCES if not any(f"import {name}" in t or f", {name}" in t for t in texts)]
    assert not unused
    assert all(allowance.why.endswith(".") for allowance in ALLOWANCES.values())


def test_an_allowance_is_of_dtypes_of_the_table() -> None:
    for tolerances_ in ({}, {torch.int64: tolerances.EXACT}):
        with pytest.raises(ValueError, match="expected a reason, and dtypes of the table"):
            Allowance("a reason", tolerances_)


def test_integers_are_exact_and_complex_numbers_are_as_exact_as_their_parts() -> None:
    assert tolerance(torch.int64) == tolerance(torch.bool, COMPOSED) == tolerances.EXACT
    assert tolerance(torch.complex64) == TABLE[torch.float32]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.00001])),
        (torch.ones(2), torch.ones(2, dtype=torch.float64)),
        (torch.ones(2), torch.ones(1, 2)),
        (torch.tensor([3]), torch.tensor([4])),
        (torch.tensor(torch.nan), torch.tensor(torch.nan)),
        (1.0, 1.0 + 1e-9),
        ({"a": torch.ones(2)}, {"a": None}),
    ],
    ids=["value", "dtype", "shape", "integer", "nan", "number", "none"],
)
def test_what_differs_is_not_close(found: object, expected: object) -> None:
    with pytest.raises(AssertionError):
        close(found, expected)


def test_results_of_different_leaves_are_not_close() -> None:
    with pytest.raises(ValueError, match="zip"):
        close([torch.ones(2)], [torch.ones(2), torch.ones(2)])


def test_arrays_numbers_and_tensors_may_be_compared() -> None:
    close({"b": np.float32(2), "a": torch.ones(2, device="jax")}, {"a": np.ones(2), "b": 2})
    close(torch.ones(2, dtype=torch.bfloat16, device="jax").jax(), torch.ones(2, dtype=torch.bfloat16))


def test_agreement_is_of_device_strides_and_history_too() -> None:
    x = torch.arange(6.0).view(2, 3)
    agree(x.to("jax"), x)
    for found in (x, x.t().contiguous().t().to("jax"), x.to("jax").requires_grad_()):
        with pytest.raises(AssertionError):
            agree(found, x)
    agree(x.t().contiguous().t().to("jax"), x, strides=False)
