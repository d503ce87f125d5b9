"""Lazy conjugation and negation of what graphs of torch.compile get and give, and of the gradients that come in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def numbers(device: str) -> torch.Tensor:
    return torch.tensor([1 + 2j, 3 - 1j], device=device)


def parts(h: torch.Tensor) -> Any:
    return (h + 1j).conj(), h.real * 1, h.imag * 2


def written(h: torch.Tensor) -> Any:
    h.mul_(2j)
    return h + 1


def negated(h: torch.Tensor) -> Any:
    return h.conj().imag, (h * 2).conj().imag


def of_imaginary_parts(h: torch.Tensor) -> Any:
    return h.imag * 2, h.imag


@pytest.mark.parametrize("function", [parts, written, negated, of_imaginary_parts])
def test_graphs_see_the_bits_of_their_inputs(function: Callable[[torch.Tensor], Any]) -> None:
    def outcome(device: str, f: Callable[[torch.Tensor], Any]) -> list[Any]:
        found = []
        for change in (lambda x: x, torch.conj, torch.conj, lambda x: x):
            h = change(numbers(device))
            results = f(h)
            results = results if isinstance(results, tuple) else (results,)
            found.append([(x.is_conj(), x.is_neg(), x.tolist()) for x in (h, *results)])
        return found

    assert outcome("jax", torch.compile(function, backend="tenax")) == outcome("cpu", function)


def test_an_incoming_gradient_may_be_conjugated_in_any_call() -> None:
    """The bit of a gradient in a later call was ignored."""

    def gradients(device: str, f: Callable[[torch.Tensor], torch.Tensor]) -> list[Any]:
        found = []
        for i in range(4):
            x = numbers(device).requires_grad_()
            incoming = numbers(device) * 1j
            f(x).backward(incoming.conj() if i % 2 else incoming)
            assert x.grad is not None
            found.append(x.grad.tolist())
        return found

    def square(x: torch.Tensor) -> torch.Tensor:
        return x * x

    assert gradients("jax", torch.compile(square, backend="tenax")) == gradients("cpu", square)
