"""An executable may overwrite an array that it is passed only where nothing else holds the array."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
import pytest
import torch

import tenax
from tenax.dispatch import reference_counts
from tenax.storage.cell import Cell, FreshCell
from tenax.storage.tensors import cell_of

Tensor = torch.Tensor
LARGE = 1 << 18  # elements of four bytes: what donation starts from


def jitted(x: Tensor) -> Callable[[], Any]:
    return tenax.jit(lambda: x.add_(1))


def compiled(x: Tensor) -> Callable[[], Any]:
    add = torch.compile(lambda x: x.add_(1), backend="tenax")
    return lambda: add(x)


# Each adds 1 to a tensor in place.
WRITES: dict[str, Callable[[Tensor], Callable[[], Any]]] = {
    "in place": lambda x: lambda: x.add_(1),
    "by a view": lambda x: lambda: x[:].view(2, -1).add_(1),
    "foreach": lambda x: lambda: torch._foreach_add_([x], 1),
    "jit": jitted,
    "compile": compiled,
}


def suspended(array: jax.Array) -> Iterator[jax.Array]:
    yield array
    yield array


# Each holds the array of a tensor; what is returned shows its values later.
HOLDERS: dict[str, Callable[[Tensor], Callable[[], Any]]] = {
    "list": lambda x: [x.jax()].copy,
    "closure": lambda x: (lambda array: lambda: array)(x.jax()),
    "generator": lambda x: (lambda g: (next(g), g.__next__)[1])(suspended(x.jax())),
    "clone": lambda x: x.clone().cpu,
    "detached storage": lambda x: x.untyped_storage().clone().cpu,
    "jax computation": lambda x: (lambda array: lambda: jax.numpy.add(array, 0))(x.jax()),
    "numpy view": lambda x: (lambda view: lambda: view)(np.asarray(x.jax())),
    "dlpack view": lambda x: (lambda view: lambda: view)(np.from_dlpack(x.jax())),
}


@pytest.fixture(params=WRITES.values(), ids=WRITES)
def written(request: pytest.FixtureRequest) -> tuple[Tensor, Callable[[], Any]]:
    """A tensor of ones, and what adds 1 to it, compiled."""
    x = torch.zeros(LARGE, device="jax") + 1
    write = request.param(x)
    for _ in range(3):
        write()
    x.sub_(3)
    write()
    x.sub_(1)
    return x, write


def pointer(x: Tensor) -> int:
    return cell_of(x).read().unsafe_buffer_pointer()


def test_an_unshared_array_is_overwritten(written: tuple[Tensor, Callable[[], Any]]) -> None:
    x, write = written
    for _ in range(3):
        before = pointer(x)
        write()
        assert pointer(x) == before
    assert x.eq(4).all()


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_a_held_array_keeps_its_values(
    written: tuple[Tensor, Callable[[], Any]], hold: Callable[[Tensor], Callable[[], Any]]
) -> None:
    x, write = written
    values = hold(x)
    for _ in range(2):
        write()
    shown = values()
    if isinstance(shown, torch.UntypedStorage):
        shown = torch.empty(0).set_(shown)
    assert np.all(np.asarray(shown) == 1)
    assert x.eq(3).all()


def test_an_array_with_a_name_keeps_its_values(written: tuple[Tensor, Callable[[], Any]]) -> None:
    x, write = written
    array = x.jax()
    write()
    assert not array.is_deleted() and bool((array == 1).all()) and x.eq(2).all()


def test_an_array_under_another_cell_of_one_call_keeps_its_values() -> None:
    x = torch.zeros(LARGE, device="jax") + 1
    y = x.clone()
    torch._foreach_add_([x, y], [1.0, 2.0])
    assert x.eq(2).all() and y.eq(3).all()


def test_an_operation_that_changes_nothing_keeps_the_array() -> None:
    x = torch.arange(LARGE, dtype=torch.int32, device="jax") + 1
    for _ in range(4):
        before = pointer(x)
        x.floor_()  # of integers
        assert pointer(x) == before
    assert x[-1] == LARGE


def test_a_fused_optimizer_overwrites_its_parameters_while_something_holds_the_gradients() -> None:
    parameters = [torch.zeros(LARGE, device="jax").add_(1).requires_grad_() for _ in range(2)]
    optimizer = torch.optim.AdamW(parameters, fused=True)
    held = []
    for p in parameters:
        p.grad = torch.zeros(LARGE, device="jax") + 0.1
        held.append(p.grad.jax())
    for _ in range(25):  # the first calls of a long list are calls of parts
        optimizer.step()
    before = [pointer(p) for p in parameters]
    optimizer.step()
    assert [pointer(p) for p in parameters] == before
    assert all(bool((g == np.float32(0.1)).all()) for g in held)


@pytest.mark.parametrize("count", [lambda array: 3, lambda array: id(array) % 7, lambda array: 1 << 30])
def test_nothing_is_donated_where_counts_mean_nothing(
    monkeypatch: pytest.MonkeyPatch, written: tuple[Tensor, Callable[[], Any]], count: Callable[[object], int]
) -> None:
    monkeypatch.setattr(reference_counts, "getrefcount", count)
    assert reference_counts.calibrate() is None
    monkeypatch.setattr(reference_counts, "_in_list", None)
    assert not reference_counts.is_available()
    x, write = written
    array, before = x.jax(), pointer(x)
    write()
    assert not array.is_deleted() and pointer(x) != before and x.eq(2).all()
    assert not reference_counts.has_at_most([x], 1 << 40)


def test_a_count_that_misses_local_names_is_no_calibration(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the interpreter lent local variables without counting them where the count is taken."""
    counts = iter([2, 3, 3])  # a list alone, a cell without `array`, and that beside a name: the name is missing
    monkeypatch.setattr(reference_counts, "getrefcount", lambda array: next(counts))
    assert reference_counts.calibrate() is None


def test_what_the_list_and_the_cells_hold_does_not_count() -> None:
    class Held:
        pass

    objects = [Held(), Held()]
    name = objects[1]
    assert reference_counts.has_at_most(objects, 1) and not reference_counts.has_at_most(objects, 0)
    cells = [FreshCell(held, None) for held in objects]  # type: ignore[arg-type]
    assert reference_counts.held_elsewhere(objects, [0, 1], cells) == [1]
    del name
    assert reference_counts.held_elsewhere(objects, [0, 1], cells, at_hand=True) == []
    cells[0].array = None  # held once by its cell, and once by nothing that is known
    keep = objects[0]
    assert reference_counts.held_elsewhere(objects, [0, 1], cells) == [0]
    assert keep is objects[0]


THREADS = 4


@pytest.mark.parametrize("way", ["jit", "compile"])
def test_threads_may_call_one_step_that_donates(way: str) -> None:
    x = torch.zeros(LARGE, device="jax")
    step = WRITES[way](x)
    for _ in range(3):
        step()
    failures = []

    def call():
        try:
            for _ in range(200):
                step()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=call) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and x[0].item() == 3 + 200 * THREADS


@pytest.mark.parametrize("way", ["in place", "jit", "compile"])
def test_an_interrupt_leaves_a_donated_tensor_with_its_data(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.zeros(LARGE, device="jax")
    step = WRITES[way](x)
    for _ in range(3):
        step()
    interrupts = iter([KeyboardInterrupt])

    def interrupted(cell: Cell, name: str, value: Any) -> None:
        for interrupt in interrupts:  # at the first write, when the program has run
            raise interrupt
        object.__setattr__(cell, name, value)

    monkeypatch.setattr(Cell, "__setattr__", interrupted, raising=False)
    with pytest.raises(KeyboardInterrupt):
        step()
    monkeypatch.undo()
    assert x.tolist() == [4] * LARGE
    step()
    assert x.tolist() == [5] * LARGE
