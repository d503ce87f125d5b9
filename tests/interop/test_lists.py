"""Lists of tensors in pure functions: a tensor and its `detach()` share memory, as they do in eager mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
import torch

from tenax.interop import t2j
from tests.helpers.agreement import close
from tests.helpers.tolerances import ACCUMULATED


def _twice_negated(y: torch.Tensor, d: torch.Tensor) -> None:
    torch._foreach_neg_([d, y])


def _added(y: torch.Tensor, d: torch.Tensor) -> None:
    torch._foreach_add_([y, d], [d, y])


def _scaled(y: torch.Tensor, d: torch.Tensor) -> None:
    torch._foreach_mul_([y, d], [2.0, 3.0])


@pytest.mark.parametrize("write", [_twice_negated, _added, _scaled])
def test_a_list_sees_the_writes_through_detach(write: Callable[..., None]) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x * 1
        write(y, y.detach())
        return y.square().sum()

    x = torch.arange(3.0, requires_grad=True)
    expected = program(x)
    expected.backward()
    value, gradient = jax.jit(jax.value_and_grad(t2j(program)))(jnp.arange(3.0))
    close(torch.tensor(value.tolist()), expected.detach(), ACCUMULATED)
    close(torch.tensor(gradient.tolist()), x.grad, ACCUMULATED)


def _whole_and_part(y: torch.Tensor, d: torch.Tensor) -> None:
    torch._foreach_add_([d, y[:1]], 1)


def _whole_and_nothing(y: torch.Tensor, d: torch.Tensor) -> None:
    torch._foreach_add_([d, y[1:1]], 1)


def _two_parts(y: torch.Tensor, d: torch.Tensor) -> None:
    torch._foreach_add_([d[:1], y[1:2]], 1)


def _two_parts_that_read_each_other(y: torch.Tensor, d: torch.Tensor) -> None:
    torch._foreach_add_([d[:1], y[1:2]], [y[1:2], d[:1]])


WRITES = [_whole_and_part, _whole_and_nothing, _two_parts, _two_parts_that_read_each_other, _twice_negated, _scaled]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("write", WRITES)
def test_parts_of_one_memory_in_a_list_keep_what_each_wrote(write: Callable[..., None], compiled: bool) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x * 1
        write(y, y.detach())
        return y

    x = torch.arange(1.0, 4.0)
    write(x.to("jax") * 1, x.to("jax") * 2)  # the call is known to the fast path
    write(x.to("jax") * 1, x.to("jax") * 2)
    function = t2j(program)
    found = (jax.jit(function) if compiled else function)(jnp.arange(1.0, 4.0))
    assert found.tolist() == program(x).tolist()


@pytest.mark.parametrize("write", [torch.Tensor.zero_, lambda d: d.fill_(2)])
def test_a_filled_detached_tensor_is_an_array_after_its_original_was_written(write: Callable[..., Any]) -> None:
    def program(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x * 1
        d, other = y.detach(), y.detach()
        write(d)
        y.copy_(y)
        return y, d, other

    for function in (t2j(program), jax.jit(t2j(program))):
        assert [r.tolist() for r in function(jnp.ones(3))] == [r.tolist() for r in program(torch.ones(3))]
    (gradient,) = jax.grad(lambda *x: sum(r.sum() for r in t2j(program)(*x)), argnums=(0,))(jnp.ones(3))
    x = torch.ones(3, requires_grad=True)
    program(x)[0].sum().backward()
    assert x.grad is not None and gradient.tolist() == x.grad.tolist()


@pytest.mark.parametrize("size", [(), (2,)])
def test_parts_of_complex_numbers_are_written_after_the_whole(size: tuple[int, ...]) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x * 1
        part = y.detach().imag
        torch._foreach_mul_([y], 2)
        torch._foreach_add_([part], 1)
        y.mul_(2)
        part.add_(1)
        return y

    x = torch.full(size, 2 + 1j)
    for _ in range(2):  # the calls are known to the fast path
        program(x.to("jax"))
        torch._foreach_add_([x.to("jax")], 1)
        x.to("jax").add_(1)
    assert t2j(program)(x.to("jax").jax()).tolist() == program(x).tolist()
