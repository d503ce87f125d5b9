"""`x[mask]` in functions that are traced: elementwise operations on its rows, and writing them back."""

from __future__ import annotations

from collections.abc import Callable

import jax
import numpy as np
import pytest
import torch

import tenax
from tenax.errors import TraceError
from tenax.interop import t2j
from tests.helpers.agreement import close

Tensor = torch.Tensor
X = torch.tensor([[0.5, -1.0, 2.0], [-0.5, 0.0, 1.0], [0.05, 3.0, -4.0], [1.5, -2.0, 0.25]])
V = torch.tensor(1.5)


def _scaled(x: Tensor, v: Tensor) -> Tensor:
    x[x > 0] *= v
    x[x[:, 0] < 0.1, 0] *= -1
    x[..., x[0] > 0] += torch.arange(2.0, 6.0, device=x.device)[:, None]
    x[x[:, 0] < 0.1] /= torch.arange(1.0, 4.0, device=x.device)
    x[None, x > 1, None] **= 2
    return x


def _computed(x: Tensor, v: Tensor) -> Tensor:
    mask = x > 0
    x[mask] = torch.where(x[mask] > 1, x[mask].clamp(max=2).sqrt(), x[mask] + v)
    rows = x[mask]
    mask[0] = False  # the rows keep their places
    x[x > 0] = rows - v
    return x


def _of_another(x: Tensor, v: Tensor) -> Tensor:
    ordered = torch.zeros_like(x)
    ordered[x.flip(0) > 0] = x[x > 0].log()
    return ordered


def _of_integers(x: Tensor, v: Tensor) -> Tensor:
    n, m = (x * 4).long(), (x * 4).long()
    mask = m != 0
    n[mask] //= m[mask]  # not divided by the zeros elsewhere
    flags = n > 0
    flags[n > 1] ^= True
    return n + flags


FUNCTIONS = [_scaled, _computed, _of_another, _of_integers]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_rows_of_a_mask_are_computed_and_written_back(f: Callable[[Tensor, Tensor], Tensor]) -> None:
    expected = f(X.clone(), V)
    close(tenax.jit(lambda x, v: f(x.clone(), v))(X.to("jax"), V.to("jax")), expected)
    pure = jax.jit(t2j(lambda x, v: f(x.clone(), v)))
    close(torch.from_numpy(np.array(pure(X.numpy(), V.numpy()))), expected)


def _loss(x: Tensor, v: Tensor) -> Tensor:
    y = x.clone()
    mask = x > 0
    y[mask] = x[mask].log() * v / x[mask].sqrt()  # infinite and NaN where the mask is false
    return y.sum()


def test_gradients_do_not_come_from_where_the_mask_is_false() -> None:
    def gradients(x: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        x, v = x.detach().requires_grad_(), v.detach().requires_grad_()
        return torch.autograd.grad(_loss(x, v), (x, v))

    expected = gradients(X, V)
    close(tenax.jit(gradients)(X.to("jax"), V.to("jax")), expected)
    found = jax.grad(t2j(_loss), (0, 1))(X.numpy(), V.numpy())
    close(tuple(torch.from_numpy(np.array(g)) for g in found), expected)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x[x > 0],
        lambda x: x[x > 0].shape,
        lambda x: len(x[x > 0] * 2),
        lambda x: x[x > 0].cumsum(0),
        lambda x: x[x[:, 0] > 0].softmax(0),
        lambda x: x[x > 0] + x[x < 0],
        lambda x: x[x > 0] + torch.ones(8, device=x.device),
        lambda x: torch.rand_like(x[x > 0]),
        lambda x: torch.zeros(1, device=x.device).add_(x[x > 0]),
        lambda x: torch.mul(input=x[x > 0], other=2, out=torch.zeros(1, device=x.device)),
    ],
)
def test_another_use_of_the_rows_raises(f: Callable[[Tensor], object]) -> None:
    for function, x in ((tenax.jit(f), X.to("jax")), (jax.jit(t2j(f)), X.numpy())):
        with pytest.raises(TraceError, match="the result's shape depends on data"):
            function(x)


def test_rows_of_masks_with_unequal_counts_raise() -> None:
    def f(x: Tensor) -> Tensor:
        x[x < 0] = x[x > 0]
        return x

    with pytest.raises(RuntimeError, match="shape mismatch"):
        tenax.jit(f)(X.to("jax")).cpu()
