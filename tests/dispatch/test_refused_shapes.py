"""Axes, ranks, sizes, options and mixed dtypes that CPU torch refuses are refused in its words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

import tenax
from tenax.dispatch import host_errors
from tests.helpers.agreement import close

CALLS = """
x.softmax(5) | x.softmax(2, torch.float64) | F.softmin(x, 2) | x.log_softmax(-3) | x[0, 0].softmax(1) | x.amax(5)
x.sum((0, 0)) | x.logsumexp((0, 2)) | x[:, 0].index_select(0, i[None]) | x.index_reduce(0, i[None], x[:2], "mean")
x.index_reduce(0, i, x[:2], "median") | x.index_add(0, i, x[:2].double())
x.index_copy(0, i, x[:2].half()) | x.put(i, x[0, :2].half()) | x.select_scatter(x[0, :1], 0, 0)
x.select_scatter(x[:, 0], 0, 0) | x.slice_scatter(x[:1], 0, 0, 2) | x.diagonal_scatter(x[0, :2])
F.batch_norm(x, None, x[0], training=True) | F.celu(x, 0.0)
x[:, :0].kthvalue(1) | F.conv1d(x[None], x.T[:0, :, None]) | F.conv1d(x[None], x[:2, :2, None], groups=4)
torch.searchsorted(x[0], x, side="bad") | torch.searchsorted(x[0], x, side="left", right=True)
torch.linalg.lstsq(x, x, driver="bad") | torch.linalg.lstsq(x, x[:2]) | torch.histogram(x, x[:2, :2])
"""


@pytest.mark.parametrize("call", [call.strip() for call in CALLS.replace("\n", " | ").split(" | ") if call.strip()])
def test_what_cpu_torch_refuses_is_refused_in_its_words(call: str) -> None:
    def called(x: torch.Tensor, i: torch.Tensor) -> object:
        return eval(call, {"torch": torch, "F": F, "x": x, "i": i})

    x, i = torch.arange(12.0).reshape(4, 3), torch.tensor([0, 1])
    with pytest.raises(Exception) as expected:  # noqa: PT011 (the type is compared below)
        called(x, i)
    for run in (called, tenax.jit(called)):
        with pytest.raises(expected.type) as found:
            run(x.to("jax"), i.to("jax"))
        assert found.type is expected.type
    with pytest.raises(expected.type) as found:
        called(x.to("jax"), i.to("jax"))
    assert str(found.value).splitlines()[0] == str(expected.value).splitlines()[0]


@pytest.fixture
def converted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the tensors that the CPU kernel was called with, to decide about a call."""
    sizes: list[int] = []
    plain = host_errors._to_host

    def to_host(values: Sequence[object], blank: bool) -> list[object]:
        sizes.extend(t.numel() for t in host_errors._tensors(values))
        return plain(values, blank)

    monkeypatch.setattr(host_errors, "_to_host", to_host)
    return sizes


def test_an_operator_without_a_meta_kernel_is_not_executed_on_the_host_at_its_size(converted: list[int]) -> None:
    x = torch.nn.Parameter(torch.zeros(300, 301, device="jax"))
    x.grad = torch.ones_like(x)
    torch.optim.SGD([x], lr=0.1, momentum=0.9, fused=True).step()
    assert converted and max(converted) < 10_000


def test_an_operator_whose_meta_kernel_rejects_a_dtype_is_not_executed_on_the_host_at_its_size(
    converted: list[int],
) -> None:
    x, w = torch.randn(64, 320).round(), torch.randn(4, 63, 320).mT.round()
    ends = torch.tensor([1, 2, 3, 64], dtype=torch.int32)
    expected = torch._grouped_mm(x, w, offs=ends)
    found = torch._grouped_mm(x.to("jax"), w.to("jax"), offs=ends.to("jax"))
    assert max(converted, default=0) < 10_000  # torch 2.15 has a Meta kernel for it
    assert found.stride() == expected.stride()
    close(found, expected)
