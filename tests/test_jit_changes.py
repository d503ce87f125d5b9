"""A compiled function notices changes that no container of the program shows: of classes, libraries, caches, settings.

Each program yields what a user sees after each call, with changes in between.
"""

from __future__ import annotations

import abc
import asyncio
import collections
import configparser
import contextvars
import decimal
import functools
import gc
import io
import logging
import mmap
import os
import queue
import string
import sys
import threading
import types
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import tenax
from tests.test_jit_guards import Program, assert_noticed, given

# -- modules -----------------------------------------------------------------------------------------------------------


def _tables_of_a_module(jit: Any) -> Iterator[Any]:
    torch.manual_seed(0)
    model = nn.Linear(3, 3).to("jax")
    model.register_forward_hook(lambda module, args, result: result * 5)
    call, x = jit(model), given()
    yield call(x)
    model._forward_hooks = collections.OrderedDict()
    yield call(x)
    model._forward_hooks[1] = lambda module, args, result: result * 9
    yield call(x)
    other = nn.Linear(3, 3).to("jax")
    vars(model).update(vars(other))
    yield call(x)
    other.weight = nn.Parameter(torch.ones(3, 3, device="jax"))
    yield call(x)


def _what_a_module_keeps_to_itself(jit: Any) -> Iterator[Any]:
    model, state = nn.Module(), {"scale": 2.0}
    model.register_buffer("b", given())
    saved = jit(lambda: sum(model.state_dict().values(), torch.zeros(3, device="jax")))
    yield saved()
    model._non_persistent_buffers_set.add("b")
    yield saved()
    model._non_persistent_buffers_set.clear()
    model.register_state_dict_post_hook(lambda module, found, *_: found.update(z=given() * state["scale"]))
    yield saved()
    state["scale"] = 3.0
    yield saved()


def _swapped_parameters_of_an_optimizer(jit: Any) -> Iterator[Any]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)).to("jax")
    optimizer, first = torch.optim.SGD(model.parameters(), 0.1), model[0].weight

    def swap(x: torch.Tensor) -> torch.Tensor:
        if x.requires_grad:
            optimizer.step()
        model[0].weight, model[1].weight = model[1].weight, model[0].weight
        return x * 2

    call = jit(swap)
    for _ in range(4):
        yield call(given()), model[0].weight is first


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


# -- caches ------------------------------------------------------------------------------------------------------------


def _caches(kind: Callable[[Any], Any], jit: Any) -> Iterator[Any]:
    scales = {"a": 2.0}
    cached = kind(lambda key: scales[key])
    cached("a")
    scales["a"] = 3.0
    call, x = jit(lambda x: x * cached("a")), given()
    yield call(x)
    cached.cache_clear()
    yield call(x)
    scales["a"] = 4.0
    yield call(x), cached("a")
    cached.cache_clear()
    yield call(x)


def _bounded_cache(jit: Any) -> Iterator[Any]:
    yield from _caches(functools.lru_cache(4), jit)


def _unbounded_cache(jit: Any) -> Iterator[Any]:
    yield from _caches(functools.cache, jit)


def _cache_of_tensors(jit: Any) -> Iterator[Any]:
    weight = given()
    cached = functools.cache(lambda factor: weight * factor)
    call, x = jit(lambda x: x * cached(3)), given()
    yield call(x)
    weight.mul_(2)
    yield call(x), cached.cache_info().currsize
    cached.cache_clear()
    yield call(x)
    yield call(x), cached(3)


class _Holder:
    def __init__(self) -> None:
        self.scale = 2

    @functools.lru_cache  # noqa: B019
    def scaled(self, by: int) -> int:
        return self.scale * by


def _cached_method(jit: Any) -> Iterator[Any]:
    held = _Holder()
    call, x = jit(lambda x: x * held.scaled(3)), given()
    yield call(x)
    held.scale = 5
    yield call(x)
    _Holder.scaled.cache_clear()
    yield call(x)


# -- settings and libraries --------------------------------------------------------------------------------------------


def _settings(jit: Any) -> Iterator[Any]:
    def program(x: torch.Tensor) -> torch.Tensor:
        ignored = 2 if np.geterr()["divide"] == "ignore" else 1
        return x * torch.get_num_threads() * ignored * int(os.getenv("TENAX_TEST_SCALE", "1"))

    call, x, threads = jit(program), given(), torch.get_num_threads()
    yield call(x)
    torch.set_num_threads(threads + 1)
    try:
        yield call(x)
        with np.errstate(divide="ignore"):
            yield call(x)
        os.environ["TENAX_TEST_SCALE"] = "5"
        yield call(x)
    finally:
        torch.set_num_threads(threads)
        os.environ.pop("TENAX_TEST_SCALE", None)


def _levels_of_logging(jit: Any) -> Iterator[Any]:
    logger = logging.getLogger("tests.levels")
    logger.setLevel(logging.INFO)
    call, x = jit(lambda x: x * (2 if logger.isEnabledFor(logging.INFO) else 3)), given()
    yield call(x)
    logger.setLevel(logging.ERROR)
    yield call(x)
    logger.setLevel(logging.INFO)
    logging.disable(logging.CRITICAL)
    try:
        yield call(x)
    finally:
        logging.disable(logging.NOTSET)


def _patched(owner: Any, name: str, new: Any, call: Any, *args: Any) -> Iterator[Any]:
    had, old = name in vars(owner), getattr(owner, name)
    yield call(*args)
    setattr(owner, name, new)
    try:
        yield call(*args)
    finally:
        setattr(owner, name, old)
        if not had:
            delattr(owner, name)
    yield call(*args)


def _functions_that_a_library_calls(jit: Any) -> Iterator[Any]:
    model, x, scale = nn.GELU(), given(), [2.0]
    call = jit(lambda x: model(x))
    yield from _patched(F, "gelu", lambda x, approximate: x * scale[0], call, x)
    old, F.gelu = F.gelu, lambda x, approximate: x * scale[0]
    try:
        for scale[0] in (3.0, 4.0):
            yield call(x)
    finally:
        F.gelu = old


def _methods_of_libraries(jit: Any) -> Iterator[Any]:
    torch.manual_seed(0)
    model, x, normal = nn.Linear(3, 3).to("jax"), given(), torch.distributions.Normal(given(), 1 + given().abs())
    yield from _patched(nn.Linear, "forward", lambda self, x: x * 10, jit(lambda x: model(x)), x)
    yield from _patched(torch.Tensor, "sin", lambda self: self * 10, jit(lambda x: x.sin()), x)
    density = jit(lambda x: normal.log_prob(x))
    yield from _patched(torch.distributions.Normal, "log_prob", lambda self, x: x * 100, density, x)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def step(self: torch.optim.SGD, closure: Any = None) -> None:
        for group in self.param_groups:
            with torch.no_grad():
                [p.add_(1) for p in group["params"]]

    def train(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        return model.weight.detach().clone()

    yield from _patched(torch.optim.SGD, "step", step, jit(train), x)


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


def _events_and_queues(jit: Any) -> Iterator[Any]:
    stop, waiting = threading.Event(), queue.Queue()

    def take(x: torch.Tensor) -> torch.Tensor:
        waiting.put(1)
        y = x * waiting.qsize()
        if stop.is_set():
            stop.clear()
            return -y
        return y

    call = jit(take)
    for _ in range(2):
        yield call(given()), waiting.qsize(), stop.is_set()
        stop.set()
        waiting.put(2)
        yield call(given()), waiting.qsize(), stop.is_set()


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


def _subclasses(jit: Any) -> Iterator[Any]:
    base = type("Base", (), {"__module__": __name__})
    call = jit(lambda x: x * len(base.__subclasses__()))
    derived = []
    for _ in range(3):
        yield call(given())
        derived.append(type("Derived", (base,), {"__module__": __name__}))


def _arguments_of_an_exception(jit: Any) -> Iterator[Any]:
    error, missing = ValueError(2.0), OSError(2, "missing")
    call = jit(lambda x: x * error.args[0] * missing.errno * len(str(error.__cause__)))
    yield call(given())
    error.args = (3.0,)
    yield call(given())
    missing.errno = 5
    yield call(given())
    error.__cause__ = missing
    yield call(given())
    error.add_note("5")
    noted = jit(lambda x: x * int(error.__notes__[0]))
    yield noted(given())
    error.__notes__[0] = "7"
    yield noted(given())


def _cells(jit: Any) -> Iterator[Any]:
    cell = types.CellType(2.0)
    call = jit(lambda x: x * cell.cell_contents)
    for number in (2.0, 3.0):
        cell.cell_contents = number
        yield call(given())


def _objects_of_the_standard_library(jit: Any) -> Iterator[Any]:
    options, text, waiting = configparser.ConfigParser(), string.Template("$x"), asyncio.Queue[float]()
    options.read_dict({"model": {"scale": "2.0"}})
    scale = jit(lambda x: x * options.getfloat("model", "scale"))
    write = jit(lambda x: x * float(text.substitute(x=2)))
    take = jit(lambda x: x * waiting.get_nowait())
    for number in (2.0, 3.0, 4.0):
        waiting.put_nowait(number)
        options["model"]["scale"] = str(number)
        text.template = f"{number}$x"
        yield scale(given()), write(given())
        yield take(given()), waiting.qsize()


# -- objects of C, and words of functions and classes ------------------------------------------------------------------


def _an_element_of_xml(jit: Any) -> Iterator[Any]:
    root = ElementTree.fromstring("<a scale='2'><b>3</b></a>")
    call, x = jit(lambda x: x * float(root.get("scale")) * len(root) + float(root[0].text)), given()
    yield call(x)
    root.set("scale", "5")
    yield call(x)
    root[0].text = "7"
    yield call(x)
    ElementTree.SubElement(root, "c")
    yield call(x)


def _a_memory_map(jit: Any) -> Iterator[Any]:
    with mmap.mmap(-1, 16) as memory:
        memory[0] = 2
        call, x = jit(lambda x: x * memory[0]), given()
        yield call(x)
        memory[0] = 3
        yield call(x)


def _a_context(jit: Any) -> Iterator[Any]:
    variable: contextvars.ContextVar[float] = contextvars.ContextVar("variable")
    context = contextvars.copy_context()
    context.run(variable.set, 2.0)
    call, x = jit(lambda x: x * context[variable] * context.run(variable.get)), given()
    yield call(x)
    context.run(variable.set, 3.0)
    yield call(x)


def _files_in_memory(jit: Any) -> Iterator[Any]:
    text, data = io.StringIO("2"), io.BytesIO(b"3")
    call, x = jit(lambda x: x * float(text.getvalue()) + float(data.getvalue())), given()
    yield call(x)
    text.write("4")
    yield call(x)
    data.write(b"5")
    yield call(x)


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


def _settings_of_c(jit: Any) -> Iterator[Any]:
    before, enabled = gc.get_threshold(), gc.isenabled()
    third = decimal.Decimal(1), decimal.Decimal(3)
    call = jit(lambda x: x * gc.get_threshold()[0] + gc.isenabled() + len(str(decimal.Decimal(1) / third[1])))
    try:
        yield call(given())
        gc.set_threshold(600)
        yield call(given())
        gc.disable()
        yield call(given())
        with decimal.localcontext() as context:
            context.prec = 5
            yield call(given())
    finally:
        gc.set_threshold(*before)
        if enabled:
            gc.enable()


PROGRAMS: tuple[Program, ...] = (
    *(_tables_of_a_module, _what_a_module_keeps_to_itself, _swapped_parameters_of_an_optimizer),
    *(_default_factories, _imports),
    *(_attributes_that_a_module_makes, _own_lookup, _metaclasses, _names_that_hide_builtins, _states_of_partials),
    *(_strings_with_attributes, _attributes_of_tensors),
    *(_bounded_cache, _unbounded_cache, _cache_of_tensors, _cached_method),
    *(_settings, _levels_of_logging, _functions_that_a_library_calls, _methods_of_libraries),
    *(_functions_that_count_their_calls, _events_and_queues, _objects_of_the_standard_library),
    *(_data_that_python_makes_of_a_class, _subclasses, _arguments_of_an_exception, _cells),
    *(_an_element_of_xml, _a_memory_map, _a_context, _files_in_memory),
    *(_words_of_functions, _names_of_classes, _a_class_that_is_registered, _settings_of_c),
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_change_is_noticed(program: Program) -> None:
    assert_noticed(program)


def test_a_steady_step_is_traced_once() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU()).to("jax")
    call = tenax.jit(model)
    for _ in range(3):
        call(given())
        tenax.jit(lambda x: x.sin())(given())  # whose trace replaces what the guard compares
    assert len(call._tenax_compiled.history) == 1


def test_a_queue_whose_content_cannot_be_read_raises() -> None:
    waiting: queue.SimpleQueue[float] = queue.SimpleQueue()
    waiting.put(2.0)
    with pytest.raises(tenax.errors.TraceError, match=r"reaches waiting, a SimpleQueue.*test_jit_changes.py:\d+"):
        tenax.jit(lambda x: x * waiting.get())(given())


def test_reading_on_in_a_file_in_memory_raises_and_leaves_it_as_it_was() -> None:
    lines, data = io.StringIO("2\n3\n"), io.BytesIO(b"23")
    for read in (lambda x: x * float(lines.readline()), lambda x: x * float(data.read(1))):
        with pytest.raises(tenax.errors.TraceError, match=r"reads on in it.*test_jit_changes.py:\d+"):
            tenax.jit(read)(given())
    assert lines.readline() == "2\n"
    assert data.read(1) == b"2"


def test_a_change_of_an_xml_element_raises_and_leaves_it_as_it_was() -> None:
    root = ElementTree.fromstring("<a><b/></a>")
    child = root[0]

    def change(x: torch.Tensor) -> torch.Tensor:
        root.set("scale", "2")
        root.remove(child)
        return x

    with pytest.raises(tenax.errors.TraceError, match=r"changes root, an object of class Element"):
        tenax.jit(change)(given())
    assert root[0] is child
    assert not root.attrib


def test_an_error_after_the_run_names_the_line() -> None:
    numbers, generator = count(), np.random.default_rng(0)

    def draws(x: torch.Tensor) -> torch.Tensor:
        return x * float(generator.random())

    def counts(x: torch.Tensor) -> torch.Tensor:
        return x * next(numbers)

    def appends(parts: list[torch.Tensor]) -> None:
        parts.append(parts[0])

    for function, argument, offset in ((draws, given(), 1), (counts, given(), 1), (appends, [given()], 0)):
        line = function.__code__.co_firstlineno + offset
        with pytest.raises(tenax.errors.TraceError, match=rf"test_jit_changes.py:{line}, in {function.__name__}"):
            tenax.jit(function)(argument)


class _Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        held["forward"] = held["forward"] + 1
        return x * 1

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * held["scale"]


held = {"scale": 2.0, "forward": 0}


def test_what_backward_of_a_function_reads_must_still_hold() -> None:
    weight = nn.Parameter(given())
    call = tenax.jit(lambda: _Scaled.apply(weight).sum())
    for held["scale"] in (2.0, 3.0):
        weight.grad = None
        call().backward()
        assert weight.grad.tolist() == [held["scale"]] * 3
    loss = call()
    held["scale"] = 5.0
    line = _Scaled.backward.__code__.co_firstlineno
    with pytest.raises(tenax.errors.TraceError, match=rf"test_jit_changes.py:{line}, in backward.*was 3.0 and is 5.0"):
        loss.backward()
