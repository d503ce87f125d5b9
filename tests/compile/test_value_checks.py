"""Programs of torch.compile check what depends on values, too, and raise the error of eager mode when it is ready."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch

import tenax
from tests.helpers.agreement import close

CASES: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "x[i]": lambda x, i: x[i],
    "x[i] = 2": lambda x, i: x.clone().index_put_((i,), torch.full((), 2.0, device=x.device)),
    "index_select": lambda x, i: x.index_select(0, i),
    "gather": lambda x, i: x.gather(0, i),
    "index_fill": lambda x, i: x.index_fill(0, i, 2.0),
    "embedding": lambda x, i: torch.nn.functional.embedding(i, x.reshape(-1, 1)),
}


@pytest.fixture(autouse=True)
def _fresh() -> None:
    torch._dynamo.reset()


@pytest.mark.parametrize(
    ("name", "size"), [*((name, 2) for name in CASES), *((name, 0) for name in ("x[i]", "x[i] = 2", "index_select"))]
)
def test_an_index_out_of_range_raises(name: str, size: int) -> None:
    function = CASES[name]
    x, i = torch.zeros(size, device="jax"), torch.tensor([0, 5], device="jax")
    with pytest.raises((IndexError, RuntimeError)) as eager:
        function(x, i)
    compiled = torch.compile(function, backend="tenax", dynamic=False)
    with pytest.raises(type(eager.value), match=rf"{re.escape(__file__)}(:|\", line )\d+, in <lambda>"):  # noqa: PT012
        compiled(x, i)
        tenax.synchronize()


def test_an_index_in_range_does_not() -> None:
    compiled = torch.compile(CASES["x[i]"], backend="tenax", dynamic=False)
    x = torch.arange(4.0, device="jax")
    for i in ([0, 3], [-4, 1]):
        close(compiled(x, torch.tensor(i, device="jax")).cpu(), x.cpu()[i])
    tenax.synchronize()


def test_a_read_after_the_failure_raises_and_the_next_call_computes() -> None:
    compiled = torch.compile(CASES["x[i]"], backend="tenax", dynamic=False)
    x = torch.arange(4.0, device="jax")
    result = compiled(x, torch.tensor([9], device="jax"))
    with pytest.raises(IndexError, match="earlier call"):
        result.cpu()
    assert compiled(x, torch.tensor([1], device="jax")).item() == 1


def test_an_embedding_is_checked_where_it_trains() -> None:
    model = torch.nn.Sequential(torch.nn.Embedding(4, 2), torch.nn.Linear(2, 1)).to("jax")
    compiled = torch.compile(model, backend="tenax", dynamic=False)
    with pytest.raises(IndexError):  # noqa: PT012
        compiled(torch.tensor([4], device="jax")).sum().backward()
        tenax.synchronize()


def test_a_compiled_function_within_a_step_is_checked() -> None:
    compiled = torch.compile(CASES["x[i]"], backend="tenax", dynamic=False)

    @tenax.jit
    def step(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return compiled(x, i) * 2

    x = torch.arange(4.0, device="jax")
    assert step(x, torch.tensor([3], device="jax")).item() == 6
    with pytest.raises(IndexError):  # noqa: PT012
        step(x, torch.tensor([4], device="jax"))
        tenax.synchronize()


def test_a_singular_matrix_raises() -> None:
    compiled = torch.compile(torch.linalg.inv, backend="tenax", dynamic=False)
    with pytest.raises(torch.linalg.LinAlgError, match="singular"):  # noqa: PT012
        compiled(torch.zeros(2, 2, device="jax"))
        tenax.synchronize()


def test_a_branch_that_is_not_taken_is_not_checked() -> None:
    def function(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return torch.cond(i[0] < 2, lambda x, i: x[i], lambda x, i: x[:1] * 3, (x, i))

    compiled = torch.compile(function, backend="tenax", dynamic=False)
    x = torch.ones(2, device="jax")
    assert compiled(x, torch.tensor([9], device="jax")).item() == 3
    tenax.synchronize()
