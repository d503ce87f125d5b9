"""`torch.istft` reads a value only to refuse a window, so a traced function computes it without reading."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import pytest
import torch

import tenax
from tests.helpers.agreement import close
from tests.helpers.tolerances import COMPOSED

SIGNAL = torch.sin(torch.arange(400.0) ** 1.3)
WINDOW = torch.hann_window(64)


def spectrum(signal: torch.Tensor) -> torch.Tensor:
    return torch.stft(signal, 64, 16, window=WINDOW.to(signal.device), return_complex=True)


def inverse(x: torch.Tensor, window: torch.Tensor) -> torch.Tensor:
    return torch.istft(x, 64, 16, window=window)


def inverse_by_method(x: torch.Tensor, window: torch.Tensor) -> torch.Tensor:
    return x.istft(64, 16, window=window, length=400)


def inverse_of_a_made_window(x: torch.Tensor, window: torch.Tensor) -> torch.Tensor:
    return torch.istft(x[None], 64, 16, window=torch.hann_window(64, device=x.device))


def gradient(x: torch.Tensor, window: torch.Tensor) -> torch.Tensor:
    x = x.detach().requires_grad_()
    (found,) = torch.autograd.grad(inverse(x, window).square().sum(), x)
    return found


FUNCTIONS = [inverse, inverse_by_method, inverse_of_a_made_window, gradient]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("traced", [tenax.jit, tenax.t2j, lambda f: jax.jit(tenax.t2j(f))], ids=["jit", "t2j", "jax"])
def test_istft_is_computed_in_a_trace(function: Callable[..., torch.Tensor], traced: Callable[..., Any]) -> None:
    x = spectrum(SIGNAL)
    arguments = [x.to("jax"), WINDOW.to("jax")]
    found = traced(function)(*(arguments if traced is tenax.jit else [a.jax() for a in arguments]))
    found = found if isinstance(found, torch.Tensor) else tenax.j2t(found)
    close(found.cpu(), function(x, WINDOW), COMPOSED)


def test_a_window_that_does_not_overlap_is_reported_when_the_program_has_run() -> None:
    x, window = spectrum(SIGNAL).to("jax"), torch.zeros(64, device="jax")
    with pytest.raises(RuntimeError, match="window overlap add min: 1"):
        inverse(x, window)
    tenax.jit(inverse)(x, window)
    with pytest.raises(RuntimeError, match="window overlap add min: 1"):
        torch.jax.synchronize()
