"""Which of the objects that a compiled function replaces are the same, what attributes their tensors have, and that
every call makes new ones."""

from __future__ import annotations

import dataclasses
import datetime
import types
from collections import Counter, UserDict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import tenax
from tests.helpers.agreement import close


@dataclasses.dataclass
class Holder:
    """What holds the objects; `other` is only read."""

    held: Any
    other: Any = None


Step = Callable[[torch.Tensor], Any]
Program = tuple[Holder, Step, Callable[[int], None]]  # with what changes after a call


def ones(*shape: int) -> torch.Tensor:
    return torch.ones(shape or (3,), device="jax")


def telling_apart(s: Holder, replace: Callable[[torch.Tensor], None], *calls: int) -> Program:
    """A function that asks whether two objects are one and then replaces them, and a change that makes them one after
    some calls."""

    def step(x: torch.Tensor) -> torch.Tensor:
        same = s.held is s.other
        replace(x)
        return x * (2 if same else 3)

    def change(i: int) -> None:
        s.held = s.other if i in calls else s.held

    return s, step, change


def a_list_becomes_another() -> Program:
    s = Holder([ones(), ones()], [ones() * 2, ones()])

    def replace(x: torch.Tensor) -> None:
        s.held = [x, s.held[0]]

    return telling_apart(s, replace, 1, 3)


def a_tensor_becomes_another() -> Program:
    s = Holder(ones(), ones())

    def replace(x: torch.Tensor) -> None:
        s.held = x * 2

    return telling_apart(s, replace, 1, 3)


def two_tensors_become_one() -> Program:
    s = Holder(ones(), ones())

    def replace(x: torch.Tensor) -> None:
        s.held, s.other = x * 2, x * 3

    return telling_apart(s, replace, 2)


def a_result_is_kept_for_a_tensor() -> Program:
    s = Holder({"of": None, "result": None}, ones())

    def step(x: torch.Tensor) -> torch.Tensor:
        if s.held["of"] is s.other:
            return s.held["result"]
        s.held = {"of": s.other, "result": x * 2}
        return x

    def change(i: int) -> None:
        s.other = ones() if i == 3 else s.other

    return s, step, change


def a_result_is_kept_for_an_argument() -> Program:
    s = Holder([None, None])

    def step(x: torch.Tensor) -> torch.Tensor:
        if s.held[0] is x:
            return s.held[1]
        s.held = [x, x * 2]
        return x

    return s, step, lambda i: None


def a_tensor_has_attributes() -> Program:
    s = Holder(ones())
    s.held.tags, s.held.before = ["a"], ones()

    def step(x: torch.Tensor) -> torch.Tensor:
        new = s.held + x
        new.tags, new.before = [*s.held.tags[-2:], "b"], s.held.before * 2
        s.held = new
        return new * len(new.tags) + new.before

    return s, step, lambda i: None


def a_tensor_gets_an_attribute() -> Program:
    s = Holder(ones())

    def step(x: torch.Tensor) -> torch.Tensor:
        factor = getattr(s.held, "factor", 1)
        s.held = s.held + x
        return s.held * factor

    def change(i: int) -> None:
        if i == 2:
            s.held.factor = 5

    return s, step, change


def a_tensor_becomes_a_parameter() -> Program:
    s = Holder(ones())

    def step(x: torch.Tensor) -> torch.Tensor:
        is_parameter = isinstance(s.held, nn.Parameter)
        s.held = x * 2
        return x * (1 if is_parameter else 2)

    def change(i: int) -> None:
        s.held = nn.Parameter(ones(), requires_grad=False) if i == 2 else s.held

    return s, step, change


def calls(make: Callable[[], Program], compiled: bool) -> list[Any]:
    """What six calls return and leave; each argument is passed twice."""
    holder, step, change = make()
    function: Any = tenax.jit(step) if compiled else step
    arguments = [torch.arange(3.0, device="jax") + i for i in range(3)]
    found = []
    for i in range(6):
        result = function(arguments[i // 2])
        found.append((result.tolist(), str(holder), holder.held is holder.other, str(getattr(holder.held, "tags", 0))))
        change(i)
    return found


@pytest.mark.parametrize(
    "make",
    [
        *(a_list_becomes_another, a_tensor_becomes_another, two_tensors_become_one, a_result_is_kept_for_a_tensor),
        *(a_result_is_kept_for_an_argument, a_tensor_has_attributes, a_tensor_gets_an_attribute),
        a_tensor_becomes_a_parameter,
    ],
)
def test_what_a_replaced_object_is_counts(make: Callable[[], Program]) -> None:
    assert calls(make, compiled=True) == calls(make, compiled=False)


@pytest.mark.parametrize(
    "make",
    [
        *(lambda: {"a"}, lambda: bytearray(b"ab"), lambda: types.SimpleNamespace(a=1), lambda: UserDict(a=1)),
        *(lambda: Counter("aab"), lambda: deque([1], 3), lambda: [{"a": {1}}]),
    ],
)
def test_every_call_makes_the_objects_that_hold_no_tensors(make: Callable[[], Any]) -> None:
    holder = Holder(None)

    @tenax.jit
    def step(x: torch.Tensor) -> Any:
        holder.held = made = make()
        return made, make()

    found = [step(ones()) for _ in range(3)]
    assert all(a == b == make() for a, b in found)
    assert len({id(value) for pair in found for value in pair}) == 6
    assert holder.held is found[2][0]


def test_a_counter_is_restored_and_changed_as_a_dict() -> None:
    holder = Holder(Counter(a=2))

    def step(x: torch.Tensor) -> torch.Tensor:
        holder.held["b"] += 1
        del holder.held["a"]
        holder.held["a"] = 5
        return x * holder.held["b"]

    compiled = tenax.jit(step)
    assert [compiled(ones())[0].item() for _ in range(3)] == [1, 2, 3]
    assert [*holder.held.items()] == [("b", 3), ("a", 5)]


def test_two_arguments_are_one_tensor_or_share_memory() -> None:
    x, y = ones(), ones()
    parameter = nn.Parameter(x, requires_grad=False)

    @tenax.jit
    def step(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a * (2 if a is b else 3) + (10 if isinstance(b, nn.Parameter) else 0)

    pairs = [(x, x), (x, x[:]), (x, x.detach()), (x, y), (y, parameter)]
    assert [step(a, b)[0].item() for a, b in pairs] == [2, 3, 3, 3, 13]


@pytest.mark.parametrize("reads_content", [True, False])
def test_an_argument_is_a_tensor_that_the_function_reaches_too(reads_content: bool) -> None:
    layer, x = nn.Linear(3, 3).to("jax").requires_grad_(False), ones(3, 3)

    @tenax.jit
    def step(a: torch.Tensor) -> torch.Tensor:
        known = any(a is p for p in layer.parameters())
        return (a if reads_content else ones(*a.shape)) * (2 if known else 3)

    def expected(a: torch.Tensor, factor: int) -> torch.Tensor:
        return (a if reads_content else torch.ones_like(a)) * factor

    for _ in range(2):
        for a, factor in [(x, 3), (layer.weight, 2), (layer.weight[:], 3), (layer.bias, 2), (x, 3)]:
            close(step(a), expected(a, factor))


def test_an_object_that_cannot_be_copied_may_be_kept() -> None:
    """It holds nothing that a call makes, so that no call copies it."""

    class Handle:
        def __reduce_ex__(self, protocol: Any) -> Any:
            raise TypeError("cannot be copied")

    Handle.__module__ = "torch.handles"  # of a library
    holder = Holder(None)

    @tenax.jit
    def step(x: torch.Tensor) -> torch.Tensor:
        handle = Handle()
        handle.tag = 1
        holder.held = handle
        return x * 2

    for _ in range(2):
        assert step(ones()).tolist() == [2, 2, 2]
        assert holder.held.tag == 1


MADE_FOR_EACH_CALL: dict[str, Callable[[int], Any]] = {
    "a number of NumPy": np.float32,
    "an index of NumPy": np.int64,
    "NaN": lambda n: np.float32("nan") if n % 2 else np.float32(n),
    "range": lambda n: range(n),
    "slice": lambda n: slice(n, None),
    "set": lambda n: frozenset([n]),
    "duration": datetime.timedelta,
    "method": lambda n: [n].copy,
}


def value_of(made: Any) -> float:
    if isinstance(made, slice):
        return float(made.start)
    if isinstance(made, datetime.timedelta):
        return float(made.days)
    made = made() if callable(made) else made
    return float(sum(made)) if isinstance(made, (range, frozenset, list)) else float(made)


@pytest.mark.parametrize("as_attribute", [False, True])
@pytest.mark.parametrize("name", MADE_FOR_EACH_CALL)
def test_an_object_made_for_each_call_is_not_taken_for_an_earlier_one(name: str, as_attribute: bool) -> None:
    """The object of an earlier call is freed, and the next one may get its address."""
    make = MADE_FOR_EACH_CALL[name]

    @tenax.jit
    def step(x: torch.Tensor, made: Any = None) -> torch.Tensor:
        return x * value_of(x.made if made is None else made)  # type: ignore[attr-defined]

    for n in range(6):
        x = torch.ones(2, device="jax")
        if as_attribute:
            x.made = make(n)  # type: ignore[attr-defined]
            result = step(x)
        else:
            result = step(x, make(n))
        close(result, torch.full((2,), value_of(make(n))), nan=True)
