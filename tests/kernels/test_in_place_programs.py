"""Compiled programs that write a part of an array from other places of it, in place."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import pytest
import torch

import tenax
from tests.helpers.agreement import close

pytestmark = pytest.mark.gpu

Tensor = torch.Tensor


def shift(x: Tensor) -> Tensor:
    y = x + 1
    y[1:] = y[:-1].clone()
    return y.reshape(1, -1)


def shift_through_a_view(x: Tensor) -> Tensor:
    y = x + 1
    flat = y.view(-1)
    flat[1:] = flat[:-1].clone()
    return y.reshape(2, -1)


def masked_real_part(x: Tensor) -> Tensor:
    y = torch.complex(x, x * 0).reshape(2, -1)
    real = y.real
    real[real.select(-1, 0) == 2] = 1
    return y


def column_from_the_flat_array(x: Tensor) -> Tensor:
    y = (x * 2).reshape(2, 2, -1)
    flat = y.reshape(2, -1)
    y[:, :, 0] = torch.where((flat[:, :1] == 4).expand(2, 2), 4.0, y[:, :, 0])
    return y


def scattered_rows(x: Tensor) -> Tensor:
    y = (x + 1).reshape(2, -1)
    y[torch.tensor([1], device=x.device)] = torch.where(y.reshape(-1)[:1] == 1, y[:1] * 2, y[1:])
    return y.reshape(-1)


def products_with_the_row_before(x: Tensor) -> Tensor:
    y = x + 1
    y[1:] *= y[:-1].clone()
    return y.reshape(1, -1)


def rows_of_odd_sizes(x: Tensor) -> Tensor:
    y = (x[: x.numel() // 3 * 3] + 1).reshape(-1, 3)
    y[1:] = y.reshape(-1)[:-3].clone().reshape(-1, 3)
    return y.reshape(-1)


PROGRAMS = [
    products_with_the_row_before,
    rows_of_odd_sizes,
    shift,
    shift_through_a_view,
    masked_real_part,
    column_from_the_flat_array,
    scattered_rows,
]


def jitted(program: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    return functools.partial(tenax.call_jax, jax.jit(tenax.t2j(program)))


def scanned(program: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    function = tenax.t2j(program)

    def run(x: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda _, x: (None, function(x)), None, x[None])[1][0]

    return functools.partial(tenax.call_jax, jax.jit(run))


COMPILERS: dict[str, Callable[..., Callable[[Tensor], Tensor]]] = {
    "jit": tenax.jit,
    "compile": lambda program: torch.compile(program, backend="tenax", dynamic=False),
    "jax.jit": jitted,
    "scan": scanned,
}


@pytest.mark.parametrize("size", [4, 64])
@pytest.mark.parametrize("compiled", COMPILERS.values(), ids=COMPILERS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.sampled(3)
def test_a_part_is_computed_before_it_is_written(
    program: Callable[[Tensor], Tensor], compiled: Callable[..., Callable[[Tensor], Tensor]], size: int
) -> None:
    torch._dynamo.reset()
    x = torch.arange(float(size))
    close(compiled(program)(x.to("jax")).cpu(), program(x.clone()))
