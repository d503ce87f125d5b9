"""Containers that a compiled function reads and replaces, or refills: `self.cache = [h]`. One or two programs serve all
calls, and every call leaves what eager mode leaves, down to which objects are the same."""

from __future__ import annotations

import copy
import dataclasses
import gc
import types
import weakref
from collections import OrderedDict, UserDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn

import tenax

Step = Callable[[torch.Tensor], Any]


class Holder:
    """What holds the containers."""

    def __init__(self) -> None:
        self.held: Any = None
        self.other: Any = None
        self.kept: Any = None  # which no function reads


class Layer:
    """A cache of one layer."""

    def __init__(self) -> None:
        self.keys: torch.Tensor | None = None

    def update(self, keys: torch.Tensor) -> torch.Tensor:
        self.keys = keys if self.keys is None else torch.cat([self.keys, keys])[-3:]
        return self.keys


class Cache:
    """A cache that makes its layers when they are first used."""

    def __init__(self) -> None:
        self.layers: list[Layer] = []

    def update(self, keys: torch.Tensor, layer: int) -> torch.Tensor:
        while len(self.layers) <= layer:
            self.layers.append(Layer())
        return self.layers[layer].update(keys)


@dataclasses.dataclass
class State:
    h: torch.Tensor
    n: int = 0
    name: str = "state"


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    h: torch.Tensor
    parts: tuple[Any, ...]


class Pair(NamedTuple):
    h: torch.Tensor
    c: torch.Tensor


class Reader(nn.Module):
    def __init__(self, shared: list[torch.Tensor]) -> None:
        super().__init__()
        self.shared = shared

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.shared[-1]


class OwnList(list[Any]):
    tag: str

    def last(self) -> Any:
        return self[-1]


class Kept:
    cache: tuple[torch.Tensor, ...] = ()


def zeros(*shape: int) -> torch.Tensor:
    return torch.zeros(shape or (3,), device="jax")


def ones(*shape: int) -> torch.Tensor:
    return torch.ones(shape or (3,), device="jax")


def a_list(s: Holder) -> Step:
    s.held = s.kept = [zeros()]

    def step(x: torch.Tensor) -> torch.Tensor:
        h: torch.Tensor = s.held[-1]
        s.held = [h + x]
        return h * 2

    return step


def a_dict(s: Holder) -> Step:
    s.held = {"k": zeros(), "v": ones()}

    def step(x: torch.Tensor) -> torch.Tensor:
        k, v = s.held["k"], s.held["v"]
        s.held = {"k": k + x, "v": v * 1.5}
        return k + v

    return step


def nested_tuples(s: Holder) -> Step:
    s.held = tuple((zeros(2, 3), zeros(2, 3)) for _ in range(2))

    def step(x: torch.Tensor) -> torch.Tensor:
        s.held = tuple((torch.cat([k[1:], x[None]]), torch.cat([v[1:], x[None] * 2])) for k, v in s.held)
        return sum((k * v).sum() for k, v in s.held)

    return step


def a_window(s: Holder) -> Step:
    s.held = [zeros() for _ in range(4)]

    def step(x: torch.Tensor) -> torch.Tensor:
        s.held = s.held + [x * 2 + s.held[-1]]  # noqa: RUF005
        s.held = s.held[-4:]
        return sum(s.held)

    return step


def a_list_that_is_appended_to_and_cut(s: Holder) -> Step:
    s.held = [zeros() for _ in range(4)]

    def step(x: torch.Tensor) -> torch.Tensor:
        s.held.append(x * 2 + s.held[0])
        s.held = s.held[-4:]
        return sum(s.held)

    return step


def a_list_in_place(s: Holder) -> Step:
    s.held = s.kept = [zeros(), "name", ones()]

    def step(x: torch.Tensor) -> torch.Tensor:
        s.held[0] = s.held[0] + x
        s.held.insert(0, s.held.pop())
        s.held[:] = s.held[1:] + s.held[:1]
        return s.held[0] + s.held[2]

    return step


def a_queue(s: Holder) -> Step:
    s.held = deque([zeros() for _ in range(3)], maxlen=3)

    def step(x: torch.Tensor) -> torch.Tensor:
        s.held.append(s.held[-1] + x)
        return sum(s.held)

    return step


def a_queue_anew(s: Holder) -> Step:
    s.held = deque([zeros() for _ in range(3)], maxlen=3)

    def step(x: torch.Tensor) -> torch.Tensor:
        new = deque(s.held, maxlen=s.held.maxlen)
        new.append(new[-1] + x)
        s.held = new
        return sum(s.held)

    return step


def a_cache_of_layers(s: Holder) -> Step:
    s.held = Cache()

    def step(x: torch.Tensor) -> torch.Tensor:
        k = s.held.update(x[None], 0)
        return s.held.update(k.sum(0)[None], 1).sum()

    return step


def layers_made_anew(s: Holder) -> Step:
    s.held = [Layer(), Layer()]
    for layer in s.held:
        layer.keys = zeros()

    def step(x: torch.Tensor) -> torch.Tensor:
        new = []
        for old in s.held:
            layer = Layer()
            layer.keys = old.keys + x
            new.append(layer)
        s.held = new
        return sum(layer.keys for layer in s.held)

    return step


def a_dataclass(s: Holder) -> Step:
    s.held = State(zeros())

    def step(x: torch.Tensor) -> torch.Tensor:
        s.held = dataclasses.replace(s.held, h=s.held.h + x * s.held.n, n=s.held.n + 1)
        return s.held.h * 2

    return step


def a_frozen_dataclass(s: Holder) -> Step:
    s.held = Frozen(zeros(), (ones(2), "a", None))

    def step(x: torch.Tensor) -> torch.Tensor:
        old = s.held
        s.held = Frozen(old.h + x, (old.parts[0] * 2, *old.parts[1:]))
        return old.h.sum() + old.parts[0].sum()

    return step


def a_named_tuple(s: Holder) -> Step:
    s.held = Pair(zeros(), ones())

    def step(x: torch.Tensor) -> torch.Tensor:
        s.held = Pair(s.held.h + x, s.held.c * 1.5)
        return s.held.h + s.held.c

    return step


def nested_lists(s: Holder) -> Step:
    s.held = [[zeros(), [ones()]], {"a": (ones(2), None, "s")}]

    def step(x: torch.Tensor) -> torch.Tensor:
        (p, [q]), d = s.held
        s.held = [[p + x, [q * 1.5]], {"a": (d["a"][0] + 1, *d["a"][1:])}]
        return p.sum() + q.sum() + d["a"][0].sum()

    return step


def a_list_of_two_modules(s: Holder) -> Step:
    shared = [zeros()]
    s.held, s.other = Reader(shared), Reader(shared)

    def step(x: torch.Tensor) -> torch.Tensor:
        y = s.held(x) + s.other(x)
        s.held.shared = s.other.shared = [s.held.shared[-1] + x]
        return y

    return step


def strings_and_none(s: Holder) -> Step:
    s.held = ["name", None, zeros(), 3, True, torch.float32]

    def step(x: torch.Tensor) -> torch.Tensor:
        name, none, h, n, flag, dtype = s.held
        s.held = [name, none, (h + x).to(dtype), n, flag, dtype]
        return h * n if flag else h

    return step


def two_buffers(s: Holder) -> Step:
    s.held, s.other = [zeros()], [ones()]

    def step(x: torch.Tensor) -> torch.Tensor:
        s.held, s.other = s.other, [s.held[0] + s.other[0] + x]
        return s.other[0]

    return step


def the_old_list_is_a_result(s: Holder) -> Step:
    s.held = [zeros()]

    def step(x: torch.Tensor) -> Any:
        old, s.held = s.held, [s.held[0] + x]
        return old

    return step


def the_new_list_is_a_result(s: Holder) -> Step:
    s.held = [zeros()]

    def step(x: torch.Tensor) -> Any:
        s.held = s.other = new = [s.held[0] + x]
        return {"new": new}

    return step


def shared_parts(s: Holder) -> Step:
    h = zeros()
    inner = [h]
    s.held = [inner, inner, {"h": h}]

    def step(x: torch.Tensor) -> torch.Tensor:
        inner = [s.held[0][0] + x]
        s.held = [inner, inner, {"h": inner[0]}]
        return inner[0] * 2

    return step


def views_of_one_tensor(s: Holder) -> Step:
    s.held = [*zeros(6).split(3)]

    def step(x: torch.Tensor) -> torch.Tensor:
        new = torch.cat([s.held[0] + x, s.held[1] * 2 + 1])
        new.view(2, 3)[1].add_(1)
        s.held = [new[:3], new[3:]]
        return new.sum()

    return step


def tensors_that_are_written(s: Holder) -> Step:
    s.held = [zeros(), ones()]

    def step(x: torch.Tensor) -> torch.Tensor:
        s.held[0].add_(x)
        s.held = [s.held[1], s.held[0]]
        return s.held[0] * 2

    return step


def ordered(s: Holder) -> Step:
    s.held = OrderedDict(a=zeros(), b=ones())

    def step(x: torch.Tensor) -> torch.Tensor:
        a, b = s.held.values()
        s.held = OrderedDict(a=b + x, b=a)
        return a

    return step


def with_defaults(s: Holder) -> Step:
    s.held = defaultdict(list)
    s.held["a"].append(zeros())

    def step(x: torch.Tensor) -> torch.Tensor:
        new = defaultdict(list, s.held)
        new["a"] = [s.held["a"][-1] + x]
        s.held = new
        return new["a"][0] * 2

    return step


def counting(s: Holder) -> Step:
    s.held = {"h": zeros(), "n": 0}

    def step(x: torch.Tensor) -> torch.Tensor:
        s.held = {"h": s.held["h"] + x * s.held["n"], "n": s.held["n"] + 1}
        return s.held["h"] * 2

    return step


def a_copy(s: Holder) -> Step:
    s.held = {"h": zeros(), "tags": ["a"]}

    def step(x: torch.Tensor) -> torch.Tensor:
        new = copy.copy(s.held)
        new["h"] = new["h"] + x
        s.held = new
        return new["h"] * 2

    return step


def own_classes(s: Holder) -> Step:
    s.held, s.other = OwnList([zeros()]), types.SimpleNamespace(d=UserDict(h=ones()))
    s.held.tag = "tag"

    def step(x: torch.Tensor) -> torch.Tensor:
        new = OwnList([s.held.last() + x])
        new.tag = s.held.tag
        s.held, s.other = new, types.SimpleNamespace(d=UserDict(h=s.other.d["h"] + x))
        return new[0] + s.other.d["h"]

    return step


def a_ring(s: Holder) -> Step:
    s.held = Holder()
    s.held.held, s.held.other = zeros(), s.held

    def step(x: torch.Tensor) -> torch.Tensor:
        new = Holder()
        new.held, new.other = s.held.other.held + x, new
        s.held = new
        return x + new.held

    return step


def a_class(s: Holder) -> Step:
    Kept.cache = (zeros(),)

    def step(x: torch.Tensor) -> torch.Tensor:
        Kept.cache = (Kept.cache[0] + x,)
        return Kept.cache[0] * 2

    return step


def with_weights(s: Holder) -> Step:
    w = ones().requires_grad_()
    s.held = [w, zeros()]

    def step(x: torch.Tensor) -> torch.Tensor:
        w, h = s.held
        (gradient,) = torch.autograd.grad((w * x + h).sum(), w)
        s.held = [w, h + gradient]
        return h * 2

    return step


# What the functions do, and in how many programs.
PROGRAMS: dict[Callable[[Holder], Step], int] = {
    **dict.fromkeys((a_list, a_dict, nested_tuples, a_window, a_list_that_is_appended_to_and_cut, a_list_in_place), 1),
    **dict.fromkeys((a_queue, a_queue_anew, layers_made_anew, a_frozen_dataclass, a_named_tuple, nested_lists), 1),
    **dict.fromkeys((a_list_of_two_modules, strings_and_none, two_buffers, the_old_list_is_a_result), 1),
    **dict.fromkeys((the_new_list_is_a_result, shared_parts, views_of_one_tensor, tensors_that_are_written), 1),
    **dict.fromkeys((ordered, with_defaults, a_copy, own_classes, a_ring, a_class, with_weights), 1),
    **dict.fromkeys((counting, a_dataclass), 2),  # of which the second takes the number as an input
    a_cache_of_layers: 5,  # one for each size and geometry
}


def picture(value: Any, seen: dict[int, int]) -> Any:
    """A value with all that it holds, and which of its objects are the same."""
    if isinstance(value, (int, float, str, type, torch.dtype, types.NoneType, types.FunctionType)):
        return value
    number = seen.setdefault(id(value), len(seen))
    if number < len(seen) - 1:
        return number
    if isinstance(value, torch.Tensor):
        return number, value.dtype, value.requires_grad, value.tolist()
    parts = [picture(part, seen) for part in ([*value.items()] if isinstance(value, dict) else _elements(value))]
    attributes = {name: picture(part, seen) for name, part in getattr(value, "__dict__", {}).items()}
    return type(value), parts, attributes, getattr(value, "maxlen", None)


def _elements(value: Any) -> list[Any]:
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
