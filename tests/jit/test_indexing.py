"""Indices in compiled functions of which eager mode reads a value: 0-d tensors, and masks that Python knows."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import tenax
from tenax.errors import TraceError
from tenax.interop import t2j
from tests.helpers.agreement import close

X, I = torch.arange(24.0).view(6, 4), torch.tensor(2)  # noqa: E741


def _cached(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    x[:, i] = x[:, i - 1] * 2
    x[i, 1:] += 1
    return x[: i.numel(), i]


READ: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "row": lambda x, i: x[i] * 2,
    "from the end": lambda x, i: x[..., -i],
    "computed": lambda x, i: x[x[:, 0].argmax()] + x[i, (x[0] - i).argmin()],
    "what item() gave": lambda x, i: x[i.item()] + x[0, (i + 1).item()],
    "selected": lambda x, i: x.select(1, -i) + torch.select(x, dim=1, index=i.item()),
    "narrowed": lambda x, i: x.narrow(0, i, 2) + torch.narrow(x, 0, start=-i, length=1),
    "written": _cached,
}


@pytest.mark.parametrize("name", READ)
def test_an_index_is_no_part_of_the_program(name: str) -> None:
    f = READ[name]
    compiled = tenax.jit(f)
    for i in (I, I - 1):
        x, ours = X.clone(), X.to("jax")
        close(compiled(ours, i.to("jax")), f(x, i))
        close(ours, x)
    assert len(compiled.history) == 1


def _queue(device: str, jit: Any) -> tuple[list[Any], Any]:
    """A ring buffer with a pointer that is a number of Python."""
    state = SimpleNamespace(queue=torch.zeros(3, 20, device=device), pointer=0)

    @jit
    def step(keys: torch.Tensor) -> torch.Tensor:
        n = keys.shape[0]
        state.queue[:, state.pointer : state.pointer + n] = keys.T
        state.pointer = (state.pointer + n) % 20
        return state.queue.sum()

    found: list[Any] = [step(torch.full((4, 3), float(i), device=device)) for i in range(12)]
    return [*found, state.pointer, state.queue], step


def _batches(device: str, jit: Any) -> tuple[list[Any], Any]:
    """Slices of one length, and a last one that is shorter."""
    data, w = torch.arange(70.0, device=device).view(35, 2), torch.ones(2, device=device, requires_grad=True)

    @jit
    def step(i: int) -> Any:
        batch = data[i * 8 : (i + 1) * 8]
        return torch.autograd.grad((batch @ w).square().sum(), w), batch.shape[0]

    return [step(i) for _ in range(2) for i in range(5)], step


def _slices(device: str, jit: Any) -> tuple[list[Any], Any]:
    """Slices that count from the end, or have other lengths, beside those of one length."""
    x = torch.arange(40.0, device=device).view(4, 10)

    @jit
    def step(i: int) -> Any:
        y = x.clone()
        y[1, i : i + 2] = 7.0
        y[:2, i:] *= 2
        y[..., i : i + 3] = y[..., i + 1 : i + 4] * 2 if i < 5 else 0
        return y, x[i : i + 1].sum(), x[:, -i:].sum(), x[i : i - 1 : 1].sum(), x[:i].sum(), x[None, i : i + 20].sum()

    return [step(i) for i in (1, 2, 3, 4, 6, 2, 0)], step


def _views(device: str, jit: Any) -> tuple[list[Any], Any]:
    """Slices that are written or returned as views, which need a program each."""
    x = torch.zeros(10, device=device)

    @jit
    def write(i: int) -> None:
        x[i : i + 2].add_(1)

    @jit
    def read(i: int) -> torch.Tensor:
        return x[i : i + 3]

    for i in range(5):
        write(i)
        read(i).mul_(2)
    return [x], write


@pytest.mark.parametrize(("program", "traces"), [(_queue, 2), (_batches, 3), (_slices, 7), (_views, 5)])
def test_slices_between_numbers_have_a_program_for_each_length(program: Callable[..., Any], traces: int) -> None:
    expected, _ = program("cpu", lambda f: f)
    found, step = program("jax", tenax.jit)
    close(found, expected)
    assert len(step.history) <= traces


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x, i: x[i, i, i], "too many indices"),
        (lambda x, i: x[i.float()], "tensors used as indices must be long"),
    ],
    ids=["too many", "floats"],
)
def test_what_is_no_index_raises_as_in_eager_mode(f: Callable[..., Any], expected: str) -> None:
    for function, device in ((f, "cpu"), (tenax.jit(f), "jax")):
        with pytest.raises(IndexError, match=expected):
            function(X.to(device), I.to(device))


def test_a_parameter_is_trained_at_an_index() -> None:
    def table_after(device: str, jit: Any) -> torch.Tensor:
        table = X.clone().to(device).requires_grad_()
        optimizer = torch.optim.SGD([table], lr=0.1)

        @jit
        def step(i: torch.Tensor) -> None:
            optimizer.zero_grad()
            table[i].square().sum().backward()
            optimizer.step()

        for i in (1, 2, 1):
            step(torch.tensor(i, device=device))
        return table.detach().cpu()

    close(table_after("jax", tenax.jit), table_after("cpu", lambda f: f))


def test_an_index_out_of_range_raises_when_the_results_are_there() -> None:
    tenax.jit(lambda x, i: x[i])(X.to("jax"), torch.tensor(6, device="jax"))
    with pytest.raises(IndexError, match="out of range"):
        torch.jax.synchronize()


HELD = SimpleNamespace(row=None)


def _keep(x: torch.Tensor, i: torch.Tensor) -> None:
    HELD.row = x[i]
    x.add_(1)


def _give(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    row = x[i]
    x[i] = row + 1
    return row


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (_keep, r"was written since: expected x\[i\] to be read again"),
        (_give, r"was written since: expected x\[i\] to be read again"),
        (lambda x, i: x[i].add_(1), r"a write to x\[i\].*: expected x\[i\] = value"),
    ],
    ids=["kept", "given", "written"],
)
def test_what_a_view_would_show_and_a_copy_does_not_raises(f: Callable[..., Any], expected: str) -> None:
    with pytest.raises(TraceError, match=expected):
        tenax.jit(f)(X.to("jax"), I.to("jax"))


ROWS = np.array([True, False, True, False, False, True])


def _rows_written(x: torch.Tensor) -> torch.Tensor:
    x[[True, False] * 3] = x[3:].clone()
    x[2:4, [True, False, False, True]] *= 2
    x[ROWS] = 1.0
    return x


MASKED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "list": lambda x: x[:, [True, False, False, True]],
    "after an ellipsis": lambda x: x[..., [False, True, False, True]],
    "array": lambda x: x[ROWS],
    "array of two axes": lambda x: x[np.eye(6, 4, dtype=bool)],
    "on the CPU": lambda x: x[torch.from_numpy(ROWS), 1:],
    "with positions": lambda x: x[[0, -1, 2], [True, True, False, True]],
    "with a value": lambda x: x[x[:, 0].argmin(), ROWS[:4]],
    "false": lambda x: x[[False] * 6],
    "written": _rows_written,
}


@pytest.mark.parametrize("name", MASKED)
def test_a_mask_that_python_knows_is_an_index_of_known_size(name: str) -> None:
    f = MASKED[name]
    x, ours = X.clone(), X.to("jax")
    expected, found = f(x), tenax.jit(f)(ours)
    close(found, expected)
    close(ours, x)
    assert found.stride() == expected.stride()
    close(torch.from_numpy(np.array(t2j(lambda x: f(x.clone()))(X.numpy()))), f(X.clone()))


def test_a_mask_on_the_cpu_that_changes_is_read_again() -> None:
    mask = torch.tensor([True, False, True, False])
    compiled = tenax.jit(lambda x: x[:, mask])
    for k in range(3):
        mask[k] = not mask[k]
        close(compiled(X.to("jax")), X[:, mask])


@pytest.mark.parametrize("mask", [[True, False], np.array([True, False])], ids=["list", "array"])
def test_a_mask_of_another_size_raises_as_in_eager_mode(mask: Any) -> None:
    for function, device in ((lambda x: x[:, mask], "cpu"), (tenax.jit(lambda x: x[:, mask]), "jax")):
        with pytest.raises(IndexError, match=r"shape of the mask \[2\] at index 0 does not match .* at index 1"):
            function(X.to(device))
