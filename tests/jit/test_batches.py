"""Objects among the arguments of a compiled function, such as batches: another one in each call needs no new program,
and all that eager mode does with them is done."""

from __future__ import annotations

import dataclasses
import gc
import types
import weakref
from collections import UserDict
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import tenax
from tenax._jit.jitted import compiled_of

Program = tuple[Callable[..., Any], list[tuple[Any, ...]], Any]  # a function, the arguments of calls, and what it holds


@dataclasses.dataclass
class Batch:
    """A batch of a user's program."""

    x: Any
    y: Any = None
    count: int = 3
    name: str = "a"

    def total(self) -> torch.Tensor:
        """A method that reads two attributes."""
        return self.x.sum() * self.count


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    """A batch that cannot change."""

    x: torch.Tensor
    y: torch.Tensor


class Dynamic:
    """A batch that finds its attributes in a dict."""

    def __init__(self, **values: Any) -> None:
        self.__dict__["values"] = values

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["values"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self.values[name] = value


class Hashed(UserDict[str, Any]):
    """A mapping that is found by identity."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


def full(value: float, *size: int) -> torch.Tensor:
    return torch.full(size or (2,), float(value), device="jax")


def batches(count: int, **options: Any) -> list[Batch]:
    return [Batch(full(i), full(2 * i), **options) for i in range(count)]


def each(values: list[Any]) -> list[tuple[Any, ...]]:
    return [(value,) for value in values]


# -- programs ---------------------------------------------------------------------------------------------------------


def reads() -> Program:
    return lambda b: b.x * 2 + b.y + b.total(), each(batches(5)), None


def a_mapping() -> Program:
    return lambda b: b["x"] * 2, each([UserDict(x=full(i)) for i in range(5)]), None


def slots() -> Program:
    return lambda b: (Frozen(b.x + 1, b.y * 2), b), each([Frozen(full(i), full(i + 1)) for i in range(5)]), None


def found_dynamically() -> Program:
    def step(b: Any) -> torch.Tensor:
        b.z = b.x + b.y
        return b.z * 2

    made = [Dynamic(x=full(i), y=full(2 * i)) for i in range(5)]
    return step, each(made), made


def namespaces_with_numbers() -> Program:
    return lambda b: b.x * b.scale, each([types.SimpleNamespace(x=full(i), scale=0.5 * i) for i in range(6)]), None


def nested() -> Program:
    def made(i: int) -> Batch:
        return Batch(Batch(full(i), [full(i), {"z": full(2 * i)}]))

    return lambda b: b.x.x + b.x.y[0] + b.x.y[1]["z"], each([made(i) for i in range(5)]), None


def changes_attributes() -> Program:
    def step(b: Batch) -> torch.Tensor:
        b.x.mul_(2)
        b.y = b.x + 1
        b.count += 1
        return b.total()

    made = batches(6)
    return step, each([*made, made[1], made[2]]), made


def grows_a_list() -> Program:
    def step(b: Batch) -> torch.Tensor:
        b.x.append(b.x[-1] * 2)
        return b.x[-1] + b.x[0]

    made = [Batch([full(i)]) for i in range(4)]
    return step, each([*made, made[0]]), made


def moves_all() -> Program:
    def step(b: Batch) -> Batch:
        for name, value in vars(b).items():
            if isinstance(value, torch.Tensor):
                setattr(b, name, value * 3)
        return b

    return step, each(batches(4)), None


def replaces() -> Program:
    return lambda b: dataclasses.replace(b, x=b.x * 2), each(batches(4)), None


def shapes_and_words() -> Program:
    made = [Batch(full(i, 2 + i % 2), name="ab"[i % 2]) for i in range(6)]
    return lambda b: b.x * len(b.name), each(made), None


def optional_fields() -> Program:
    made = [Batch(full(i), full(i) if i % 2 else None) for i in range(6)]
    return lambda b: b.x if b.y is None else b.x + b.y, each(made), None


def subclasses() -> Program:
    class Doubled(Batch):
        def total(self) -> torch.Tensor:
            return super().total() * 2

    return lambda b: b.total(), each([Batch(full(1)), Doubled(full(1)), Batch(full(2)), Doubled(full(2))]), None


def a_method_of_one() -> Program:
    made = batches(3)
    made[2].total = lambda: full(0)  # type: ignore[method-assign]
    return lambda b: b.total(), each([*made, made[0]]), None


def trains() -> Program:
    weight = full(2).requires_grad_()

    def step(b: Batch) -> torch.Tensor:
        weight.grad = None
        (b.x * weight).sum().backward()
        assert weight.grad is not None
        return b.x * weight.grad

    return step, each(batches(5)), weight


def leaves() -> Program:
    def step(b: Batch) -> torch.Tensor:
        (b.x**2).sum().backward()
        return b.x.detach() * 2

    made = [Batch(full(i).requires_grad_()) for i in range(4)]
    return step, each([*made, made[0]]), [lambda b=b: b.x.grad for b in made]


def one_object_twice() -> Program:
    def step(a: Batch, b: Batch) -> torch.Tensor:
        a.x = a.x + 1
        return b.x if a is b else a.x * b.x

    c = batches(5)
    return step, [(c[0], c[1]), (c[2], c[3]), (c[4], c[4]), (c[0], c[0]), (c[1], c[2])], c


def shared_memory() -> Program:
    def step(a: Batch, b: Batch) -> torch.Tensor:
        a.x.add_(1)
        return b.x * 2

    x = full(3)
    c = [Batch(full(1)), Batch(full(2)), Batch(x), Batch(x), Batch(x.view(2)), Batch(full(7))]
    return step, [(c[0], c[1]), (c[2], c[3]), (c[3], c[4]), (c[5], c[0])], c


def one_tensor_twice() -> Program:
    x = full(1)
    made = [Batch(full(1), full(2)), Batch(x, x), Batch(full(3), full(2)), Batch(full(3), x)]
    return lambda b: b.x * (2 if b.x is b.y else 3), each(made), None


def compared_with_the_last() -> Program:
    held = Batch(Batch(full(0)))

    def step(b: Batch) -> torch.Tensor:
        factor = 10 if b is held.x else 1
        result = (b.x + held.x.x) * factor
        held.x = b
        return result

    a, b, c = batches(3)
    return step, each([a, a, b, b, a, c, Batch(full(9)), c]), held


def found_in_a_set() -> Program:
    made = [Hashed(x=full(i)) for i in range(5)]
    seen = {made[3]}
    return lambda b: b["x"] * (0 if b in seen else 2), each([*made, made[3], made[0]]), None


def also_a_variable() -> Program:
    kept = [Batch(full(5)), Batch(full(6))]

    def step(b: Batch) -> torch.Tensor:
        kept[0].x.add_(1)
        return b.x + kept[0].x + kept[1].x

    return step, each([Batch(full(1)), kept[0], kept[1], Batch(full(2)), kept[0]]), kept


def exceptions() -> Program:
    return lambda e: e.args[0] * 2, each([ValueError(full(i)) for i in range(3)]), None


def models() -> Program:
    torch.manual_seed(0)
    made = [nn.Linear(2, 2).to("jax") for _ in range(2)]
    x = full(1)
    return lambda net, x: net(x), [(net, x) for _ in range(3) for net in made], None


PROGRAMS = {
    reads: 1,
    a_mapping: 1,
    slots: 1,
    found_dynamically: 1,
    namespaces_with_numbers: 2,
    nested: 2,
    changes_attributes: 2,
    grows_a_list: 3,
    moves_all: 1,
    replaces: 1,
    shapes_and_words: 2,
    optional_fields: 2,
    subclasses: 2,
    a_method_of_one: 2,
    trains: 2,
    leaves: 5,
    one_object_twice: 2,
    shared_memory: 3,
    one_tensor_twice: 2,
    compared_with_the_last: 3,
    found_in_a_set: 2,
    also_a_variable: 3,
    exceptions: 3,
    models: 2,
}


def content(value: Any) -> Any:
    """What a value holds, with lists for tensors."""
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [content(x) for x in value]
    if isinstance(value, dict):
        return {key: content(x) for key, x in value.items()}
    if isinstance(value, Frozen):
        return content((value.x, value.y))
    if isinstance(value, types.LambdaType):
        return content(value())
    return content(vars(value)) if hasattr(value, "__dict__") else value


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_objects_do_what_they_do_in_eager_mode(program: Callable[[], Program]) -> None:
    expected, calls, held = program()
    wanted = [(content(expected(*call)), content(held)) for call in calls]
    function, calls, held = program()
    compiled = tenax.jit(function)
    assert [(content(compiled(*call)), content(held)) for call in calls] == wanted
    assert len(compiled_of(compiled).history) == PROGRAMS[program]


def test_a_program_holds_no_batch() -> None:
    compiled = tenax.jit(lambda b: b.x * 2)
    made = [Batch(torch.randn(3, device="jax")) for _ in range(2)]
    compiled(made[0])
    compiled(made[1])
    held = [weakref.ref(x) for b in made for x in (b, b.x, b.x.jax())]
    made.clear()
    gc.collect()
    assert not any(x() is not None for x in held)


def test_the_reason_names_the_tensor_of_a_batch() -> None:
    def step(batch: Batch) -> torch.Tensor:
        return batch.x * 2

    compiled = tenax.jit(step)
    for size in (2, 3):
        compiled(Batch(full(1, size)))
    assert "batch.x was float32[2] and is float32[3]" in str(tenax.explain(compiled))
