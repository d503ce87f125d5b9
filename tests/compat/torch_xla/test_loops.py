"""Loops of `torch_xla.experimental`: functions that are traced in each call, and their random numbers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch import nn

import tenax
import tenax.compat.torch_xla as torch_xla
from tenax.compat.torch_xla.debug import metrics
from tenax.compat.torch_xla.experimental.custom_kernel import flash_attention
from tenax.compat.torch_xla.experimental.fori_loop import fori_loop, while_loop
from tenax.compat.torch_xla.experimental.scan import scan
from tenax.compat.torch_xla.experimental.scan_layers import scan_layers
from tenax.compat.torch_xla.experimental.splash_attention import SplashAttentionConfig, splash_attention
from tenax.errors import TraceError
from tests.helpers.agreement import close

device = torch.device("jax")


class Block(nn.Module):
    """A layer whose attention has a derivative of its own, and which draws random numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.rest = nn.Sequential(nn.Linear(4, 4), nn.GELU(), nn.Dropout(0.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.rest(self.attention(x, x, x, need_weights=False)[0])


class Drop(nn.Module):
    """Dropout with a parameter, so that there is something to scan over."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.scale * nn.functional.dropout(x, 0.5)


def _compiled(step: Callable[[], Any], lazy: bool) -> list[int]:
    """The number of programs that were compiled by the end of each of five steps."""
    metrics.clear_all()
    counts = []
    with tenax.lazy() if lazy else nullcontext():
        for _ in range(5):
            step()
            torch_xla.sync()
            counts.append(metrics.counter_value("UncachedCompile") or 0)
    return counts


@pytest.mark.parametrize("lazy", [False, True])
def test_a_loop_over_scanned_layers_compiles_no_more_after_its_second_step(lazy: bool) -> None:
    layers = nn.ModuleList(Block() for _ in range(2)).to(device)
    optimizer = torch.optim.AdamW(layers.parameters(), lr=0.1)

    def step() -> None:
        optimizer.zero_grad()
        scan_layers(layers, torch.randn(2, 3, 4, device=device)).square().mean().backward()
        optimizer.step()
        optimizer.param_groups[0]["lr"] *= 0.5

    counts = _compiled(step, lazy)
    assert counts[0] > 0 and counts[1:] == [counts[1]] * 4


@pytest.mark.parametrize("lazy", [False, True])
def test_functions_made_in_each_step_share_programs(lazy: bool) -> None:
    weight = torch.ones(2, device=device)

    def step() -> None:
        nonlocal weight
        weight = weight + 1
        scan(lambda c, x: (c + x * weight, c), torch.zeros(2, device=device), torch.ones(3, 2, device=device))
        fori_loop(0, 3, lambda i, a: a * weight, torch.ones(2, device=device))
        state = torch.tensor(0, device=device), torch.ones(2, device=device)
        while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * weight), state)

    counts = _compiled(step, lazy)
    assert counts[0] > 0 and counts[1:] == [counts[1]] * 4


@pytest.mark.parametrize("lazy", [False, True])
def test_kernels_of_attention_compile_once(lazy: bool) -> None:
    config = SplashAttentionConfig().to_json()
    kept = []

    def step() -> None:
        x = torch.randn(1, 1, 128, 128, device=device)
        kept[:] = flash_attention(x, x, x, causal=True), splash_attention(x, x, x, config)

    counts = _compiled(step, lazy)
    assert counts[0] > 0 and counts[1:] == [counts[1]] * 4


def test_what_a_function_closes_over_may_change() -> None:
    xs = torch.ones(3, 2, device=device)
    tensor = torch.ones(2, device=device)
    for number in (1.0, 0.0, -0.0, 1, True):
        tensor.add_(1)
        found = scan(lambda c, x: (c + x * tensor, torch.full_like(c, 1.0) / number), xs[0], xs)  # noqa: B023
        close(found[0], torch.ones(2) + 3 * tensor.cpu())
        close(found[1], torch.ones(3, 2) / number)


def test_each_iteration_draws_its_own_numbers() -> None:
    def drawn() -> list[torch.Tensor]:
        ones = torch.ones(8, device=device)
        state = torch.tensor(0, device=device), ones, ones
        return [
            scan(lambda c, x: (c, torch.rand_like(c)), ones, torch.ones(2, 8, device=device))[1],
            torch.stack(fori_loop(0, 2, lambda i, a, b: (b, torch.rand_like(a)), ones, ones)),
            torch.stack(while_loop(lambda i, a, b: i < 2, lambda i, a, b: (i + 1, b, torch.rand_like(a)), state)[1:]),
        ]

    torch.manual_seed(0)
    first, second = drawn(), drawn()
    torch.manual_seed(0)
    again = drawn()
    numbers = [x for part in (*first, *second) for x in part.flatten().tolist()]
    assert len(set(numbers)) == len(numbers) == 2 * 3 * 16
    for a, b in zip(first, again, strict=True):
        close(a, b)


def test_each_layer_drops_its_own_elements() -> None:
    layers = nn.ModuleList(Drop() for _ in range(2)).to(device)
    x = torch.ones(4096, device=device, requires_grad=True)
    y = scan_layers(layers, x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    close(gradient, y.detach())  # the backward pass drops what the forward pass dropped
    assert set(y.tolist()) == {0.0, 4.0} and 0.2 < (y > 0).float().mean().item() < 0.3


def test_functions_that_draw_nothing_leave_the_random_stream_alone() -> None:
    before = torch.jax.get_rng_state()
    scan(lambda c, x: (c + x, c), torch.zeros(2, device=device), torch.ones(3, 2, device=device))
    assert torch.equal(torch.jax.get_rng_state(), before)


def test_a_random_operation_in_a_function_marked_as_pure_raises() -> None:
    with pytest.raises(TraceError, match=r"scan: a random operation in a function that is marked as pure.*is_fn_pure"):
        scan(
            lambda c, x: (c, torch.rand_like(c)), torch.ones(2, device=device), torch.ones(3, device=device), None, True
        )
    with pytest.raises(TraceError, match="a random operation in a function that is marked as pure"):
        scan_layers([Drop().to(device)], torch.ones(2, device=device), is_layer_pure=True)


def test_layers_without_parameters_are_applied_in_sequence() -> None:
    x = torch.arange(3.0)
    close(scan_layers([nn.Tanh(), nn.Tanh()], x.to(device)), x.tanh().tanh())


class Pair(torch.nn.Linear):
    def forward(self, pair: Any) -> Any:
        x, scale = pair
        return super().forward(x) * scale, scale


class Apart(torch.nn.Linear):
    def forward(self, x: torch.Tensor, scale: torch.Tensor) -> Any:
        return super().forward(x) * scale, scale


@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("kind", [Pair, Apart])
def test_layers_take_a_tuple_or_its_elements(kind: Any, pure: bool) -> None:
    layers = [kind(3, 3) for _ in range(4)]
    x, scale = torch.randn(2, 3), torch.tensor([1.0, 2.0, 3.0])
    expected = x
    for layer in layers:
        expected = torch.nn.functional.linear(expected, layer.weight, layer.bias) * scale
    found, kept = scan_layers([layer.to(device) for layer in layers], (x.to(device), scale.to(device)), None, pure)
    close(found.detach().cpu(), expected.detach())
    close(kept.cpu(), scale)
