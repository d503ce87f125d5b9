"""Indices that JAX traces, in torch functions: `x[i]` and `x[i] = v` by tensors without axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
import torch

from tenax.errors import TraceError
from tenax.interop import t2j
from tests.helpers.agreement import close
from tests.helpers.arrays import X


def _counted(x: torch.Tensor, i: Any, j: Any) -> torch.Tensor:
    x[i] += 1
    return x


def _swapped(x: torch.Tensor, i: Any, j: Any) -> torch.Tensor:
    x[..., j], x[i, 1:] = x[..., 0] * 2, x[i, :2] + x[i, j]
    return x


INDEXED: dict[str, Callable[[torch.Tensor, Any, Any], torch.Tensor]] = {
    "row": lambda x, i, j: x[i],
    "element": lambda x, i, j: x[i, j],
    "after an ellipsis": lambda x, i, j: x[..., j],
    "beside a slice and a new axis": lambda x, i, j: x[None, i, 1:],
    "beside a list": lambda x, i, j: x[[0, 1, 1], j],
    "written": _counted,
    "written in several places": _swapped,
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", INDEXED)
def test_an_index_may_be_an_array_that_jax_traces(name: str) -> None:
    def f(x: torch.Tensor, i: Any, j: Any) -> torch.Tensor:
        return INDEXED[name](x * 1, i, j)

    for i, j in ((0, 2), (1, -1)):
        x = torch.tensor(X, requires_grad=True)
        expected = f(x, i, j)
        close(jax.jit(t2j(f))(X, i, j), expected.detach())
        expected.square().sum().backward()
        close(jax.jit(jax.grad(lambda x, i, j: (t2j(f)(x, i, j) ** 2).sum()))(X, i, j), x.grad)
        within = t2j(lambda x, i, j: torch.func.grad(lambda x: f(x, i, j).square().sum())(x))
        close(jax.jit(within)(X, i, j), x.grad)
    rows = jax.vmap(t2j(f), (None, 0, None))(X, jnp.array([0, 1]), 1)
    close(rows[1], f(torch.tensor(X), 1, 1))


def test_a_write_to_what_a_traced_index_gave_is_no_write_to_its_base() -> None:
    def f(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        x[i].mul_(2)
        return x

    with pytest.raises(TraceError, match=r"test_indexing.*expected x\[i\] = value"):
        jax.jit(t2j(f))(X, 1)


@pytest.mark.parametrize("use", [lambda y: y, lambda y: y + 1, lambda y: [y[0]]], ids=["given", "read", "a part"])
def test_what_a_traced_index_gave_is_not_used_once_its_base_was_written(use: Callable[[torch.Tensor], Any]) -> None:
    def f(x: torch.Tensor, i: torch.Tensor) -> Any:
        y = x[i]
        x.add_(1)
        return use(y)

    with pytest.raises(TraceError, match=r"x was written since: expected x\[i\] to be read again"):
        jax.jit(t2j(f))(X, 1)
