"""A compiled function notices changes of classes and functions, and of the attributes that Python looks up by itself.

Each program yields what a user sees after each call, with changes in between.
"""

from __future__ import annotations

import abc
import collections
import functools
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

from tests.jit.test_guards import Program, assert_noticed, given

# -- what Python looks up by itself ------------------------------------------------------------------------------------


def _default_factories(jit: Any) -> Iterator[Any]:
    scale = [1.0]
    table = collections.defaultdict(lambda: given() * scale[0])
    read = jit(lambda: table["x"] + 1)
    yield read(), [*table]
    table.clear()
    scale[0] = 2.0
    yield read(), [*table]
    table.clear()
    table.default_factory = lambda: given() * 9
    yield read(), [*table]
    yield read()


def _imports(jit: Any) -> Iterator[Any]:
    def program(x: torch.Tensor) -> torch.Tensor:
        import swapped_module

        return x * swapped_module.scale * getattr(swapped_module, "offset", 1)

    call, x = jit(program), given()
    try:
        for scale in (2, 3):
            sys.modules["swapped_module"] = module = types.ModuleType("swapped_module")
            module.scale = scale
            yield call(x)
            module.offset = 7
            yield call(x)
            module.scale = 10
            yield call(x)
    finally:
        del sys.modules["swapped_module"]


def _attributes_that_a_module_makes(jit: Any) -> Iterator[Any]:
    module = types.ModuleType("making_module")
    vars(module)["__getattr__"] = lambda name: 5
    call, x = jit(lambda x: x * module.anything), given()
    yield call(x)
    vars(module)["__getattr__"] = lambda name: 6
    yield call(x)
    module.anything = 7
    yield call(x)


class _Read:
    scale = 2

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, "other" if name == "scale" else name)


def _own_lookup(jit: Any) -> Iterator[Any]:
    held = _Read()
    held.other = 3
    call, x = jit(lambda x: x * held.scale), given()
    yield call(x)
    held.other = 4
    yield call(x)


class _Meta(type):
    @property
    def scale(cls) -> int:
        return cls.own


class _Made(metaclass=_Meta):
    own = 2


def _metaclasses(jit: Any) -> Iterator[Any]:
    call, x = jit(lambda x: x * _Made.scale), given()
    for own in (2, 3):
        _Made.own = own
        yield call(x)


def _names_that_hide_builtins(jit: Any) -> Iterator[Any]:
    scope: dict[str, Any] = {"__name__": "hiding"}
    exec("def program(x): return x * len([1, 2])", scope)
    call, x = jit(scope["program"]), given()
    yield call(x)
    scope["len"] = lambda values: 50
    yield call(x)
    del scope["len"]
    yield call(x)


def _states_of_partials(jit: Any) -> Iterator[Any]:
    def scaled(x: torch.Tensor, by: float) -> torch.Tensor:
        return x * by

    held = functools.partial(scaled, by=2.0)
    call, x = jit(lambda x: held(x)), given()
    yield call(x)
    held.__setstate__((scaled, (), {"by": 3.0}, {}))
    yield call(x)


# -- plain values and tensors with attributes --------------------------------------------------------------------------


class _Text(str):
    scale = 1


def _strings_with_attributes(jit: Any) -> Iterator[Any]:
    call, x, text = jit(lambda x, text: x * text.scale), given(), _Text("a")
    yield call(x, text)
    other = _Text("a")
    other.scale = 5
    yield call(x, other)
    other.scale = 6
    yield call(x, other)


class _Weight(nn.Parameter):
    scale = 2


def _attributes_of_tensors(jit: Any) -> Iterator[Any]:
    weight, own, x = nn.Parameter(given()), _Weight(given()), given()
    call = jit(lambda x: x * weight * own * own.scale * (2 if getattr(weight, "decays", False) else 3))
    yield call(x)
    weight.decays = True
    yield call(x)
    _Weight.scale = 3
    yield call(x)
    own.scale = 5
    yield call(x)
    _Weight.scale = 2


# -- what classes and functions say of themselves ---------------------------------------------------------------------


def _functions_that_count_their_calls(jit: Any) -> Iterator[Any]:
    def helper() -> int:
        helper.calls = getattr(helper, "calls", 0) + 1
        return helper.calls

    def counted(x: torch.Tensor) -> torch.Tensor:
        counted.calls = getattr(counted, "calls", 0) + 1
        return x * counted.calls + helper()

    call = jit(counted)
    for _ in range(3):
        yield call(given()), counted.calls, helper.calls
    del counted.calls
    yield call(given()), counted.calls, helper.calls


class _Point:
    """2"""

    __match_args__: tuple[str, ...] = ("x", "y")
    x: int
    y: int

    def __init__(self) -> None:
        self.x, self.y = 2, 3


def _data_that_python_makes_of_a_class(jit: Any) -> Iterator[Any]:
    point = _Point()

    def matched(x: torch.Tensor) -> torch.Tensor:
        match point:
            case _Point(first):
                return x * first
        return x

    calls = jit(matched), jit(lambda x: x * len(_Point.__annotations__)), jit(lambda x: x * int(_Point.__doc__ or 0))
    try:
        for _ in range(2):
            yield [call(given()) for call in calls]
            _Point.__match_args__ = ("y",)
            _Point.__annotations__["z"] = int
            _Point.__doc__ = "5"
            yield [call(given()) for call in calls]
            _Point.__match_args__ = ("x", "y")
    finally:
        del _Point.__annotations__["z"]
        _Point.__doc__ = "2"


def _annotations(jit: Any) -> Iterator[Any]:
    names: dict[str, Any] = {"__name__": __name__}
    # Without the `annotations` future of this module, Python 3.14 evaluates them when they are first read.
    exec(compile("class Point:\n    x: int\n", "<string>", "exec", dont_inherit=True), names)
    point = names["Point"]
    call = jit(lambda x: x * len(point.__annotations__))
    for name in "yz":
        yield call(given())
        point.__annotations__[name] = int
    yield call(given())


def _subclasses(jit: Any) -> Iterator[Any]:
    base = type("Base", (), {"__module__": __name__})
    call = jit(lambda x: x * len(base.__subclasses__()))
    derived = []
    for _ in range(3):
        yield call(given())
        derived.append(type("Derived", (base,), {"__module__": __name__}))


def _words_of_functions(jit: Any) -> Iterator[Any]:
    def scale(x: float) -> float:
        """2"""
        return x

    call = jit(lambda x: x * float(scale.__doc__) * len(scale.__name__) * len(scale.__annotations__))
    yield call(given())
    scale.__doc__ = "3"
    yield call(given())
    scale.__name__ = "longer"
    yield call(given())
    scale.__annotations__["y"] = float
    yield call(given())
    scale.__annotations__ = {}
    yield call(given())


def _names_of_classes(jit: Any) -> Iterator[Any]:
    class Scale:
        pass

    scale = Scale()
    call = jit(lambda x: x * len(type(scale).__name__) + len(Scale.__qualname__))
    yield call(given())
    Scale.__name__ = "S"
    yield call(given())
    Scale.__qualname__ = "Of.S"
    yield call(given())


def _a_class_that_is_registered(jit: Any) -> Iterator[Any]:
    class Base(abc.ABC):  # noqa: B024
        pass

    class Scale:
        pass

    scale = Scale()
    call = jit(lambda x: x * (2 if isinstance(scale, Base) else 3) * (5 if issubclass(Scale, Base) else 7))
    yield call(given())
    Base.register(Scale)
    yield call(given())


PROGRAMS: tuple[Program, ...] = (
    *(_default_factories, _imports),
    *(_attributes_that_a_module_makes, _own_lookup, _metaclasses, _names_that_hide_builtins, _states_of_partials),
    *(_strings_with_attributes, _attributes_of_tensors),
    *(_functions_that_count_their_calls, _data_that_python_makes_of_a_class, _subclasses),
    *(_annotations, _words_of_functions, _names_of_classes, _a_class_that_is_registered),
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_change_is_noticed(program: Program) -> None:
    assert_noticed(program)
