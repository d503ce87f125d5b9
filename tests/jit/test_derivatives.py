"""Second and higher derivatives through functions compiled by `tenax.jit`."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import tenax
from tests.helpers.agreement import close
from tests.helpers.training import both, mlp


def penalized(model: nn.Module, x: torch.Tensor, params: list[nn.Parameter]) -> list[torch.Tensor]:
    """A gradient penalty and its gradients, as a Wasserstein GAN has it."""
    x = x.detach().requires_grad_()
    score = model(x * 1)
    (slope,) = torch.autograd.grad(score.sum(), x, create_graph=True)
    loss = (slope.flatten(1).norm(dim=1) - 1).square().mean() + score.mean()
    return [loss, slope, *torch.autograd.grad(loss, params)]


@pytest.mark.parametrize("kind", ["linear", "convolutional"])
def test_a_gradient_penalty_is_taken_outside_of_a_compiled_module(kind: str) -> None:
    if kind == "linear":
        model, x = mlp(6, 8, 1), torch.randn(4, 6)
    else:
        layers = nn.Conv2d(2, 4, 3), nn.InstanceNorm2d(4, affine=True), nn.SiLU(), nn.Flatten(), nn.Linear(16, 1)
        model = nn.Sequential(*layers).to(memory_format=torch.channels_last)
        x = torch.randn(3, 2, 4, 4)
    model, ours = both(model)
    compiled = tenax.jit(ours)
    for scale in (1, 2):
        expected = penalized(model, x * scale, list(model.parameters()))
        found = penalized(compiled, (x * scale).to("jax"), list(ours.parameters()))
        for a, b in zip(found, expected, strict=True):
            close(a, b)


def test_derivatives_of_a_compiled_function_have_any_order() -> None:
    f = tenax.jit(lambda x, scale: (x.pow(4) * scale).sum())
    x, scale = torch.tensor([1.0, 2.0], device="jax", requires_grad=True), torch.tensor([1.0, 3.0], device="jax")
    derivative = f(x, scale)
    for expected in ([4, 96], [12, 144], [24, 144]):
        (derivative,) = torch.autograd.grad(derivative.sum(), x, create_graph=True)
        assert derivative.tolist() == expected


def test_a_second_derivative_wants_what_forward_read() -> None:
    f = tenax.jit(lambda x, shift: (x + shift).sin().sum())
    x, shift = torch.ones(3, device="jax", requires_grad=True), torch.ones(3, device="jax")
    y = f(x, shift)
    shift.add_(1)
    torch.jax.synchronize()  # until then a write that waits for its executable holds what it reads
    with pytest.raises(RuntimeError, match=r"a second derivative .* was overwritten or let go"):
        torch.autograd.grad(y, x, create_graph=True)
    y = f(x[1:], shift[1:])
    with pytest.raises(RuntimeError, match=r"was overwritten or let go|all of its memory"):
        torch.autograd.grad(y, x, create_graph=True)
    part = torch.ones(4, device="jax")[1:].requires_grad_()
    with pytest.raises(NotImplementedError, match="by a part of a tensor"):
        torch.autograd.grad(f(part, torch.ones(3, device="jax")), part, create_graph=True)
