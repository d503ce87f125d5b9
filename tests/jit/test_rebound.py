"""Containers that a compiled function reads and replaces, or refills: `self.cache = [h]`. One or two programs serve all
calls, and every call leaves what eager mode leaves, down to which objects are the same."""

from __future__ import annotations

import dataclasses
import gc
import types
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tenax

from .rebound_programs import PROGRAMS, Holder, Kept, Step, a_list, nested_lists, ones, zeros

pytestmark = pytest.mark.gpu


def picture(value: Any, seen: dict[int, int]) -> Any:
    """A value with all that it holds, and which of its objects are the same."""
    if isinstance(value, (int, float, str, type, torch.dtype, types.NoneType, types.FunctionType)):
        return value
    number = seen.setdefault(id(value), len(seen))
    if number < len(seen) - 1:
        return number
    if isinstance(value, torch.Tensor):
        return number, value.dtype, value.requires_grad, value.tolist()
    parts = [picture(part, seen) for part in _elements(value)]
    attributes = {name: picture(part, seen) for name, part in getattr(value, "__dict__", {}).items()}
    return type(value), parts, attributes, getattr(value, "maxlen", None)


def _elements(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [part for item in value.items() for part in item]
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return [*value] if isinstance(value, (list, tuple, deque, set)) else []


def calls(make: Callable[[Holder], Step], change: Callable[[Holder, int], None], compiled: bool) -> tuple[Any, Any]:
    """What six calls return and leave, all of it kept so that no later call may change it; and the traces."""
    holder = Holder()
    step = make(holder)
    function: Any = tenax.jit(step) if compiled else step
    found, kept = [], []
    for i in range(6):
        kept.append(function(torch.arange(3.0, device="jax") + i))
        kept.append([holder.held, holder.other, Kept.cache])
        found.append(picture([holder, kept, Kept.cache], {}))
        change(holder, i)
    return found, [c.reason for c in function.history] if compiled else []


def unchanged(_: Holder, i: int) -> None:
    pass


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_replaced_containers_leave_what_eager_mode_leaves(make: Callable[[Holder], Step]) -> None:
    expected, _ = calls(make, unchanged, compiled=False)
    found, reasons = calls(make, unchanged, compiled=True)
    assert found == expected
    assert len(reasons) == PROGRAMS[make], reasons


def longer(s: Holder, i: int) -> None:
    if i == 2:
        s.held = [*s.held, ones()]


def a_tuple(s: Holder, i: int) -> None:
    s.held = (*s.held,) if i == 2 else s.held


def other_tensors(s: Holder, i: int) -> None:
    s.held = [ones(1)] if i == 1 else [ones().double()] if i == 3 else s.held


def with_gradients(s: Holder, i: int) -> None:
    if i == 2:
        s.held[-1].requires_grad_()
    if i == 3:
        s.held[-1].tag = 1


def written_outside(s: Holder, i: int) -> None:
    if i == 2:
        s.held[-1].add_(1)
    if i == 3:
        s.held.insert(0, s.held[-1])


@pytest.mark.parametrize("change", [longer, a_tuple, other_tensors, with_gradients, written_outside])
def test_changes_from_outside_are_noticed(change: Callable[[Holder, int], None]) -> None:
    expected, _ = calls(a_list, change, compiled=False)
    assert calls(a_list, change, compiled=True)[0] == expected


def a_list_beside_another(s: Holder) -> Step:
    s.held, s.other = [zeros()], [ones()]

    def step(x: torch.Tensor) -> torch.Tensor:
        s.held[0].add_(x)
        y = s.held[0] + s.other[0]
        s.held, s.other = [s.held[0] * 1], [s.other[0] * 1]
        return y

    return step


def a_list_beside_one_that_is_read(s: Holder) -> Step:
    s.held, s.other = [zeros()], [ones()]

    def step(x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = s.held[0] + x
        s.held = [y * 2]
        return y + s.other[0]

    return step


def shared_later(s: Holder, i: int) -> None:
    if i == 1:
        s.other = [s.held[0]]
    elif i == 2:
        s.other = [s.held[0][:]]
    elif i == 3:
        s.other = s.held
    elif i == 4:
        s.other[0].add_(1)


@pytest.mark.parametrize("make", [a_list_beside_another, a_list_beside_one_that_is_read])
def test_containers_and_tensors_that_become_shared_are_noticed(make: Callable[[Holder], Step]) -> None:
    expected, _ = calls(make, shared_later, compiled=False)
    assert calls(make, shared_later, compiled=True)[0] == expected


def test_a_shape_that_is_read_of_a_replaced_tensor_counts() -> None:
    """Also where its content is not read, which was taken for granted."""

    def by_shape(s: Holder) -> Step:
        s.held, s.other = zeros(1), [zeros(1)]

        def step(x: torch.Tensor) -> torch.Tensor:
            n, m = s.held.shape[0], s.other[0].shape[0]
            s.held, s.other = zeros(n + 1), [zeros(m + 2)]
            return x * n * m

        return step

    expected, _ = calls(by_shape, unchanged, compiled=False)
    assert calls(by_shape, unchanged, compiled=True)[0] == expected


def test_tensors_of_replaced_containers_are_let_go() -> None:
    holder = Holder()
    step = nested_lists(holder)
    first = [weakref.ref(holder.held[0][0]), weakref.ref(holder.held[1]["a"][0]), weakref.ref(holder.held[0][1][0])]
    compiled = tenax.jit(step)
    for _ in range(3):
        compiled(ones())
    gc.collect()
    assert [reference() for reference in first] == [None] * 3
