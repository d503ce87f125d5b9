"""Gradients, losses, rolls and transforms have CPU torch's strides, whatever the layouts of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "contiguous": lambda x: x.contiguous(),
    "channels last": lambda x: x.contiguous(memory_format=torch.channels_last),
    "reversed": lambda x: x.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0),
}
POINTWISE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "hardtanh": F.hardtanh,
    "elu": F.elu,
    "softplus": F.softplus,
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
    "logit": torch.logit,
    "logit of a clamped number": lambda x: torch.logit(x, 1e-3),
    "leaky_relu": F.leaky_relu,
    "logsigmoid": F.logsigmoid,
    "rrelu": F.rrelu,
    "glu": lambda x: F.glu(x, 2),
    "log_softmax": lambda x: x.log_softmax(1),
    "softmax": lambda x: x.softmax(1),
    "roll": lambda x: x.roll(1, 2),
    "roll of two axes": lambda x: x.roll((1, 2), (1, 3)),
    "roll of all elements": lambda x: x.roll(1),
}
LOSSES: dict[str, Callable[..., torch.Tensor]] = {
    "mse": F.mse_loss,
    "l1": F.l1_loss,
    "smooth_l1": F.smooth_l1_loss,
    "huber": F.huber_loss,
    "binary_cross_entropy": F.binary_cross_entropy,
    "binary_cross_entropy_with_logits": F.binary_cross_entropy_with_logits,
}


def _numbers() -> torch.Tensor:
    return torch.rand(2, 3, 4, 5, generator=torch.Generator().manual_seed(0)) * 0.9 + 0.05


def _strides(function: Callable[..., torch.Tensor], *inputs: torch.Tensor, layout: str) -> list[tuple[int, ...]]:
    """The strides of a result and of the gradients of the inputs, for an incoming gradient of a layout."""
    leaves = [x.detach().requires_grad_() for x in inputs]
    result = function(*leaves)
    incoming = torch.ones(result.shape, device=result.device)
    gradients = torch.autograd.grad(result, leaves, LAYOUTS[layout](incoming) if result.dim() else incoming)
    return [t.stride() for t in (result, *gradients)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("of_gradient", LAYOUTS)
@pytest.mark.parametrize("name", POINTWISE)
def test_results_and_gradients_of_one_input(name: str, of_gradient: str) -> None:
    for layout in LAYOUTS.values():
        x = layout(_numbers())
        expected = _strides(POINTWISE[name], x, layout=of_gradient)
        assert _strides(POINTWISE[name], x.to("jax"), layout=of_gradient) == expected, x.stride()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("reduction", ["none", "mean"])
@pytest.mark.parametrize("of_gradient", LAYOUTS)
@pytest.mark.parametrize("name", LOSSES)
def test_losses_and_gradients_of_input_and_target(name: str, of_gradient: str, reduction: str) -> None:
    def loss(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return LOSSES[name](x, y, reduction=reduction)

    for of_input in LAYOUTS.values():
        for of_target in LAYOUTS.values():
            x, y = of_input(_numbers()), of_target(_numbers())
            expected = _strides(loss, x, y, layout=of_gradient)
            assert _strides(loss, x.to("jax"), y.to("jax"), layout=of_gradient) == expected, (x.stride(), y.stride())


DIMS: list[Sequence[int]] = [(0,), (2,), (3,), (2, 3), (3, 1), (0, 1, 2, 3), (3, 0, 2)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"])
def test_transforms(name: str) -> None:
    function: Any = getattr(torch.fft, name)
    for layout in LAYOUTS.values():
        x = layout(_numbers())
        x = x * 1j if name in ("irfftn", "hfftn") else x
        for dims in DIMS:
            for n in (None, 4, 6):
                size = n and [n] * len(dims)
                expected = function(x, s=size, dim=dims).stride()
                assert function(x.to("jax"), s=size, dim=dims).stride() == expected, (x.stride(), dims, n)


def test_an_out_that_a_transform_resizes_is_contiguous() -> None:
    x = LAYOUTS["reversed"](_numbers())
    for function, dtype in ((torch.fft.rfftn, torch.complex64), (torch.fft.irfftn, torch.float32)):
        expected = function(x, out=torch.empty(0, dtype=dtype)).stride()
        assert function(x.to("jax"), out=torch.empty(0, dtype=dtype, device="jax")).stride() == expected
