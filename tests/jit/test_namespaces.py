"""What a compiled function reads and changes in classes, modules of Python's, namespaces, functions and host arrays."""

from __future__ import annotations

import argparse
import array
import contextvars
import functools
import itertools
import threading
import types
import weakref
from collections import OrderedDict, UserDict, deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import tenax
from tenax.errors import TraceError

settings = types.ModuleType("settings")
settings.factor = 1.0  # type: ignore[attr-defined]
total = 0


def _by_class(jit: Any) -> Iterator[Any]:
    class Config:
        factor, calls = 1.0, 0
        seen: list[int] = []  # noqa: RUF012

    @jit
    def step(x: torch.Tensor) -> torch.Tensor:
        Config.calls += 1
        Config.seen.append(len(x))
        Config.last = x.sum()  # type: ignore[attr-defined]
        return x * Config.factor

    for i in range(4):
        Config.factor = 1.0 + i // 2
        yield step(torch.full((2,), i + 1.0, device="jax")), Config.calls, len(Config.seen), Config.last  # type: ignore[attr-defined]


def _by_own_class(jit: Any) -> Iterator[Any]:
    class Counting(nn.Module):
        calls = 0

        @classmethod
        def count(cls) -> int:
            cls.calls += 1
            return cls.calls

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            type(self).twice = 2 * self.count()  # type: ignore[attr-defined]
            return x * self.twice

    model = jit(Counting())
    for _ in range(3):
        yield model(torch.ones(2, device="jax")), Counting.calls, Counting.twice  # type: ignore[attr-defined]


def _by_module(jit: Any) -> Iterator[Any]:
    settings.table = {"shift": 1.0}  # type: ignore[attr-defined]

    @jit
    def step(x: torch.Tensor) -> torch.Tensor:
        settings.last = x.sum()  # type: ignore[attr-defined]
        return x * settings.factor + settings.table["shift"]

    for i in range(4):
        settings.factor, settings.table["shift"] = 1.0 + i // 2, 1.0 + i // 3  # type: ignore[attr-defined]
        yield step(torch.full((2,), i + 1.0, device="jax")), settings.last


def _by_held_module(jit: Any) -> Iterator[Any]:
    held, given = types.ModuleType("held"), types.ModuleType("given")
    holder: Any = types.SimpleNamespace(options=held)
    held.scale = given.scale = 1.0  # type: ignore[attr-defined]
    held.twice = lambda x: x * 2 + given.scale  # type: ignore[attr-defined]

    @jit
    def step(x: torch.Tensor, module: Any) -> torch.Tensor:
        module.last = module.scale + 1
        holder.options.count = holder.options.scale * 2
        late = 3.0 if hasattr(holder.options, "late") else 1.0
        return holder.options.twice(x) * holder.options.scale + module.scale + module.made + late

    given.__getattr__ = lambda name: given.scale * len(name)  # type: ignore[method-assign]
    for i in range(5):
        if i == 4:
            held.late = True  # type: ignore[attr-defined]
        held.scale, given.scale = 1.0 + i // 2, 1.0 + i // 3  # type: ignore[attr-defined]
        yield step(torch.full((2,), i + 1.0, device="jax"), given), held.count, given.last


def _by_method(jit: Any) -> Iterator[Any]:
    global total
    total = 0

    class Base:
        def scaled(self, x: torch.Tensor) -> torch.Tensor:
            global total
            total += 1
            return x * total

    class Own(Base):
        def scaled(self, x: torch.Tensor) -> torch.Tensor:
            return super().scaled(x) + self.shift

        @property
        def shift(self) -> float:
            return settings.factor  # type: ignore[no-any-return]

        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            return self.scaled(x)

    step = jit(Own())
    for i in range(4):
        settings.factor = 1.0 + i // 2  # type: ignore[attr-defined]
        yield step(torch.ones(2, device="jax")), total


def _by_function(jit: Any) -> Iterator[Any]:
    @jit
    def inner(x: torch.Tensor) -> torch.Tensor:
        inner.calls += 1
        return x * inner.calls

    inner.calls = 0  # type: ignore[attr-defined]
    step = jit(lambda x, kept=[]: (inner(x), kept.append(1), len(kept)))
    for _ in range(3):
        yield step(torch.ones(2, device="jax")), inner.calls  # type: ignore[attr-defined]


def _by_record(kind: Callable[[], Any]) -> Callable[[Any], Iterator[Any]]:
    def program(jit: Any) -> Iterator[Any]:
        record = kind()
        record.factor, record.calls = 1.0, 0

        @jit
        def step(x: torch.Tensor) -> torch.Tensor:
            record.calls += 1
            record.last = x * record.factor
            return record.last + record.calls

        for i in range(4):
            record.factor = 1.0 + i // 2
            yield step(torch.full((2,), i + 1.0, device="jax")), record.calls, record.last

    return program


def _by_reference(jit: Any) -> Iterator[Any]:
    class Owner:
        factor = 1.0

    owner = Owner()
    reference, table, names = weakref.ref(owner), weakref.WeakKeyDictionary({owner: 0}), UserDict(shift=1.0)
    proxy: Any = weakref.proxy(owner)

    @jit
    def step(x: torch.Tensor) -> torch.Tensor:
        table[owner] += 1
        proxy.last = proxy.factor + 1
        return x * reference().factor + table[owner] + names["shift"]  # type: ignore[union-attr]

    for i in range(4):
        owner.factor, names["shift"] = 1.0 + i // 2, 1.0 + i // 3
        yield step(torch.ones(2, device="jax")), table[owner], proxy.last


class _Counts(dict[str, int]):
    """A dict with an attribute, that makes what it lacks."""

    total = 0

    def __missing__(self, key: str) -> int:
        self.total += 1
        return settings.factor  # type: ignore[no-any-return]


def _by_dict(jit: Any) -> Iterator[Any]:
    counts = _Counts()

    @jit
    def step(x: torch.Tensor) -> torch.Tensor:
        return x * counts["a"]

    for i in range(4):
        settings.factor = 1.0 + i // 2  # type: ignore[attr-defined]
        yield step(torch.ones(2, device="jax")), counts.total


class _Odd:
    """Methods of containers that change what is stored, or hide what is there."""

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value * 2)  # type: ignore[misc]

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) + 100  # type: ignore[misc]

    def append(self, value: Any) -> None:
        super().append(value * 3)  # type: ignore[misc]

    def __iter__(self) -> Iterator[Any]:
        return iter([7])

    def __len__(self) -> int:
        return 5

    def get(self, *_: Any) -> Any:
        return 9

    def pop(self, *_: Any) -> Any:
        raise NotImplementedError

    clear = items = values = keys = pop


class _OddDict(_Odd, dict):  # type: ignore[type-arg, misc]
    pass


class _OddOrder(_Odd, OrderedDict):  # type: ignore[type-arg, misc]
    pass


class _OddList(_Odd, list):  # type: ignore[type-arg, misc]
    pass


class _OddDeque(_Odd, deque):  # type: ignore[type-arg, misc]
    pass


class _OddSet(set):  # type: ignore[type-arg]
    def add(self, value: int) -> None:
        super().add(value * 3)

    def __iter__(self) -> Iterator[int]:
        return iter([4])


def _by_overridden_methods(jit: Any) -> Iterator[Any]:
    table, order, row, line, members = _OddDict(a=1.0), _OddOrder(), _OddList([1.0]), _OddDeque([1.0]), _OddSet([1])
    OrderedDict.__setitem__(order, "a", 1.0)

    @jit
    def step(x: torch.Tensor) -> torch.Tensor:
        for container in (table, order):
            container["a"] = container["a"] + 1
            container[0] = len(container)
        for container in (row, line):
            container[0] = container[0] - 1
            container.append(2)
        members.add(len(members))
        return x * (table["a"] + order["a"] + row[0] + line[1] + sum(row) + sum(members))

    for i in range(4):
        if i == 2:
            dict.__setitem__(table, "a", 3.0)
            list.append(row, 3.0)
        dicts = dict(dict.items(table)), tuple(OrderedDict.items(order))
        yield step(torch.ones(2, device="jax")), *dicts, list.copy(row), tuple(deque.__iter__(line)), set.copy(members)


def _by_new_attribute(jit: Any) -> Iterator[Any]:
    class Model(nn.Module):
        @functools.cached_property
        def factor(self) -> torch.Tensor:
            return torch.full((2,), 3.0, device="jax")

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.last = x * self.factor
            vars(self)["kept"] = x + 1
            return x

    model = Model()
    step = jit(model)
    for i in range(3):
        step(torch.full((2,), i + 1.0, device="jax"))
        yield model.last, model.kept, model.factor


def _by_tensor(jit: Any) -> Iterator[Any]:
    weight: Any = nn.Parameter(torch.ones(2, device="jax"))
    weight.momentum, weight.scale = torch.zeros(2, device="jax"), 1.0

    @jit
    def step(x: Any) -> torch.Tensor:
        loss: Any = (weight * x).sum() * x.factor
        (gradient,) = torch.autograd.grad(loss, weight)
        weight.momentum = weight.momentum * 0.5 + gradient
        weight.calls = getattr(weight, "calls", 0) + 1
        weight.data = weight - weight.momentum * weight.scale
        loss.tag = gradient.sum()
        return loss.detach_()  # type: ignore[no-any-return]

    for i in range(4):
        weight.scale = 1.0 + i // 2
        x: Any = torch.full((2,), i + 1.0, device="jax")
        x.factor = 1.0 + i // 3
        loss: Any = step(x)
        yield loss, loss.tag, weight.momentum, weight.calls, weight.detach()


def _by_context(jit: Any) -> Iterator[Any]:
    factor, calls = contextvars.ContextVar("factor", default=1.0), contextvars.ContextVar("calls", default=0)

    @jit
    def step(x: torch.Tensor) -> torch.Tensor:
        calls.set(calls.get() + 1)
        return x * factor.get()

    for i in range(4):
        factor.set(1.0 + i // 2)
        yield step(torch.ones(2, device="jax")), calls.get()


def _by_cache(jit: Any) -> Iterator[Any]:
    @functools.lru_cache
    def mask(size: int) -> torch.Tensor:
        return torch.ones(size, size, device="jax").tril()

    step = jit(lambda x: mask(len(x)) @ x)
    for size in (2, 3, 2):
        yield step(torch.ones(size, device="jax")), mask(size).sum()


def _by_host_array(jit: Any) -> Iterator[Any]:
    shift, number, raw = np.ones(2, np.float32), array.array("f", [1.0]), bytearray([1])
    step = jit(lambda x, y: x * float(shift[0]) + torch.as_tensor(shift, device="jax") + number[0] + raw[0] + y[0])
    given = np.ones(1, np.float32)
    for i in range(5):
        changed = (shift, number, raw, given)[i % 4]
        changed[0] += 1  # type: ignore[index]
        yield (step(torch.ones(2, device="jax"), given),)


@pytest.mark.parametrize(
    "program",
    [
        *(_by_class, _by_own_class, _by_module, _by_held_module, _by_method, _by_function, _by_reference, _by_dict),
        _by_overridden_methods,
        *(_by_context, _by_tensor, _by_new_attribute, _by_cache, _by_host_array),
        *map(_by_record, (types.SimpleNamespace, argparse.Namespace, threading.local)),
    ],
    ids=lambda program: program.__qualname__,
)
def test_a_compiled_function_sees_and_changes_what_eager_calls_would(program: Callable[[Any], Iterator[Any]]) -> None:
    def plain(value: Any) -> Any:
        return value.tolist() if isinstance(value, torch.Tensor) else value

    expected, found = ([[*map(plain, row)] for row in program(jit)] for jit in (lambda f: f, tenax.jit))
    assert str(found) == str(expected)


def test_an_array_of_the_host_is_not_written() -> None:
    seen = np.zeros(1)

    @tenax.jit
    def step(x: torch.Tensor) -> torch.Tensor:
        seen[0] += 1
        return x

    with pytest.raises(TraceError, match="writes into seen, an array of the host"):
        step(torch.ones(2, device="jax"))
    assert seen[0] == 0


def test_an_argument_gets_no_attributes() -> None:
    x = torch.ones(2, device="jax")
    with pytest.raises(TraceError, match="sets the attribute seen of an argument; return it instead"):
        tenax.jit(lambda x: setattr(x, "seen", True))(x)
    assert not vars(x)


@pytest.mark.parametrize("iterator", [lambda: (i for i in range(3)), itertools.count, lambda: enumerate([1, 2])])
def test_an_iterator_from_outside_raises(iterator: Callable[[], Iterator[Any]]) -> None:
    values, x = iterator(), torch.ones(2, device="jax")
    with pytest.raises(TraceError, match="reaches values, an iterator"):
        tenax.jit(lambda x: (x, next(values)))(x)
    with pytest.raises(TraceError, match="an iterator"):
        tenax.jit(lambda x, y: (x, next(y)))(x, values)
