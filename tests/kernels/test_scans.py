"""Running reductions, sorting and scatters whose form on the CPU differs from that on other platforms."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
import torch
from jax import lax

from tenax.generated import lowering
from tenax.kernels import sort
from tenax.kernels.scan import RUNNING
from tests.helpers.agreement import close, same
from tests.helpers.tolerances import ACCUMULATED

pytestmark = pytest.mark.gpu

INF, NAN = float("inf"), float("nan")
# Rows long and short; axes cut into blocks, once and twice, and not.
SHAPES = (((513,), 0), ((3, 700), 1), ((700, 3), 0), ((70, 130), 1), ((130, 70), 0), ((2, 3, 4), 1), ((70000,), 0))
SCANS: dict[str, Callable[[torch.Tensor, int], Any]] = {
    name: getattr(torch, name) for name in ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")
}


def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64).to(dtype)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
def test_a_running_reduction_agrees_with_the_cpu(name: str, shape: tuple[int, ...], dim: int) -> None:
    x = numbers(*shape)
    if name == "cumprod":
        x = 1 + x / 1000
    if name == "cumsum":
        x = x.abs()  # sums near zero have no relative accuracy
    close(SCANS[name](x.to("jax"), dim), SCANS[name](x, dim), ACCUMULATED)


@pytest.mark.parametrize("name", [name for name in SCANS if name != "cumprod"])
@pytest.mark.parametrize("special", [INF, -INF, NAN])
@pytest.mark.parametrize("count", [5, 300, 1000])
def test_elements_before_an_infinity_or_nan_keep_their_value(name: str, special: float, count: int) -> None:
    x = numbers(count)
    x[count // 2 + 1] = special
    result, expected = SCANS[name](x.to("jax"), 0), SCANS[name](x, 0)
    close(result, expected, ACCUMULATED, nan=True)
    values = result[0] if isinstance(result, tuple) else result
    assert values[: count // 2 + 1].isfinite().all()


@pytest.mark.parametrize("count", [5, 300, 1000])
def test_opposite_infinities_give_nan_from_the_second_on(count: int) -> None:
    x = numbers(count)
    x[1], x[count - 2] = INF, -INF
    close(x.to("jax").cumsum(0), x.cumsum(0), ACCUMULATED, nan=True)


def test_sums_of_exponentials_start_at_minus_infinity() -> None:
    x = torch.tensor([-INF, -INF, 1.0, -INF, 80.0, -1000.0, INF, 2.0])
    close(x.to("jax").logcumsumexp(0), x.logcumsumexp(0))
    low = torch.linspace(-1000, 0, 600)  # no earlier element vanishes beside a later one
    close(low.to("jax").logcumsumexp(0), low.logcumsumexp(0))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bool])
def test_running_sums_of_integers_are_exact_and_wrap_around(dtype: torch.dtype) -> None:
    x = torch.randint(-(2**62), 2**62, (1000,), generator=torch.Generator().manual_seed(0)).to(dtype)
    for name in ("cumsum", "cumprod", "cummax"):
        close(SCANS[name](x.to("jax"), 0), SCANS[name](x, 0))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cumlogsumexp", "cummax"])
def test_derivatives_of_a_running_reduction_are_those_of_jax(name: str) -> None:
    x = np.linspace(0.5, 1.5, 12, dtype=np.float32).reshape(3, 4)

    def loss(scan: Callable[[Any, int], Any]) -> Callable[[Any], Any]:
        return lambda x: (scan(x, 1) ** 2).sum()

    ours, jax_ = loss(RUNNING[name]), loss(getattr(lax, name))
    close(jax.grad(ours)(x), jax.grad(jax_)(x))
    if name != "cummax":
        close(jax.hessian(ours)(x), jax.hessian(jax_)(x))
    close(jax.vmap(RUNNING[name], (0, None))(x, 0), getattr(lax, name)(x, 1))


FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
INTEGERS = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint32, torch.uint64)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("descending", [False, True])
def test_floats_are_sorted_as_on_the_cpu(dtype: torch.dtype, descending: bool) -> None:
    x = numbers(30, 70, dtype=dtype)
    tiny = torch.finfo(dtype).smallest_normal / 4
    special = torch.tensor([INF, NAN, -0.0, 0.0, -INF, -NAN, tiny, -tiny, 0.0, -0.0, NAN], dtype=dtype)
    x[0, :11], x[1:12, 3] = special, special
    x[5] = x[6]
    for dim in (0, 1):
        (values, places), expected = (y.sort(dim=dim, descending=descending, stable=True) for y in (x.to("jax"), x))
        same(places, expected.indices)
        integers = {2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]
        numbers_ = ~expected.values.isnan()  # of NaN, only the place counts
        same(values.cpu()[numbers_].view(integers), expected.values[numbers_].view(integers))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("descending", [False, True])
def test_integers_are_sorted_as_on_the_cpu(dtype: torch.dtype, descending: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randint(-(2**63), 2**63 - 1, (40, 50), generator=generator).to(dtype)
    x[0] = x[1]
    x[2, :2] = torch.tensor([0, -1]).to(dtype)
    for dim in (0, 1):
        result, expected = (y.sort(dim=dim, descending=descending, stable=True) for y in (x.to("jax"), x))
        same(result[0], expected[0])
        same(result[1], expected[1])


def test_both_ways_to_sort_give_the_same_result() -> None:
    x = numbers(4, 300).round(decimals=1).numpy()
    for dim, descending in itertools.product((0, 1), (False, True)):
        close(sort._by_bits(dim, descending, x), sort._by_comparison(dim, descending, x))


def test_sorting_has_derivatives() -> None:
    x = numbers(5, 6).numpy()
    weights = np.arange(30, dtype=np.float32).reshape(5, 6)
    places = np.argsort(x, 1)
    found = jax.grad(lambda x: (lowering("sort.stable")(x, stable=True)[0] * weights).sum())(x)
    expected = np.zeros_like(x)
    np.put_along_axis(expected, places, weights, 1)
    close(found, expected)


def test_positions_outside_of_a_plane_have_no_gradient() -> None:
    gradient, image = torch.ones(2, 1, 2), torch.zeros(2, 2, 2)
    places = torch.tensor([[[0, 4]], [[-5, 3]]])  # 4 would be the first element of the next plane
    found = torch.ops.aten.adaptive_max_pool2d_backward(*(x.to("jax") for x in (gradient, image, places)))
    same(found, torch.tensor([[[1.0, 0], [0, 0]], [[0, 0], [0, 1]]]))
