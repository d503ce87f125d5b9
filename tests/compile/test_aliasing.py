"""`torch.compile` on tensors that share memory: inputs, in other ways from one call to the next, and elements of lists.

AOTAutograd of torch 2.13 (`aot_eager`) gives wrong values for most of these cases, on the CPU, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from tests.helpers.agreement import close

Pair = Callable[[Tensor], tuple[Tensor, Tensor]]

SEQUENCES: dict[str, list[Pair]] = {
    "apart, then overlapping": [lambda s: (s[:3], s[:3].clone()), lambda s: (s[:3], s[1:4])],
    "overlapping, then apart": [lambda s: (s[:3], s[1:4]), lambda s: (s[:3], s[:3].clone())],
    "side by side, then overlapping": [lambda s: (s[:3], s[3:]), lambda s: (s[:3], s[1:4])],
    "overlapping, then side by side": [lambda s: (s[:3], s[1:4]), lambda s: (s[:3], s[3:])],
    "overlapping elsewhere": [lambda s: (s[:3], s[1:4]), lambda s: (s[:3], s[2:5])],
    "apart, then equal": [lambda s: (s[:3], s[:3].clone()), lambda s: (s[:3], s[:3])],
    "apart, then of another dtype": [
        lambda s: (s[:3], s[:3].clone()),
        lambda s: (s[:3], s.view(torch.complex64)[:1].view(torch.float32)),
    ],
}
MIXED: dict[str, Pair] = {
    "an element and the imaginary parts": lambda z: (z[:1], z.imag),
    "two elements and the imaginary parts": lambda z: (z[1:3], z.imag),
    "the real and the imaginary parts": lambda z: (z.real, z.imag),
    "real views": lambda z: (torch.view_as_real(z)[2:], z.real),
}


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def written(a: Tensor, b: Tensor) -> Tensor:
    a.fill_(2)
    b.add_(1)
    a.mul_(b.sum())
    return a + 1


def check(memory: Tensor, calls: list[Pair], function: Callable[[Tensor, Tensor], Tensor] = written) -> None:
    """Make the calls one after the other, each on a new copy of `memory`, and compare all memory with eager mode."""
    compiled = torch.compile(function, backend="tenax")
    for pair in [*calls, *calls]:
        expected, found = memory.clone(), memory.to("jax", copy=True)
        results = function(*pair(expected)), compiled(*pair(found))
        close(found, expected)
        close(results[1], results[0])


@pytest.mark.parametrize("calls", SEQUENCES.values(), ids=SEQUENCES)
def test_inputs_overlap_in_another_way(calls: list[Pair]) -> None:
    check(torch.arange(6.0), calls)


@pytest.mark.parametrize("pair", MIXED.values(), ids=MIXED)
def test_inputs_view_one_storage_with_two_dtypes(pair: Pair) -> None:
    check(torch.tensor([7 + 1j, 3 + 2j, 4 + 3j, 5 + 4j]), [pair])


def test_inputs_of_two_dtypes_come_to_share_a_storage() -> None:
    check(
        torch.tensor([7 + 1j, 3 + 2j, 4 + 3j, 5 + 4j]),
        [lambda z: (z[:1], z.imag.clone()), lambda z: (z[:1], z.imag)],
    )


def test_a_resized_view_writes_to_the_views_of_another_dtype() -> None:
    def resized(z: Tensor, b: Tensor) -> Tensor:
        imaginary = z.imag
        b.resize_(()).fill_(2)
        imaginary[...] = imaginary
        return imaginary

    check(torch.tensor([7 + 1j, 3 + 2j, 4 + 3j, 5 + 4j]), [lambda z: (z, z.conj())], resized)


def test_gradients_flow_where_inputs_come_to_overlap() -> None:
    def scaled(x: Tensor, state: Tensor, seen: Tensor) -> Tensor:
        state.mul_(2)
        return (x * seen * state.sum()).sum()

    compiled = torch.compile(scaled, backend="tenax")
    for overlaps in (False, True, False):
        found = []
        for device, function in (("cpu", scaled), ("jax", compiled)):
            x = torch.arange(3.0, device=device).requires_grad_()
            memory = torch.arange(1.0, 7.0, device=device)
            state, seen = memory[:3], memory[1:4] if overlaps else memory[1:4].clone()
            function(x, state, seen).backward()
            found.append((x.grad.cpu(), memory.cpu()))
        close(found[1], found[0])


def test_inputs_that_are_only_read_share_one_graph() -> None:
    graphs = []

    def counting(module: torch.fx.GraphModule, inputs: list[Tensor]) -> Callable[..., object]:
        run = torch._dynamo.lookup_backend("tenax")(module, inputs)
        graphs.append(type(run).__name__)
        return run

    compiled = torch.compile(lambda a, b: a * b, backend=counting)
    memory = torch.arange(6.0, device="jax")
    for other in (memory[3:], memory[1:4], memory[:3]):
        close(compiled(memory[:3], other), memory[:3] * other)
    assert graphs == ["function"]


def summed_twice(x: Tensor, y: Tensor) -> Tensor:
    torch._foreach_add_([x, x, y], [x, y, x[:3]])
    return x * 1


def multiplied(x: Tensor, y: Tensor) -> Tensor:
    torch._foreach_mul_([x, y.view(-1), y], [1.0, 2.0, 3.0])
    torch._foreach_addcmul_([y, x], [x, y], [x, y], [2.0, 3.0])
    return y * 1


def filled_where_expanded(x: Tensor, y: Tensor) -> Tensor:
    x.expand(3, 3).zero_()
    y.expand(2, 3)[1].fill_(4)
    return x + y


def filled_in_windows(x: Tensor, y: Tensor) -> Tensor:
    x.unfold(0, 2, 2).fill_(4)
    y.unfold(0, 2, 1)[1].mul_(3)
    return x + y


def given_other_data(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    view = x.view(-1)
    x.data = x.clone()
    x.add_(y)
    return x * 1, view


def with_a_view_that_left(x: Tensor, y: Tensor) -> Tensor:
    view = x.view(-1)
    view.data = view.clone()
    x.add_(x[:]).add_(view)
    return view


def written_by_position(x: Tensor, y: Tensor) -> Tensor:
    x.as_strided((2,), (1,), 0).fill_(5)
    return x * y


@pytest.mark.parametrize(
    "function",
    [
        summed_twice,
        multiplied,
        filled_where_expanded,
        filled_in_windows,
        given_other_data,
        with_a_view_that_left,
        written_by_position,
    ],
)
def test_a_graph_writes_as_eager_mode_does(function: Callable[[Tensor, Tensor], Tensor]) -> None:
    check(torch.arange(1.0, 7), [lambda s: (s[:3], s[3:])], function)


def test_a_result_that_is_a_view_of_overlapping_inputs() -> None:
    def halves(x: Tensor, y: Tensor) -> Tensor:
        x.resize_(2).fill_(2)
        return y.chunk(2, 0)[-1]

    check(torch.arange(1.0, 5), [lambda s: (s.view(-1).permute(0), s.view(-1))], halves)


def test_a_write_by_position_reaches_before_its_tensor() -> None:
    starts: list[Pair] = [lambda s: (s[:3], s[3:]), lambda s: (s[1:4], s[3:])]
    check(torch.arange(1.0, 7), starts, written_by_position)
    torch._dynamo.reset()
    check(torch.arange(1.0, 7), starts[::-1], written_by_position)


def test_tensors_without_a_storage_are_in_the_graph() -> None:
    def mapped(x: Tensor, sparse: Tensor) -> Tensor:
        x.add_(1)
        products = torch.vmap(lambda row: row.view(3, 1) * row.view(1, 3))(x)
        return products.sum(0) + torch.sparse.mm(sparse, x)

    dense = torch.tensor([[0.0, 2], [1, 0], [0, 3]])
    compiled = torch.compile(mapped, backend="tenax")
    for _ in range(2):
        x = torch.arange(6.0).view(2, 3)
        found = compiled(x.to("jax"), dense.to("jax").to_sparse())
        close(found, mapped(x, dense.to_sparse()))


def detached(x: Tensor, y: Tensor) -> Tensor:
    d = x.detach()
    d.add_(y)
    return d


def part_of_detached(x: Tensor, y: Tensor) -> Tensor:
    d = x.view(-1).detach()
    d[0] = y[0] * 3
    return d[:1]


def detached_elements_of_lists(x: Tensor, y: Tensor) -> Tensor:
    d = x.detach().view(-1)
    torch._foreach_add_([d], [y])
    return d


@pytest.mark.parametrize("leaf", [True, False])
@pytest.mark.parametrize("function", [detached, part_of_detached, detached_elements_of_lists])
def test_a_detached_view_keeps_the_gradient_of_a_write(
    function: Callable[[Tensor, Tensor], Tensor], leaf: bool
) -> None:
    gradients = []
    for device, called in (("cpu", function), ("jax", torch.compile(function, backend="tenax"))):
        x = torch.ones(3, device=device, requires_grad=leaf)
        y = torch.arange(1.0, 4, device=device, requires_grad=True)
        result = called(x, y)
        assert result.requires_grad
        result.sum().backward()
        gradients.append((y.grad, x.detach()))
    close(gradients[1], gradients[0])


LISTS: dict[str, Callable[[Tensor, Tensor], None]] = {
    "a number": lambda x, y: torch._foreach_mul_([x], 3),
    "numbers": lambda x, y: torch._foreach_mul_([x], [3.0]),
    "a tensor": lambda x, y: torch._foreach_mul_([x], torch.full((), 3.0, device=x.device)),
    "tensors": lambda x, y: torch._foreach_add_([x], [y], alpha=2),
    "addcmul": lambda x, y: torch._foreach_addcmul_([x], [y], [y], 3),
    "addcdiv, numbers": lambda x, y: torch._foreach_addcdiv_([x], [y], [y], [3.0]),
    "maximum of tensors": lambda x, y: torch._foreach_maximum_([x], [y]),
    "minimum of tensors": lambda x, y: torch._foreach_minimum_([x], [y]),
    "sqrt": lambda x, y: torch._foreach_sqrt_([x]),
    "zero": lambda x, y: torch._foreach_zero_([x]),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", LISTS)
def test_a_view_sees_the_gradient_of_a_write_to_a_list(name: str) -> None:
    def function(x: Tensor, y: Tensor) -> Tensor:
        written = x * 1
        view = written.mT
        LISTS[name](written, y)
        return view * 2

    found = []
    for device, called in (("cpu", function), ("jax", torch.compile(function, backend="tenax"))):
        x = torch.tensor([[1.0, 2, 3], [4, 5, 6]], device=device, requires_grad=True)
        y = torch.tensor([[2.0, 1, 3], [1, 2, 7]], device=device, requires_grad=True)
        result = called(x, y)
        result.sum().backward()
        found.append([t.detach().cpu() for t in (result, x.grad, torch.zeros(()) if y.grad is None else y.grad)])
    close(found[1], found[0])


WITHOUT_DERIVATIVE: dict[str, Callable[[Tensor, Tensor], None]] = {
    "copy": lambda x, y: torch._foreach_copy_([x], [y]),
    "maximum of a number": lambda x, y: torch._foreach_maximum_([x], 2),
}


@pytest.mark.parametrize("name", WITHOUT_DERIVATIVE)
def test_operators_on_lists_without_a_derivative_have_none_when_they_are_split(name: str) -> None:
    def function(x: Tensor, y: Tensor) -> Tensor:
        written = x * 1
        view = written.mT
        WITHOUT_DERIVATIVE[name](written, y)
        return view.sum()

    x, y = (torch.ones(2, 2, device="jax", requires_grad=True) for _ in range(2))
    with pytest.raises(RuntimeError, match=r"derivative for _foreach_.* is not implemented"):
        torch.compile(function, backend="tenax")(x, y).backward()


def test_views_of_a_detached_result_keep_the_gradient_of_a_write() -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        scaled = x * 3
        d = scaled.detach()
        d.add_(x)
        return scaled, d.view(-1)

    x = torch.ones(2, 2, device="jax", requires_grad=True)
    scaled, view = torch.compile(function, backend="tenax")(x)
    (gradient,) = torch.autograd.grad(view.sum(), x)
    assert scaled.tolist() == [[4, 4], [4, 4]]
    assert gradient.tolist() == [[1, 1], [1, 1]]


BY_POSITION: dict[str, Callable[[Tensor], Tensor]] = {
    "a column": lambda x: x[:, 2:].as_strided_((2,), (1,)).neg_(),
    "out": lambda x: torch.neg(v := x[:, 2:].as_strided_((2,), (1,)), out=v),
    "gaps": lambda x: x[:, ::2].as_strided((2, 2), (2, 1), 1).neg_(),
    "a written base": lambda x: (x.t().cumsum_(0).as_strided((2, 2), (2, 1), 0).neg_(), x)[1],
    "a window": lambda x: (w := x[0].unfold(0, 2, 2)).chunk(2, 0)[-1].copy_(w),
}


@pytest.mark.parametrize("name", BY_POSITION)
def test_a_write_reaches_what_a_view_by_position_reaches(name: str) -> None:
    expected, found = (torch.arange(1.0, 7, device=device).view(2, 3) for device in ("cpu", "jax"))
    BY_POSITION[name](expected)
    torch.compile(BY_POSITION[name], backend="tenax")(found)
    close(found, expected)


def test_results_that_are_one_tensor_are_returned_as_one() -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        row = x[0]
        return row, row.relu_()

    first, second = torch.compile(function, backend="tenax")(torch.ones(2, 2, device="jax"))
    assert first is second


BESIDE: dict[str, Pair] = {
    "real parts beside complex elements": lambda z: (torch.view_as_real(z)[:1], z[2:]),
    "real parts and no elements": lambda z: (torch.view_as_real(z), z[:0]),
}


@pytest.mark.parametrize("name", BESIDE)
def test_views_of_two_dtypes_that_lie_apart_are_both_written(name: str) -> None:
    def negated(a: Tensor, b: Tensor) -> Tensor:
        a.neg_()
        b.mul_(2)
        return a + 1

    check(torch.tensor([1 + 2j, 3 + 4j, 5 + 6j]), [BESIDE[name]], negated)


def test_a_write_through_a_transposed_view_of_another_dtype_reaches_its_base() -> None:
    def write(x: Tensor) -> Tensor:
        view = x.view(torch.int32).mT  # the axis of one element has another stride once it is written
        view[0] += 3
        return view

    found = []
    for device, function in (("cpu", write), ("jax", torch.compile(write, backend="tenax"))):
        x = torch.arange(6, dtype=torch.int16).view(3, 2).to(device)
        found.append((function(x).tolist(), x.tolist()))
    assert found[0] == found[1]
