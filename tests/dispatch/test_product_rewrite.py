"""Products of few rows with matrices of (out, in), and writes to one place: what XLA's CPU backend is given."""

from __future__ import annotations

from typing import Any

import jax
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (as everybody writes it)
from torch import nn

import tenax
from tests.helpers.agreement import close
from tests.helpers.tolerances import SUMMED
from tests.helpers.traced import equations, jaxpr_of

pytestmark = pytest.mark.skipif(jax.default_backend() != "cpu", reason="XLA's other backends do this by themselves")

PRODUCTS = {
    "linear": lambda x, w: F.linear(x, w, torch.ones(48, device=x.device, dtype=x.dtype)),
    "linear without bias": F.linear,
    "mm": lambda x, w: x @ w.t(),
    "three axes": lambda x, w: F.linear(x[None], w),
    "an inner view": lambda x, w: x @ w[:, :].mT,
    "a bias added twice": lambda x, w: torch.addmm(torch.ones(1, device=x.device, dtype=x.dtype), x, w.T, beta=2),
}


def products(compiled: Any) -> list[tuple[int, ...]]:
    """The shapes of the first operands of a compiled function's products."""
    found = [e for e in equations(jaxpr_of(compiled)) if e.primitive.name == "dot_general"]
    return [e.invars[0].aval.shape for e in found]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("rows", [1, 2, 32, 33])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.complex64, torch.int64])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_few_rows(name: str, dtype: torch.dtype, rows: int) -> None:
    x, w = (torch.randint(-4, 5, (n, 24)).to(dtype) for n in (rows, 48))
    function = tenax.jit(PRODUCTS[name])
    found, expected = function(x.to("jax"), w.to("jax")), PRODUCTS[name](x, w)
    assert torch.equal(found.cpu(), expected) and found.stride() == expected.stride()
    wider = dtype == torch.bfloat16 and name in ("linear", "a bias added twice")  # for the sum
    few = rows <= 32 and (rows > 1 or dtype.itemsize >= 4) and not wider
    axes = (1, rows, 24) if name == "three axes" and rows > 32 and dtype.is_floating_point else (rows, 24)
    assert products(function) == [(48, 24) if few else axes]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_narrow_dtypes_are_rounded_once(dtype: torch.dtype) -> None:
    bias, x, w = (torch.randn(*size).to(dtype) for size in ((8,), (4, 16), (8, 16)))
    for function in (
        lambda bias, x, w: x @ w.t(),
        lambda bias, x, w: F.linear(x, w, bias),
        lambda bias, x, w: torch.addmm(bias, x, w.t(), beta=0.5, alpha=3),
        lambda bias, x, w: torch.baddbmm(bias, x[None], w.t()[None]),
        lambda bias, x, w: torch.addmv(bias, w, x[0]),
    ):
        assert torch.equal(function(*(t.to("jax") for t in (bias, x, w))).cpu(), function(bias, x, w))


def test_a_matrix_of_in_and_out_stays_second() -> None:
    function = tenax.jit(lambda x, w: x @ w)
    function(torch.ones(2, 24, device="jax"), torch.ones(24, 48, device="jax"))
    assert products(function) == [(2, 24)]


def test_gradients_of_few_rows() -> None:
    def loss(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return F.linear(x, w).sin().sum()

    theirs = [torch.randn(n, 24, requires_grad=True) for n in (2, 48)]
    ours = [t.detach().to("jax").requires_grad_() for t in theirs]
    loss(*theirs).backward()
    tenax.jit(loss)(*ours).backward()
    for mine, wanted in zip(ours, theirs, strict=True):
        close(mine.grad, wanted.grad, SUMMED)


class Cache(nn.Module):
    """Keys and values of all positions; each call writes one and multiplies by all."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(2, 4, 16, 8))

    def forward(self, x: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        self.write(x, position)
        return x @ self.keys.mT

    def write(self, x: torch.Tensor, position: torch.Tensor) -> None:
        self.keys.index_copy_(2, position, x)


class Assigned(Cache):
    def write(self, x: torch.Tensor, position: torch.Tensor) -> None:
        self.keys[:, :, position] = x


class Put(Cache):
    def write(self, x: torch.Tensor, position: torch.Tensor) -> None:
        self.keys.index_put_((position[0] % 2,), x[0])


# How many arrays of the cache's size a program needs besides it; with a copy for each reader there are two or more.
@pytest.mark.parametrize(("kind", "copies"), [(Cache, 0), (Assigned, 0), (Put, 1)])
def test_a_cache_is_written_in_place(kind: type[Cache], copies: int) -> None:
    theirs, ours = kind(), kind().to("jax")
    function = tenax.jit(ours)
    for i in (3, 0, -1):
        x, position = torch.randn(2, 4, 1, 8), torch.tensor([i % 16 if kind is Cache else i])
        close(function(x.to("jax"), position.to("jax")), theirs(x, position))
    close(ours.keys, theirs.keys)
    (program,) = tenax.explain(function).programs
    assert program.aliased_bytes >= ours.keys.nbytes
    assert program.temporary_bytes < (copies + 1) * ours.keys.nbytes


def test_an_optional_operand_that_is_not_given() -> None:
    x, w = torch.randn(4, 8).bfloat16(), torch.randn(2, 8, 16).bfloat16()
    ends = torch.tensor([1, 4], dtype=torch.int32)  # of the groups; there is no bias
    found = torch._grouped_mm(*(t.to("jax") for t in (x, w)), offs=ends.to("jax"))
    close(found, torch._grouped_mm(x, w, offs=ends))


@pytest.mark.parametrize("ends", [[1, 4], None], ids=["rows", "batches"])
def test_the_rows_of_grouped_products_are_aligned(ends: list[int] | None) -> None:
    x, w = torch.randn(4, 8).bfloat16(), torch.randn(2, 15, 8).bfloat16().mT
    x, offs = (x.expand(2, 4, 8), None) if ends is None else (x, torch.tensor(ends, dtype=torch.int32))
    expected = torch._grouped_mm(x, w, offs=offs)
    found = torch._grouped_mm(x.to("jax"), w.to("jax"), offs=None if offs is None else offs.to("jax"))
    assert found.stride() == expected.stride()
    close(found, expected)
