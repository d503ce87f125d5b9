"""Operators whose result shapes depend on data: computed by NumPy in host memory, and by XLA elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch.utils import _pytree as pytree

import tenax  # noqa: F401
from tenax.aten import index_masks
from tenax.dispatch import host_arrays
from tenax.kernels import host
from tenax.kernels.nms import nms
from tests.helpers.agreement import close

pytestmark = pytest.mark.gpu

DTYPES = [torch.float32, torch.bfloat16, torch.int64, torch.uint8, torch.bool]
VIEWS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "whole": lambda x: x,
    "transposed": lambda x: x.transpose(0, -1),
    "offset": lambda x: x[1:],
    "with gaps": lambda x: x[..., ::2],
    "expanded": lambda x: x.expand(3, *x.shape),
}


def put(x: torch.Tensor, mask: torch.Tensor, values: Any) -> torch.Tensor:
    """A clone of `x` after `x[mask] = values`."""
    x = x.clone()
    x[mask] = values
    return x


def add(x: torch.Tensor, mask: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """`x` with values added where a mask is true."""
    return x.index_put((mask,), values, accumulate=True)


CALLS: dict[str, Callable[..., Any]] = {
    "nonzero": lambda x, m, r: x.nonzero(),
    "masked_select": lambda x, m, r: x.masked_select(m.reshape(*m.shape, *[1] * (x.dim() - m.dim()))),
    "read": lambda x, m, r: x[m],
    "read by bytes": lambda x, m, r: x[m.to(torch.uint8)],
    "read behind an axis": lambda x, m, r: torch.stack([x, x])[:, m],
    "write rows": lambda x, m, r: put(x, m, r),
    "write a number": lambda x, m, r: put(x, m, 1),
    "write a tensor of one element": lambda x, m, r: put(x, m, torch.ones(1, 1, dtype=x.dtype, device=x.device)),
    "write one row": lambda x, m, r: put(x, m, x[0].reshape(-1)[: x[m].shape[-1] if x.dim() > m.dim() else 1]),
    "write too many rows": lambda x, m, r: put(x, m, x.new_zeros(19, *x.shape[m.dim() :])),
    "index_put": lambda x, m, r: x.index_put((m,), r.flip(0)),
    "index_put of a number": lambda x, m, r: x.index_put((m,), torch.ones((), dtype=x.dtype, device=x.device)),
    "accumulate": add,
    "unique": lambda x, m, r: torch.unique(x, return_inverse=True, return_counts=True),
    "unique slices": lambda x, m, r: torch.unique(x, dim=0, return_inverse=True, return_counts=True),
    "runs": lambda x, m, r: torch.unique_consecutive(x, return_inverse=True, return_counts=True),
    "runs of slices": lambda x, m, r: torch.unique_consecutive(x, dim=-1, return_counts=True),
}


def outcome(call: Callable[..., Any], *args: Any) -> Any:
    """The results of a call with their strides, or its error."""
    try:
        return [(t.cpu(), t.stride()) for t in pytree.tree_leaves(call(*args))]
    except Exception as error:
        return type(error), str(error)


def assert_same(call: Callable[..., Any], *args: torch.Tensor) -> None:
    found, expected = outcome(call, *(x.to("jax") for x in args)), outcome(call, *args)
    if isinstance(expected, tuple):
        assert found == expected
        return
    assert [stride for _, stride in found] == [stride for _, stride in expected]
    for (a, _), (b, _) in zip(found, expected, strict=True):
        assert a.dtype == b.dtype and torch.equal(a.isnan(), b.isnan()) and torch.equal(a[~a.isnan()], b[~b.isnan()])


@pytest.fixture(params=["in host memory", "by XLA"])
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether NumPy computes the operators, or XLA as on an accelerator."""
    if request.param == "by XLA":
        for module in (host_arrays, index_masks):
            monkeypatch.setattr(module, "are_on_host", lambda values: False)
    return request.param


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
@pytest.mark.sampled(5)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("view", VIEWS)
def test_the_cpu_agrees(where: str, call: str, view: str) -> None:
    generator = torch.Generator().manual_seed(3)
    for dtype in DTYPES if where == "in host memory" else DTYPES[:3:2]:
        x = VIEWS[view](torch.randint(0, 3, (4, 3, 4), generator=generator).to(dtype))
        for axes in (1, 2):
            mask = torch.rand(x.shape[:axes], generator=generator) > 0.4
            mask.view(-1)[0] = True
            assert_same(CALLS[call], x, mask, x[mask])


VECTORS: dict[str, Callable[..., Any]] = {
    "bincount": lambda n, w: torch.bincount(n),
    "bincount of a length": lambda n, w: torch.bincount(n, minlength=9),
    "bincount of weights": lambda n, w: torch.bincount(n, w),
    "bincount of wide weights": lambda n, w: torch.bincount(n, w.double()),
    "bincount of negative numbers": lambda n, w: torch.bincount(n - 2),
    "bincount of a matrix": lambda n, w: torch.bincount(n[None]),
    "repeat_interleave": lambda n, w: torch.repeat_interleave(n),
    "repeat_interleave of rows": lambda n, w: torch.repeat_interleave(w, n),
    "repeat_interleave of negative numbers": lambda n, w: torch.repeat_interleave(n - 2),
    "no elements": lambda n, w: (
        n[:0].unique(),
        n[:0].nonzero(),
        torch.bincount(n[:0]),
        torch.repeat_interleave(n[:0]),
    ),
    "single numbers": lambda n, w: (n[0].nonzero(), n[1].nonzero(), n[1].unique(return_counts=True)),
    "unique with NaNs": lambda n, w: torch.unique(w / n * 0, return_inverse=True, return_counts=True),
    "runs with NaNs": lambda n, w: torch.unique_consecutive(w / n * 0, return_counts=True),
    "no indices": lambda n, w: torch.ops.aten.index.Tensor(w, []),
    "a mask of another length": lambda n, w: w[n[1:] > 0],
    "a mask of too many axes": lambda n, w: w[n[None] > 0],
}


@pytest.mark.parametrize("call", VECTORS)
def test_vectors_agree_with_the_cpu(where: str, call: str) -> None:
    assert_same(VECTORS[call], torch.tensor([0, 2, 5, 0, 2, 1]), torch.linspace(-1, 1, 6))


def test_the_gradient_of_a_masked_read_and_write(where: str) -> None:
    def gradients(x: torch.Tensor, rows: torch.Tensor) -> tuple[torch.Tensor, ...]:
        mask = x > 0
        x, rows = x.detach().requires_grad_(), rows.detach().requires_grad_()
        y = x * 2
        y[mask] = rows[: int(mask.sum())]
        return torch.autograd.grad((y[~mask] ** 2).sum() + y.sin().sum(), (x, rows))

    generator = torch.Generator().manual_seed(0)
    x, rows = torch.randn(5, 4, generator=generator), torch.randn(20, generator=generator)
    for found, expected in zip(gradients(x.to("jax"), rows.to("jax")), gradients(x, rows), strict=True):
        close(found, expected)


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.9])
def test_boxes_are_suppressed_the_same_way_on_the_host(threshold: float) -> None:
    rng = np.random.default_rng(0)
    corner, sides = rng.random((60, 2), np.float32) * 9, rng.random((60, 2), np.float32) * 5
    boxes, scores = np.concatenate([corner, corner + sides], 1), rng.integers(0, 20, 60).astype(np.float32)
    with jax.enable_x64(True):
        expected = nms(jnp.asarray(boxes), jnp.asarray(scores), np.float64(threshold)).tolist()
    assert host.nms(boxes, scores, threshold).tolist() == expected


def test_a_new_number_of_results_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenax.dispatch.dispatcher.compiles_ahead", lambda: False)
    x = torch.arange(40.0).to("jax")

    def read(mask: torch.Tensor) -> None:
        y = x.clone()
        y[mask] = x[mask]
        y[mask] = 3
        for result in (y, mask.nonzero(), x.masked_select(mask), torch.unique(x[mask]), torch.unique_consecutive(mask)):
            result.cpu()

    def refuse(*args: Any) -> Any:
        raise AssertionError(f"a program for {args}")

    masks = [(torch.arange(40) > k).to("jax") for k in range(4, 12)]
    read(masks[0])
    monkeypatch.setattr("tenax.dispatch.dispatcher.build_executable", refuse)
    for kernel in ("nonzero", "masked_select"):
        monkeypatch.setattr(f"tenax.kernels.indexing.{kernel}", refuse)
    for kernel in ("_unique2", "unique_consecutive"):
        monkeypatch.setattr(f"tenax.kernels.unique.{kernel}", refuse)
    for mask in masks:
        read(mask)


def test_results_hold_their_own_memory() -> None:
    x = torch.arange(6.0).to("jax")
    taken = x[torch.ones(6, dtype=torch.bool, device="jax")]
    x.zero_()
    assert taken.tolist() == [0, 1, 2, 3, 4, 5]
