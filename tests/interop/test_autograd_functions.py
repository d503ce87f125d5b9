"""The backward of a `torch.autograd.Function` is the derivative that JAX takes of a pure function."""

from __future__ import annotations

from typing import Any

import jax
import pytest
import torch

from tenax.interop import t2j
from tests.helpers.agreement import close
from tests.helpers.arrays import X, of_torch

APPLY = torch.autograd.Function.__dict__["apply"]


class Wrong(torch.autograd.Function):
    """Its derivative is not that of its value, so that one can tell which was taken."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, factor: float, y: torch.Tensor) -> Any:
        ctx.save_for_backward(x, x.exp())
        ctx.factor, ctx.mask = factor, x > 0
        return x.square() * y, x.shape[0], (x > 0).long()

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor, *_: Any) -> Any:
        x, e = ctx.saved_tensors
        return g * (ctx.factor * x.sin() * ctx.mask + e), None, None


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(x: torch.Tensor, factor: float = 5.0) -> torch.Tensor:
        return x.exp()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
        ctx.save_for_backward(output)
        ctx.factor = inputs[1]

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> Any:
        (output,) = ctx.saved_tensors
        return g * output * ctx.factor, None


class Telling(torch.autograd.Function):
    """Asks which of its results have a gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> Any:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor | None, h: torch.Tensor | None) -> Any:
        (x,) = ctx.saved_tensors
        return x * (h * 1000 if g is None else g * 100 if h is None else g * 2 + h * 3)


def wrong(x: torch.Tensor) -> torch.Tensor:
    return Wrong.apply(x.sin(), 7.0, x.detach())[0] * 2


def scaled(x: torch.Tensor) -> torch.Tensor:
    return Scaled.apply(x * 0.5).square()


def telling(x: torch.Tensor) -> torch.Tensor:
    return Telling.apply(x)[0] + Telling.apply(x)[1] + sum(Telling.apply(x))


@pytest.mark.parametrize("function", [wrong, scaled, telling])
def test_the_backward_of_an_autograd_function_is_what_jax_uses(function: Any) -> None:
    value, (grad,) = of_torch(function, X)
    f = t2j(function)
    close(jax.jit(f)(X), value)
    for gradient in (jax.grad(lambda x: f(x).sum()), jax.jit(jax.grad(lambda x: f(x).sum()))):
        close(gradient(X), grad)
    close(jax.vmap(jax.grad(lambda x: f(x).sum()))(X), grad)
    close(jax.grad(lambda x: jax.checkpoint(f)(x).sum())(X), grad)

    def twice(x: torch.Tensor) -> torch.Tensor:
        y = x if x.requires_grad else x.requires_grad_()
        return torch.autograd.grad(function(y).sum(), y, create_graph=True)[0]

    value, (grad,) = of_torch(twice, X)
    close(jax.jit(t2j(twice))(X), value)  # by torch's autograd within
    close(jax.grad(lambda x: t2j(twice)(x).sum())(X), grad)
    close(jax.grad(lambda x: jax.grad(lambda y: f(y).sum())(x).sum())(X), grad)


def test_an_autograd_function_outside_a_trace_is_torchs_own() -> None:
    assert torch.autograd.Function.__dict__["apply"] is APPLY
    close(t2j(wrong)(X), of_torch(wrong, X)[0])


def test_an_autograd_function_that_writes_its_argument_is_refused() -> None:
    class Writes(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            return g

    with pytest.raises(NotImplementedError, match="Writes: marks an argument dirty"):
        jax.jit(t2j(lambda x: Writes.apply(x.clone())))(X)
