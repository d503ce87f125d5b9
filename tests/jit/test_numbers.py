"""Numbers that compiled functions read from tensors by `item()`: they are computed with, and never known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import tenax
from tenax._jit.jitted import compiled_of
from tenax.errors import TraceError
from tests.helpers.agreement import close
from tests.helpers.tolerances import ROUNDED


def test_a_number_read_from_a_tensor_cannot_be_given_or_kept() -> None:
    kept: list[float] = []
    x = torch.ones(2, device="jax")
    with pytest.raises(TraceError, match="return or store the tensor itself"):
        tenax.jit(lambda x: x.sum().item())(x)
    with pytest.raises(TraceError, match="return or store the tensor itself"):
        tenax.jit(lambda x: kept.append(x.sum().item()))(x)
    assert not kept


def test_an_item_may_take_part_in_arithmetic() -> None:
    compiled = tenax.jit(lambda x: x / (1 + x.max().item() * 2))
    for n in (1.0, 3.0):
        close(compiled(torch.full((2,), n, device="jax")), torch.full((2,), n / (1 + 2 * n)), ROUNDED)
    assert len(compiled.history) == 1


NUMBERS: dict[str, Callable[[Any], Any]] = {
    "bits": lambda n: (n & 2) + (n << 1) - (n >> 1) + (n ^ 5) + (n | 8),
    "division": lambda n: n // 2 + n % 2 + n / 4,
    "powers and signs": lambda n: n**2 + abs(-n),
    "rounding": lambda n: round(n / 2) + round(n / 3, 2),
    "functions of NumPy": lambda n: np.log(n) + np.sqrt(n + 1.5) - np.arctan(n) * np.float64(2) + np.power(n, 2),
    "functions": lambda n: torch.sym_max(n, 4) - torch.sym_sqrt(n * 1.0) + torch.sym_int(n / 2),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_computed_as_python_does(name: str) -> None:
    compiled = tenax.jit(lambda x, n: x * NUMBERS[name](n.item()))
    for n in (3, 6):
        found = compiled(torch.ones(2, device="jax"), torch.tensor(n, device="jax"))
        close(found, torch.full((2,), float(NUMBERS[name](n))), ROUNDED)
    assert len(compiled.history) == 1


@pytest.mark.parametrize(
    ("f", "argument"),
    [
        (lambda x, n: x.roll(n, 0), "roll: shifts"),
        (lambda x, n: x.repeat(n, 1), "repeat: repeats"),
        (lambda x, n: torch.arange(n, device="jax"), "arange: end"),
    ],
    ids=["roll", "repeat", "arange"],
)
def test_a_number_that_shapes_or_programs_depend_on_is_refused(f: Callable[..., Any], argument: str) -> None:
    with pytest.raises(TraceError, match=f"{argument}: the value of a tensor is not known"):
        tenax.jit(lambda x, n: f(x, n.item()))(torch.ones(2, device="jax"), torch.tensor(3, device="jax"))


@pytest.mark.parametrize(
    "function",
    [
        np.isnan,
        lambda n: np.maximum(n, 1),
        lambda n: np.arange(3) * n,
        "{:.2f}".format,
        lambda n: np.clip(n, 0, 1),
        lambda n: np.float64(2) < n or np.equal(n, 3),
        lambda n: np.array([n, 1.0]),
        lambda n: np.mean([[1.0], [n]]),
    ],
    ids=["isnan", "maximum", "array", "format", "clip", "comparison", "made array", "mean"],
)
def test_a_function_that_needs_the_value_names_the_line_of_the_program(function: Callable[[Any], Any]) -> None:
    with pytest.raises(TraceError, match=r"value of a tensor is not known.*\(.*test_numbers.py:\d+, in "):
        tenax.jit(lambda x: function(x.sum().item()) and x)(torch.ones(2, device="jax"))


def test_an_item_counts_as_a_number_of_python() -> None:
    def step(x: torch.Tensor) -> torch.Tensor:
        numbers = x.sum().item(), x.sum().long().item(), (x.sum() > 1).item()
        assert [isinstance(n, t) for n, t in zip(numbers, (float, int, bool), strict=True)] == [True] * 3
        return x * numbers[0]

    x = torch.tensor([0.5, 2.0])
    close(tenax.jit(step)(x.to("jax")), step(x))


@pytest.mark.parametrize("value", [-1.0, 0.0])
def test_a_function_of_numpy_outside_of_its_domain_gives_what_numpy_gives(value: float) -> None:
    x = torch.tensor(value)
    with np.errstate(all="ignore"):
        close(tenax.jit(lambda x: x + np.log(x.item()))(x.to("jax")), x + float(np.log(value)), nan=True)


def test_a_program_does_not_depend_on_the_numbers_that_eager_code_has_used() -> None:
    settings, x = {"unused": "a"}, torch.ones(3, device="jax")

    @tenax.jit
    def scaled(x: torch.Tensor) -> torch.Tensor:
        settings["unused"]
        return torch.threshold(x, 0.8125, 7)

    scaled(x)
    for _ in range(3):
        torch.threshold(x, 0.8125, 7)
    settings["unused"] = "b"
    scaled(x)
    assert [trace.program for trace in compiled_of(scaled).history] == [1, 1]


@pytest.mark.parametrize(
    "shown", [lambda x: f"{x:.3f}", lambda x: f"{x.item():.3f}", lambda x: f"{x.item()}", lambda x: str(x.item())]
)
def test_a_value_that_a_format_needs_is_named_with_its_line(shown: Any) -> None:
    with pytest.raises(TraceError, match=r"not known while .*test_numbers\.py:\d+"):
        tenax.jit(lambda x: (shown(x.sum()), x)[1])(torch.ones(2, device="jax"))


def test_a_tensor_with_dimensions_takes_no_format() -> None:
    with pytest.raises(TypeError, match=r"unsupported format string passed to Tensor\.__format__"):
        tenax.jit(lambda x: f"{x:.3f}")(torch.ones(2, device="jax"))
