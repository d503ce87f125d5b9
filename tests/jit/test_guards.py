"""A compiled function notices each change of what its run read: results and effects are those of eager calls.

Each program yields what a user sees after each step, with changes in between.
"""

from __future__ import annotations

import collections
import ctypes
import enum
import functools
import os
import sys
import threading
import types
import warnings
from array import array
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.autograd import forward_ad
from torch.utils._pytree import tree_leaves

import tenax
from tests.helpers.agreement import close
from tests.helpers.tolerances import ACCUMULATED

pytestmark = pytest.mark.gpu

Program = Callable[[Any], Iterator[Any]]
NUMBER = 2.0
EXPRESSION = "NUMBER"


def given() -> torch.Tensor:
    return torch.arange(3.0, device="jax") - 1


# -- the geometry of tensors -------------------------------------------------------------------------------------------


def _data_on_another_part(jit: Any) -> Iterator[Any]:
    storage = torch.arange(8.0, device="jax")
    parameter = nn.Parameter(storage[:4])
    double = jit(lambda: parameter * 2)
    for data in (storage[:4], storage[4:], storage[2:6], storage[::2]):
        parameter.data = data
        yield double()


def _geometry_outside(jit: Any) -> Iterator[Any]:
    x = torch.arange(9.0, device="jax").view(3, 3)
    total = jit(lambda: (x * torch.arange(x.shape[-1], device="jax"), x.shape))
    yield total()
    for change in (x.t_, lambda: x.resize_(2, 2), lambda: x.unsqueeze_(0), lambda: x.as_strided_((2,), (3,), 1)):
        change()
        yield total()


def _geometry_of_a_shape_alone(jit: Any) -> Iterator[Any]:
    x, y = given(), torch.zeros(2, 5, device="jax")
    scale = jit(lambda: x * y.shape[0])
    yield scale()
    y.t_()
    yield scale()


def _geometry_inside(jit: Any) -> Iterator[Any]:
    def program(x: torch.Tensor) -> torch.Tensor:
        held.x.unsqueeze_(0)
        return x.t_() * 2 + held.x.sum()

    held = types.SimpleNamespace(x=given())
    step = jit(program)
    for _ in range(3):
        x = torch.arange(6.0, device="jax").view(2, 3)
        yield step(x), x, x.stride(), held.x


def _resized_inside(jit: Any) -> Iterator[Any]:
    step = jit(lambda x: (x.resize_(2), x.sum())[1])
    for _ in range(3):
        x = given()
        yield step(x), x


def _views_inside(jit: Any) -> Iterator[Any]:
    step = jit(lambda x: x[1:].unsqueeze_(0).t_() * 2)
    for _ in range(2):
        x = given()
        yield step(x), x


def _flags(jit: Any) -> Iterator[Any]:
    held = types.SimpleNamespace(x=given())
    toggle = jit(lambda x: held.x.requires_grad_(not held.x.requires_grad).detach() + x.requires_grad_().sum())
    for _ in range(3):
        x = given()
        result = toggle(x).sum()
        result.backward()
        yield result, x.requires_grad, held.x.requires_grad, x.grad


def _untied(jit: Any) -> Iterator[Any]:
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)).to("jax")
    model[1].weight = model[0].weight
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def program() -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(given()).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    step = jit(program)
    for i in range(4):
        if i == 2:
            model[1].weight.data = torch.ones(3, 3, device="jax")
        yield step(), model[0].weight, model[1].weight


# -- numbers -----------------------------------------------------------------------------------------------------------


def _host_scalars(jit: Any) -> Iterator[Any]:
    scale = jit(lambda x, a: x * a)
    for value in (2.0, 3.0, 3.0):
        yield scale(given(), torch.tensor(value))


def _signs_of_zero(jit: Any) -> Iterator[Any]:
    held = types.SimpleNamespace(zero=0.0)
    divide = jit(lambda zero: (given() / zero, given() / held.zero))
    for held.zero in (0.0, -0.0, 0.0):
        yield from (divide(zero) for zero in (0.0, -0.0))


def _scaler(jit: Any) -> Iterator[Any]:
    parameter = nn.Parameter(given())
    optimizer = torch.optim.SGD([parameter], 0.1)
    scaler = torch.amp.GradScaler("jax", init_scale=4.0, growth_interval=1)

    def program() -> None:
        optimizer.zero_grad()
        scaler.scale(parameter.square().sum()).backward()
        scaler.step(optimizer)
        scaler.update()

    step = jit(program)
    for change in (None, scaler.set_growth_factor, None, scaler.set_growth_interval, None):
        if change is not None:
            change(3)
        step()
        yield parameter, scaler.get_scale()


def _schedule_with_state(jit: Any) -> Iterator[Any]:
    def factor(epoch: int) -> float:
        calls[0] += 1
        return 1 / (1 + calls[0])

    parameter, calls = nn.Parameter(given()), [0]
    optimizer = torch.optim.SGD([parameter], 0.1)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)

    def program() -> None:
        optimizer.zero_grad()
        parameter.square().sum().backward()
        optimizer.step()
        scheduler.step()

    step = jit(program)
    for _ in range(3):
        step()
        yield parameter, calls[0]


# -- modes of torch ----------------------------------------------------------------------------------------------------


def _forward_mode(jit: Any) -> Iterator[Any]:
    sine = jit(torch.sin)
    yield sine(given())
    with forward_ad.dual_level():
        yield forward_ad.unpack_dual(sine(forward_ad.make_dual(given(), given()))).tangent


def _saved_tensors_hooks(jit: Any) -> Iterator[Any]:
    product = jit(lambda x: (x.sin() * x).sum())
    for hooked in (False, True):
        x = given().requires_grad_()
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, (lambda t: t * 2) if hooked else (lambda t: t)):
            result = product(x)
        result.backward()
        yield x.grad


def _anomaly_detection(jit: Any) -> Iterator[Any]:
    parameter = nn.Parameter(torch.zeros(3, device="jax"))
    gradient = jit(lambda: torch.autograd.grad((parameter / parameter).sum(), parameter)[0])
    yield gradient()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with torch.autograd.detect_anomaly():
                yield gradient()
    except RuntimeError as error:
        yield str(error).partition(" ")[0]


def _modes(jit: Any) -> Iterator[Any]:
    read = jit(lambda: given() * torch.is_autocast_enabled("cpu") + torch.are_deterministic_algorithms_enabled())
    yield read()
    with torch.autocast("cpu", torch.bfloat16):
        yield read()
    torch.use_deterministic_algorithms(True)
    try:
        yield read()
    finally:
        torch.use_deterministic_algorithms(False)
    yield read()


# -- code --------------------------------------------------------------------------------------------------------------


def _special_methods(jit: Any) -> Iterator[Any]:
    class Value:
        def __call__(self, x: Any) -> Any:
            return x * 2

        def __len__(self) -> int:
            return 3

        def __add__(self, other: Any) -> Any:
            return other * 2

    value = Value()
    use = jit(lambda x: value(x) + len(value) + (value + 1) + (10 if value else 0))
    yield use(given())
    for name, method in (
        ("__call__", lambda self, x: x * 3),
        ("__len__", lambda self: 7),
        ("__add__", lambda self, other: other * 9),
        ("__bool__", lambda self: False),
    ):
        setattr(Value, name, method)
        yield use(given())


def _methods_of_classes(jit: Any) -> Iterator[Any]:
    class Base:
        def double(self, x: Any) -> Any:
            return x * 2

    class Value(Base):
        @staticmethod
        def scale(x: Any) -> Any:
            return x * 2

        @classmethod
        def shift(cls, x: Any) -> Any:
            return x + 2

        def double(self, x: Any) -> Any:
            return super().double(x)

    value = Value()
    use = jit(lambda x: Value.scale(x) + Value.shift(x) * value.double(x))
    yield use(given())
    for owner, name, method in (
        (Value, "scale", staticmethod(lambda x: x * 5)),
        (Value, "shift", classmethod(lambda cls, x: x + 5)),
        (Base, "double", lambda self, x: x * 9),
    ):
        setattr(owner, name, method)
        yield use(given())


def _classes(jit: Any) -> Iterator[Any]:
    class Double(nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    class Triple(nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 3

    class Derived(Double):
        pass

    plain, derived = Double(), Derived()
    use = jit(lambda x: plain(x) * 10 + derived(x))
    yield use(given())
    plain.__class__ = Triple
    yield use(given())
    Derived.__bases__ = (Triple,)
    yield use(given())


def _functions(jit: Any) -> Iterator[Any]:
    def scale(x: Any, by: float = 2.0, *, shift: float = 1.0) -> Any:
        return x * by + shift

    def other(x: Any, by: float = 2.0, *, shift: float = 1.0) -> Any:
        return x - by - shift

    use = jit(lambda x: scale(x))
    yield use(given())
    scale.__defaults__ = (5.0,)
    yield use(given())
    scale.__kwdefaults__["shift"] = 7.0
    yield use(given())
    scale.__kwdefaults__ = {"shift": 8.0}
    yield use(given())
    scale.__code__ = other.__code__
    yield use(given())


def _functions_of_libraries(jit: Any) -> Iterator[Any]:
    use = jit(lambda x: F.relu(x) + torch.sin(x))
    yield use(given())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(F, "relu", lambda x: x * 100)
        yield use(given())
        patch.setattr(torch, "sin", lambda x: x * 1000)
        yield use(given())
    yield use(given())


# -- containers --------------------------------------------------------------------------------------------------------


def _views_of_dicts(jit: Any) -> Iterator[Any]:
    numbers = {"a": 2.0}
    proxy, values, get = types.MappingProxyType(numbers), numbers.values(), numbers.get
    use = jit(lambda x: x * proxy["a"] + sum(values) * get("a"))
    yield use(given())
    numbers["a"] = 5.0
    yield use(given())
    numbers["b"] = 7.0
    yield use(given())


def _ordered(jit: Any) -> Iterator[Any]:
    def program() -> Any:
        outside.move_to_end(next(iter(outside)))
        return sum(x * 10.0**i for i, x in enumerate((*inside.values(), *outside.values())))

    inside, outside = (collections.OrderedDict(a=given(), b=given() * 2) for _ in range(2))
    use = jit(program)
    for key in ("a", "b", "a"):
        yield use(), [*outside]
        inside.move_to_end(key, last=False)


def _hooks_before_others(jit: Any) -> Iterator[Any]:
    module = nn.Linear(3, 3).to("jax")
    use = jit(lambda x: module(x))
    for shift in (1.0, 2.0, 3.0):
        module.register_forward_hook(lambda _, __, x, shift=shift: x * shift + shift, prepend=True)
        yield use(given()), module(given())


def _variables_by_name(jit: Any) -> Iterator[Any]:
    scope = sys.modules[__name__]
    module = types.ModuleType("made_here")
    use = jit(lambda x: x * globals()["NUMBER"] + scope.NUMBER * module.number + float(os.environ["TENAX_TEST_NUMBER"]))
    with pytest.MonkeyPatch.context() as patch:
        for number in (2.0, 5.0):
            patch.setattr(scope, "NUMBER", number)
            patch.setattr(module, "number", number, raising=False)
            patch.setenv("TENAX_TEST_NUMBER", str(number))
            yield use(given())


def _evaluated_text(jit: Any) -> Iterator[Any]:
    scope = sys.modules[__name__]
    use = jit(lambda x: x * eval("NUMBER") + eval(EXPRESSION))
    with pytest.MonkeyPatch.context() as patch:
        for number, expression in ((2.0, "NUMBER * 2"), (5.0, "NUMBER * 2"), (5.0, "abs(NUMBER)")):
            patch.setattr(scope, "NUMBER", number)
            patch.setattr(scope, "EXPRESSION", expression)
            yield use(given())


class Pair(ctypes.Structure):
    _fields_ = [("first", ctypes.c_double)]


def _host_memory(jit: Any) -> Iterator[Any]:
    numbers, shaped, typed = np.ones(3), np.zeros(6), np.zeros(2)
    objects = np.array([[1.0], None], object)
    viewed, pair, scalar = array("d", [2.0]), Pair(2.0), ctypes.c_double(2.0)
    memory = memoryview(viewed)

    def program(x: Any) -> Any:
        total = float(numbers.sum()) + objects[0][0] + memory[0] + pair.first + scalar.value
        return x * total + shaped.shape[0] + (typed.dtype == np.float64)

    use = jit(program)
    yield use(given())
    numbers[0] = 5.0
    yield use(given())
    objects[0][0] = 7.0
    yield use(given())
    viewed[0], pair.first, scalar.value = 3.0, 4.0, 5.0
    yield use(given())
    shaped.resize((2, 3))
    yield use(given())


def _attributes_of_objects(jit: Any) -> Iterator[Any]:
    class Choice(enum.Enum):
        FIRST = [2.0]  # noqa: RUF012

    Choice.FIRST.extra = 1.0  # type: ignore[attr-defined]
    scale: Any = functools.partial(lambda x, by: x * by, by=2.0)
    scale.shift = 3.0
    local = threading.local()
    local.number = 2.0
    affine = torch.distributions.AffineTransform(0.0, 2.0)

    def program(x: Any) -> Any:
        return scale(affine(x)) + scale.shift * Choice.FIRST.value[0] + Choice.FIRST.extra * local.number  # type: ignore[attr-defined]

    use = jit(program)
    yield use(given())
    Choice.FIRST.value[0] = 5.0
    yield use(given())
    Choice.FIRST.extra = 7.0  # type: ignore[attr-defined]
    yield use(given())
    scale.shift = 11.0
    yield use(given())
    local.number, affine.scale = 13.0, 17.0
    yield use(given())


PROGRAMS: tuple[Program, ...] = (
    *(_data_on_another_part, _geometry_outside, _geometry_of_a_shape_alone, _geometry_inside, _resized_inside),
    *(_views_inside, _flags, _untied, _host_scalars, _signs_of_zero, _scaler, _schedule_with_state),
    *(_forward_mode, _saved_tensors_hooks, _anomaly_detection, _modes),
    *(_special_methods, _methods_of_classes, _classes, _functions, _functions_of_libraries),
    *(_views_of_dicts, _ordered, _hooks_before_others, _variables_by_name, _evaluated_text, _host_memory),
    *(_attributes_of_objects,),
)


def numbers_in(value: Any) -> Any:
    """A row with its tensors on the host, as they are now."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().clone()
    return [*map(numbers_in, value)] if isinstance(value, (tuple, list)) else value


def rows_of(program: Program, jit: Any) -> list[list[Any]]:
    torch.manual_seed(0)
    return [tree_leaves(numbers_in(row)) for row in program(jit)]


def assert_noticed(program: Program) -> None:
    """A program whose calls change what the next one reads gives compiled what it gives eagerly."""
    expected, found = (rows_of(program, jit) for jit in (lambda function: function, tenax.jit))
    assert [*map(len, found)] == [*map(len, expected)]
    for before, now in zip(chain(*expected), chain(*found), strict=True):
        if isinstance(before, torch.Tensor):
            close(now, before, ACCUMULATED, nan=True)
        else:
            assert now == before


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_change_is_noticed(program: Program) -> None:
    assert_noticed(program)
