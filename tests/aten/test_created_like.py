"""Tensors created like a tensor of the device, on the device that the call names."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import tenax

Create = Callable[[torch.Tensor, str], torch.Tensor]
FILLED: dict[str, Create] = {
    "new_zeros": lambda x, device: x.new_zeros(2, 3, device=device),
    "new_ones": lambda x, device: x.new_ones(4, device=device, dtype=torch.int32),
    "new_full": lambda x, device: x.new_full((2,), 3, device=device),
    "new_tensor": lambda x, device: x.new_tensor([1.0], device=device),
    "zeros_like": lambda x, device: torch.zeros_like(x, device=device),
    "ones_like": lambda x, device: torch.ones_like(x, device=device, memory_format=torch.contiguous_format),
    "full_like": lambda x, device: torch.full_like(x, 2, device=device, dtype=torch.float64),
}
EMPTY: dict[str, Create] = {
    "new_empty": lambda x, device: x.new_empty((2, 3), device=device),
    "new_empty_strided": lambda x, device: x.new_empty_strided((2, 3), (1, 2), device=device),
    "empty_like": lambda x, device: torch.empty_like(x, device=device),
}
DRAWN: dict[str, Create] = {
    "rand_like": lambda x, device: torch.rand_like(x, device=device),
    "randn_like": lambda x, device: torch.randn_like(x, device=device, dtype=torch.float64),
    "randint_like": lambda x, device: torch.randint_like(x, 5, device=device),
    "randint_like from": lambda x, device: torch.randint_like(x, 2, 9, device=device),
}


def source(device: str) -> torch.Tensor:
    return torch.arange(6.0).reshape(2, 3).t().to(device)


def geometry(x: torch.Tensor) -> tuple[object, ...]:
    return x.device, x.dtype, x.shape, x.stride()


@pytest.mark.parametrize("device", ["cpu", "meta", "jax:1"])
@pytest.mark.parametrize("name", [*FILLED, *EMPTY, *DRAWN])
def test_the_named_device_has_the_new_tensor(name: str, device: str) -> None:
    create = (FILLED | EMPTY | DRAWN)[name]
    assert geometry(create(source("jax"), device)) == geometry(create(source("cpu"), device))


@pytest.mark.parametrize("name", [*FILLED, *DRAWN])
def test_its_values_are_those_of_the_named_device(name: str) -> None:
    create = (FILLED | DRAWN)[name]
    torch.manual_seed(0)
    found = create(source("jax"), "cpu")
    torch.manual_seed(0)
    assert torch.equal(found, create(source("cpu"), "cpu"))


def test_a_compiled_function_creates_a_constant_of_the_host() -> None:
    double = tenax.jit(lambda x: (x * 2, torch.ones_like(x, device="cpu")))
    for _ in range(2):
        assert torch.equal(double(source("jax"))[1], torch.ones(3, 2))


@pytest.mark.parametrize("create", [torch.clone, torch.zeros_like, torch.empty_like, torch.Tensor.double])
def test_strides_of_axes_of_one_element_are_kept(create: Callable[[torch.Tensor], torch.Tensor]) -> None:
    for size, stride in [((1, 1, 10), (1, 1, 1)), ((1, 4), (1, 1)), ((2, 1, 3), (3, 50, 1)), ((0, 3), (1, 1))]:
        expected = create(torch.empty_strided(size, stride))
        assert create(torch.empty_strided(size, stride, device="jax")).stride() == expected.stride()
    x = torch.arange(4.0).reshape(4, 1).t()
    assert x.to("jax").clone(memory_format=torch.contiguous_format).stride() == (4, 1)
