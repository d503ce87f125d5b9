"""Sums over windows of padded tensors: XLA's simplifier merges the padding and the windows."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional

import tenax
from tests.helpers.agreement import close

SUMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "cumsum": lambda x: x.cumsum(0),
    "cumprod": lambda x: x.cumprod(0),
    "cummax": lambda x: x.cummax(0)[0],
    "logcumsumexp": lambda x: x.logcumsumexp(0),
    "avg_pool2d": lambda x: functional.avg_pool2d(x[None], (3, 1), 1, (1, 0)),
    "max_pool2d": lambda x: functional.max_pool2d(x[None], (3, 1), 1, (1, 0)),
    "masked_scatter": lambda x: torch.zeros_like(x).masked_scatter(x.bool(), torch.arange(1.0, 20, device=x.device)),
}


@pytest.mark.parametrize("identity", [0.0, 1.0, float("-inf")])
@pytest.mark.parametrize("name", SUMS)
def test_a_row_that_is_padded_on_both_sides_is_summed(name: str, identity: float) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = SUMS[name](functional.pad(x, (0, 0, 2, 2), value=identity))
        return torch.nan_to_num(y, neginf=-1.0)

    x = torch.tensor([[1.5, -2.0]])
    close(tenax.jit(program)(x.to("jax")), program(x))


def test_a_write_into_zeros_is_padding_too() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        x.zero_()
        x[1] += 1
        return x.cumsum(0)

    for start in range(3):  # then the start of the view is an operand
        torch.ones(3, device="jax")[start].add_(1)
    assert tenax.jit(program)(torch.ones(3, device="jax")).tolist() == [0, 1, 1]
