"""Autocast regions around the rest of torch: decorators, custom functions, backward, checkpoints, threads."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from tests.helpers.agreement import close
from tests.helpers.tolerances import IN_BFLOAT16

BFLOAT, SINGLE = torch.bfloat16, torch.float32
DEVICES = ["jax", "cpu"]


def ones(device: str, dtype: torch.dtype = SINGLE) -> torch.Tensor:
    return torch.ones(2, 2, dtype=dtype, device=device)


def test_the_region_is_seen_from_python() -> None:
    assert not torch.is_autocast_enabled("jax")
    with torch.autocast("jax", BFLOAT):
        assert torch.is_autocast_enabled("jax") and torch.get_autocast_dtype("jax") is BFLOAT
        assert not torch.is_autocast_enabled("cpu")
        with torch.autocast("jax", enabled=False):
            assert not torch.is_autocast_enabled("jax")
        assert torch.is_autocast_enabled("jax")
    assert not torch.is_autocast_enabled("jax")


def test_the_dtype_of_a_region_is_float16_unless_said_otherwise() -> None:
    with torch.autocast("jax"):
        assert (ones("jax") @ ones("jax")).dtype == torch.float16


def test_a_dtype_that_autocast_does_not_have_disables_it() -> None:
    with pytest.warns(UserWarning, match="target dtype is not supported. Disabling autocast"):
        made = torch.autocast("jax", torch.float64)
    with made:
        assert (ones("jax") @ ones("jax")).dtype == SINGLE


def test_an_exception_leaves_the_region_as_it_was() -> None:
    with torch.autocast("jax", BFLOAT):
        with pytest.raises(RuntimeError):
            torch.mm(ones("jax"), torch.ones(3, 3, device="jax"))
        assert (ones("jax") @ ones("jax")).dtype == BFLOAT
        assert ones("jax", BFLOAT).exp().dtype == SINGLE


def test_a_decorated_function_is_a_region() -> None:
    @torch.autocast("jax", BFLOAT)
    def product(x: torch.Tensor) -> torch.Tensor:
        return x @ x

    assert product(ones("jax")).dtype == BFLOAT
    assert (ones("jax") @ ones("jax")).dtype == SINGLE


def test_a_region_of_another_device_does_not_reach_this_one() -> None:
    with torch.autocast("cpu", BFLOAT):
        assert (ones("jax") @ ones("jax")).dtype == SINGLE
    with torch.autocast("jax", BFLOAT):
        assert (ones("cpu") @ ones("cpu")).dtype == SINGLE


def test_a_thread_has_a_region_of_its_own() -> None:
    seen = []
    with torch.autocast("jax", BFLOAT):
        thread = threading.Thread(target=lambda: seen.append((ones("jax") @ ones("jax")).dtype))
        thread.start()
        thread.join()
    assert seen == [SINGLE]


def custom(device: str, cast_inputs: torch.dtype | None) -> tuple[type[torch.autograd.Function], list[Any]]:
    """A function that notes the dtypes and the region that its two halves see."""
    seen: list[Any] = []

    class Product(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type=device, cast_inputs=cast_inputs)
        def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x, y)
            seen.append((x.dtype, torch.is_autocast_enabled(device), (x @ y).dtype))
            return x @ y

        @staticmethod
        @torch.amp.custom_bwd(device_type=device)
        def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            x, y = ctx.saved_tensors
            seen.append((grad.dtype, torch.is_autocast_enabled(device), (grad.float() @ y.float()).dtype))
            return grad @ y.t().to(grad.dtype), x.t().to(grad.dtype) @ grad

    return Product, seen


@pytest.mark.parametrize("cast_inputs", [None, SINGLE])
@pytest.mark.parametrize("enabled", [True, False])
def test_a_custom_function_runs_in_the_region_of_its_forward(cast_inputs: torch.dtype | None, enabled: bool) -> None:
    found = []
    for device in DEVICES:
        function, seen = custom(device, cast_inputs)
        x = ones(device, BFLOAT if enabled else SINGLE).requires_grad_()
        with torch.autocast(device, BFLOAT, enabled=enabled):
            y = function.apply(x, x)
        y.sum().backward()
        found.append((seen, y.dtype, x.grad.dtype, x.grad.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("inside", [True, False])
def test_backward_gives_the_gradients_of_the_cpu_inside_and_outside_the_region(inside: bool) -> None:
    found = []
    for device in DEVICES:
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 1))
        x = torch.randn(5, 3)
        net.to(device)
        with torch.autocast(device, BFLOAT):
            loss = net(x.to(device)).float().pow(2).mean()
            if inside:
                loss.backward()
        if not inside:
            loss.backward()
        found.append([p.grad.cpu() for p in net.parameters()])
    assert all(g.dtype == SINGLE for g in found[0])
    close(found[0], found[1], IN_BFLOAT16)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_a_checkpoint_is_computed_again_in_its_region(use_reentrant: bool) -> None:
    seen = []
    w = nn.Parameter(ones("jax"))

    def part(x: torch.Tensor) -> torch.Tensor:
        seen.append((torch.get_autocast_dtype("jax"), torch.is_autocast_enabled("jax")))
        return (x @ w).sin()

    x = ones("jax").requires_grad_()
    with torch.autocast("jax", BFLOAT):
        y = checkpoint(part, x, use_reentrant=use_reentrant)
    y.sum().backward()
    assert seen == [(BFLOAT, True)] * 2
    assert w.grad.dtype == x.grad.dtype == SINGLE
    expected = torch.full((2, 2), 2.0).cos() * 2
    close(w.grad, expected, IN_BFLOAT16)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("make", [nn.LSTM, nn.GRU, nn.RNN])
def test_a_packed_recurrent_network_computes_in_the_lower_precision(make: type[nn.Module]) -> None:
    net = make(3, 4).to("jax")
    packed = nn.utils.rnn.pack_sequence([torch.ones(2, 3), torch.ones(1, 3)]).to("jax")
    with torch.autocast("jax", BFLOAT):
        out = net(packed)[0].data
    assert out.dtype == BFLOAT
    out.float().sum().backward()
    assert {p.grad.dtype for p in net.parameters()} == {SINGLE}
