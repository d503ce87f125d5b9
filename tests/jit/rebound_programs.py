"""Functions that read and replace, or refill, the containers that they reach: `self.cache = [h]`."""

from __future__ import annotations

import copy
import dataclasses
import types
from collections import OrderedDict, UserDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn

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
