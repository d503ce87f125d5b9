"""Operators on lists of 0-d tensors that share an array compute it once, and otherwise do what CPU torch does."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
import torch

import tenax
from tenax.storage.tensors import cell_of
from tests.helpers.agreement import close

Tensor = torch.Tensor

CALLS: dict[str, Callable[[list[Tensor]], Any]] = {
    "a number": lambda t: torch._foreach_add_(t, 1),
    "a number for each": lambda t: torch._foreach_add_(t, [1.0, 1.0, 2.0, 2.0]),
    "zeros of two signs": lambda t: torch._foreach_mul_(t, [0.0, -0.0, 0.0, -0.0]),
    "a tensor": lambda t: torch._foreach_mul_(t, torch.tensor(3.0, device=t[0].device)),
    "the next one": lambda t: torch._foreach_add_(t, [*t[1:], t[0]]),
    "themselves": lambda t: torch._foreach_mul_(t, t),
    "one of them": lambda t: torch._foreach_add_(t, t[2]),
    "the same one twice": lambda t: torch._foreach_add_([t[0], t[1], t[0]], 1),
    "beside larger ones": lambda t: torch._foreach_add_([*t, torch.ones(3, device=t[0].device)], 1),
    "a base": lambda t: torch._foreach_pow(0.9, t),
    "a new list": lambda t: torch._foreach_sub(t, 1),
    "another list": lambda t: torch._foreach_div(t, [x.clone() for x in t]),
    "a new list that is written": lambda t: written(torch._foreach_sub(t, 1)),
    "lists of different lengths": lambda t: torch._foreach_add_(t, t[:2]),
    "an empty list": lambda t: torch._foreach_add(t[:0], 1),
}


def written(tensors: list[Tensor]) -> list[Tensor]:
    tensors[1].add_(5)
    return tensors


def outcome(call: Callable[[list[Tensor]], Any], device: str, mode: AbstractContextManager[Any]) -> Any:
    with mode:
        first = torch.tensor(2.0, device=device)
        tensors = [first, first.clone(), first.clone(), torch.tensor(7.0, device=device)]
        results, errors = [], []
        for _ in range(2):  # the first call of an operator is encoded, and the second is not
            try:
                results.append(call(tensors))
            except RuntimeError as error:
                errors.append(str(error))
        found = [[x.cpu() for x in list_] for list_ in [tensors, *filter(None, results)]]
        return found, (errors, [x._version for x in tensors])


@pytest.mark.parametrize("mode", [nullcontext, tenax.lazy], ids=["eager", "lazy"])
@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_values_and_versions_are_those_of_the_cpu(
    call: Callable[[list[Tensor]], Any], mode: Callable[[], AbstractContextManager[Any]]
) -> None:
    (ours, *rest), (theirs, *expected) = outcome(call, "jax", mode()), outcome(call, "cpu", nullcontext())
    close(ours, theirs)
    assert rest == expected


@pytest.mark.parametrize("mode", [nullcontext, tenax.lazy], ids=["eager", "lazy"])
def test_equal_elements_go_on_sharing_an_array(mode: Callable[[], AbstractContextManager[Any]]) -> None:
    first = torch.tensor(2.0, device="jax")
    with mode():
        tensors = [first, first.clone(), first.clone()]
        torch._foreach_add_(tensors, 1)
        powers = torch._foreach_pow(0.5, tensors)
        tensors[1].add_(1)
    assert cell_of(tensors[0]).content is cell_of(tensors[2]).content
    assert cell_of(powers[0]).content is cell_of(powers[2]).content
    assert [x.item() for x in tensors] == [3, 4, 3]
    assert [x.item() for x in powers] == [0.125, 0.125, 0.125]
