"""`as_strided_scatter` and `copy` return a copy of the memory of their operand, as CPU torch does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.helpers.agreement import close

Tensor = torch.Tensor

OPERANDS: dict[str, Callable[[Tensor], Tensor]] = {
    "whole": lambda x: x,
    "transposed": lambda x: x.t(),
    "a part": lambda x: x[1:3, ::2],
    "expanded": lambda x: x[:1].expand(4, 6),
    "conjugate": lambda x: x.to(torch.complex64).conj(),
}


@pytest.mark.parametrize("offset", [None, 3])
@pytest.mark.parametrize("operand", OPERANDS.values(), ids=OPERANDS)
def test_the_window_lies_in_the_memory_of_the_operand(operand: Callable[[Tensor], Tensor], offset: int | None) -> None:
    results = []
    for device in ("cpu", "jax"):
        x = operand(torch.arange(24.0, device=device).reshape(4, 6))
        source = torch.full((2, 2), -1, dtype=x.dtype, device=device)
        results.append(torch.as_strided_scatter(x, source, (2, 2), (5, 1), offset))
    _lie_alike(*results)


def _lie_alike(expected: Tensor, found: Tensor) -> None:
    close(found.cpu().resolve_conj(), expected.resolve_conj())
    assert found.stride() == expected.stride()
    assert found.storage_offset() == expected.storage_offset()
    assert found.untyped_storage().nbytes() == expected.untyped_storage().nbytes()


@pytest.mark.parametrize("operand", OPERANDS.values(), ids=OPERANDS)
def test_a_functional_copy_lies_in_a_copy_of_the_memory(operand: Callable[[Tensor], Tensor]) -> None:
    copies = []
    for device in ("cpu", "jax"):
        x = operand(torch.arange(24.0, device=device).reshape(4, 6))
        source = torch.full(x.shape[1:], -1, device=device)
        copies.append((torch.ops.aten.copy(x, source), *torch.ops.aten._foreach_copy([x], [source.expand(x.shape)])))
    for expected, found in zip(*copies, strict=True):
        _lie_alike(expected, found)


def test_a_compiled_program_takes_a_view_of_memory_that_it_copied_into() -> None:
    def program(x: Tensor, y: Tensor) -> Tensor:
        x.copy_(y)
        return x.as_strided((2, 1), (1, 1), 1)

    x = torch.arange(9.0, device="jax").as_strided((2, 1), (1, 1), 1)
    found = torch.compile(program, backend="tenax")(x, torch.ones(2, 1, device="jax"))
    assert found.tolist() == [[1], [1]]
    assert found.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


def test_out_takes_the_result() -> None:
    x = torch.arange(6.0, device="jax").reshape(2, 3).t()
    out = torch.empty(0, device="jax")
    torch.ops.aten.as_strided_scatter.out(x, x.new_zeros(2), [2], [1], None, out=out)
    close(out.cpu(), torch.as_strided_scatter(x.cpu(), torch.zeros(2), (2,), (1,)))


def test_a_window_that_repeats_a_place_is_refused() -> None:
    for device in ("cpu", "jax"):
        x = torch.arange(3.0, device=device)
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single"):
            torch.as_strided_scatter(x, torch.ones(3, 3, device=device), (3, 3), (0, 1))


def test_a_window_beyond_the_memory_is_refused() -> None:
    for device in ("cpu", "jax"):
        x = torch.arange(4.0, device=device)[::2]
        with pytest.raises(RuntimeError, match="are out of bounds for storage of"):
            torch.as_strided_scatter(x, torch.ones(4, device=device), (4,), (2,))


def test_the_gradient_is_that_of_the_memory() -> None:
    gradients = []
    for device in ("cpu", "jax"):
        x = torch.arange(6.0, device=device).reshape(2, 3).requires_grad_()
        y = torch.ones(2, device=device, requires_grad=True)
        weights = torch.arange(6.0, device=device).reshape(2, 3)
        (torch.as_strided_scatter(x, y, (2,), (2,)) * weights).sum().backward()
        with pytest.raises(RuntimeError, match="only supported for contiguous inputs"):
            torch.as_strided_scatter(x.t(), y, (2,), (2,))
        gradients.append((x.grad, y.grad))
    for expected, found in zip(*gradients, strict=True):
        close(found.cpu(), expected)
