"""A compiled function notices changes of state of many kinds: in Python's library, in torch's, and in descriptors.

Each program yields what a user sees after each call, with changes in between.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import heapq
import importlib
import locale
import sys
import types
import typing
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from tests.jit.test_guards import Program, assert_noticed, given

pytestmark = pytest.mark.gpu


def linear() -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(3, 3).to("jax")


class Holder:
    """An object with one number."""

    def __init__(self, value: float) -> None:
        self.value = value


# -- objects -----------------------------------------------------------------------------------------------------------


def _replaced_records(jit: Any) -> Iterator[Any]:
    @dataclasses.dataclass(frozen=True)
    class Settings:
        scale: float = 2.0
        pair: tuple[float, float] = (1.0, 2.0)

    held = [Settings()]
    call = jit(lambda x: x * held[0].scale + held[0].pair[1])
    yield call(given())
    held[0] = dataclasses.replace(held[0], scale=5.0)
    yield call(given())
    object.__setattr__(held[0], "pair", (1.0, 9.0))
    yield call(given())


def _empty_dicts(jit: Any) -> Iterator[Any]:
    kept: dict[str, torch.Tensor] = {}

    def fill(x: torch.Tensor) -> torch.Tensor:
        kept.update(last=2 * x)
        return x + 1

    call = jit(fill)
    for _ in range(3):
        yield call(given())
        yield kept["last"]
    kept.clear()
    yield call(given())
    yield kept["last"]


def _descriptors(jit: Any) -> Iterator[Any]:
    class Doubled:
        def __set_name__(self, owner: type, name: str) -> None:
            self.name = f"_{name}"

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            return getattr(instance, self.name, 1.0)

        def __set__(self, instance: Any, value: float) -> None:
            setattr(instance, self.name, 2 * value)

    class Owner:
        scale = Doubled()

        @functools.cached_property
        def kept(self) -> float:
            return self.scale + 1

        @functools.singledispatchmethod
        def of(self, value: Any) -> float:
            return 1.0

    owner = Owner()
    call = jit(lambda x: x * owner.scale * owner.kept * owner.of("text"))
    yield call(given())
    owner.scale = 3.0
    yield call(given())
    del owner.kept
    yield call(given())
    owner._scale = 9.0  # type: ignore[attr-defined]
    yield call(given())
    Owner.__dict__["of"].register(str, lambda self, value: 6.0)
    yield call(given())


def _properties_that_count(jit: Any) -> Iterator[Any]:
    class Counting:
        reads = 0
        kept = 1.0

        @property
        def value(self) -> float:
            self.reads += 1
            return self.kept

        @value.setter
        def value(self, value: float) -> None:
            self.kept = value + 0.5

    counting = Counting()

    def step(x: torch.Tensor) -> torch.Tensor:
        counting.value = counting.value * 2
        return x * counting.value

    call = jit(step)
    for _ in range(3):
        yield call(given()), counting.reads, counting.kept
    counting.kept = 1.0
    yield call(given()), counting.reads, counting.kept


def _weak_containers(jit: Any) -> Iterator[Any]:
    first, second = Holder(2.0), Holder(3.0)
    keys: weakref.WeakKeyDictionary[Holder, float] = weakref.WeakKeyDictionary({first: 2.0})
    values: weakref.WeakValueDictionary[str, Holder] = weakref.WeakValueDictionary(a=first)
    members, references = weakref.WeakSet([first]), [weakref.ref(first)]

    def step(x: torch.Tensor) -> torch.Tensor:
        referred: Any = references[0]()
        return x * keys[first] * len(keys) + values["a"].value + sum(m.value for m in members) * referred.value

    call = jit(step)
    yield call(given())
    first.value = 5.0
    yield call(given())
    keys[second] = 1.0
    yield call(given())
    members.add(second)
    values["a"] = second
    yield call(given())
    references[0] = weakref.ref(second)
    yield call(given())
    second.value = 8.0
    yield call(given())


def _containers_of_the_library(jit: Any) -> Iterator[Any]:
    low = {"k": 2.0, "j": 1.0}
    chain = collections.ChainMap({}, low)
    user, counter, heap = collections.UserDict(a=2.0), collections.Counter(a=1), [3.0, 5.0]

    def step(x: torch.Tensor) -> torch.Tensor:
        counter["n"] += 1
        heapq.heappush(heap, float(len(heap)))
        return x * chain["k"] * user["a"] + counter.total() + heapq.heappop(heap)

    call = jit(step)
    yield call(given()), dict(counter), [*heap]
    chain["k"] = 7.0
    yield call(given()), dict(counter), [*heap]
    del chain["k"]
    low["k"] = 4.0
    user["a"] = 3.0
    yield call(given()), dict(counter), [*heap]
    counter["n"] = 10
    heap[:] = [9.0]
    yield call(given()), dict(counter), [*heap]


def _managers_with_state(jit: Any) -> Iterator[Any]:
    state: dict[str, Any] = {"entered": 0, "scale": 2.0, "mode": contextlib.nullcontext()}
    model = linear()

    @contextlib.contextmanager
    def scaled() -> Iterator[float]:
        state["entered"] += 1
        yield state["scale"]
        state["entered"] += 10

    def step(x: torch.Tensor) -> torch.Tensor:
        with scaled() as scale, state["mode"], contextlib.suppress(KeyError):
            return model(x) * scale * state["bonus"]
        return model(x) - 1

    call = jit(step)
    yield call(given()), state["entered"]
    state["bonus"] = 3.0
    yield call(given()).requires_grad, state["entered"]
    state.update(scale=5.0, mode=torch.no_grad())
    result = call(given())
    yield result, result.requires_grad, state["entered"]


def _cases(jit: Any) -> Iterator[Any]:
    state: dict[str, Any] = {"case": ("times", 2)}

    def step(x: torch.Tensor) -> torch.Tensor:
        match state["case"]:
            case ("times", factor):
                return x * factor
            case {"minus": number}:
                return x - number
        return x

    call = jit(step)
    for case in (("times", 2), ("times", 5), {"minus": 3}, None):
        state["case"] = case
        yield call(given())


def _defaults_that_change(jit: Any) -> Iterator[Any]:
    def step(x: torch.Tensor, seen: list[float] = [], *, scale: float = 2.0) -> torch.Tensor:  # noqa: B006
        seen.append(1.0)
        return x * len(seen) * scale

    call, seen = jit(lambda x: step(x)), step.__defaults__[0]  # type: ignore[index]
    for _ in range(2):
        yield call(given()), len(seen)
    seen.clear()
    yield call(given()), len(seen)
    step.__kwdefaults__["scale"] = 5.0
    yield call(given()), len(seen)


def _annotations_read_by_the_library(jit: Any) -> Iterator[Any]:
    class Fields:
        a: int

    call = jit(lambda x: x * len(typing.get_type_hints(Fields)))
    yield call(given())
    Fields.__annotations__["b"] = int
    yield call(given())


settings = types.ModuleType("settings_of_this_test")
settings.__dict__.update(scale=2.0, table={"k": 1.0})


def _modules_by_computed_names(jit: Any) -> Iterator[Any]:
    sys.modules[settings.__name__] = settings
    vars(settings).update(scale=2.0, table={"k": 1.0})
    name = ["scale"]
    calls = [
        jit(lambda x: x * getattr(settings, name[0])),
        jit(lambda x: x * sys.modules["settings_of_this_test"].scale),
        jit(lambda x: x * importlib.import_module("settings_of_this_test").table["k"]),
    ]
    for scale, k in ((2.0, 1.0), (3.0, 1.0), (3.0, 4.0)):
        vars(settings)["scale"], vars(settings)["table"]["k"] = scale, k
        yield [call(given()) for call in calls]
    vars(settings)["other"], name[0] = 7.0, "other"
    yield calls[0](given())
    vars(settings)["other"] = 9.0
    yield calls[0](given())


# -- settings ----------------------------------------------------------------------------------------------------------


def _flags_of_backends(jit: Any) -> Iterator[Any]:
    backends = torch.backends

    def step(x: torch.Tensor) -> torch.Tensor:
        flags = torch.backends.cudnn.benchmark, torch.backends.mkldnn.enabled, torch.backends.cuda.flash_sdp_enabled()
        more = torch.backends.cuda.matmul.allow_tf32, torch.is_warn_always_enabled()
        return x * sum(2.0**i for i, flag in enumerate((*flags, *more)) if flag)

    call, benchmark = jit(step), backends.cudnn.benchmark
    yield call(given())
    try:
        with backends.cudnn.flags(benchmark=not benchmark):
            yield call(given())
        with backends.mkldnn.flags(enabled=False):
            yield call(given())
        backends.cuda.enable_flash_sdp(False)
        yield call(given())
        backends.cuda.matmul.allow_tf32 = True
        yield call(given())
        torch.set_warn_always(True)
        yield call(given())
    finally:
        backends.cuda.enable_flash_sdp(True)
        backends.cuda.matmul.allow_tf32 = False
        torch.set_warn_always(False)


def _the_locale(jit: Any) -> Iterator[Any]:
    call, before = jit(lambda x: x * len(locale.setlocale(locale.LC_ALL))), locale.setlocale(locale.LC_ALL)
    try:
        for name in ("C", "C.UTF-8", "C"):
            locale.setlocale(locale.LC_ALL, name)
            yield call(given())
    finally:
        locale.setlocale(locale.LC_ALL, before)


def _scalars_of_numpy(jit: Any) -> Iterator[Any]:
    state: dict[str, Any] = {"scale": np.float32(2.0)}
    call = jit(lambda x: x * float(state["scale"]) * state["scale"])
    for scale in (np.float32(2.0), np.float32(3.0), np.float64(4.0), np.int64(5)):
        state["scale"] = scale
        yield call(given())


# -- modules and optimizers --------------------------------------------------------------------------------------------


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = 2.0

    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        return weight * self.scale


def _parametrizations(jit: Any) -> Iterator[Any]:
    model = linear()
    call = jit(model)
    yield call(given())
    parametrize.register_parametrization(model, "weight", Scaled())
    yield call(given())
    model.parametrizations.weight[0].scale = 3.0  # type: ignore[union-attr,index]
    yield call(given())
    parametrize.remove_parametrizations(model, "weight")
    yield call(given())
    parametrizations.weight_norm(model)
    yield call(given())
    with torch.no_grad():
        model.parametrizations.weight.original0.mul_(2)  # type: ignore[union-attr]
    yield call(given())


def _spectral_norm(jit: Any) -> Iterator[Any]:
    model = parametrizations.spectral_norm(linear())
    norm = model.parametrizations.weight[0]
    call = jit(model)
    for _ in range(2):
        yield call(given()), norm._u
    norm.n_power_iterations = 3
    yield call(given()), norm._u
    model.eval()
    yield call(given()), norm._u


def _parameters_in_containers(jit: Any) -> Iterator[Any]:
    def ones(scale: float) -> nn.Parameter:
        return nn.Parameter(torch.full((3,), float(scale), device="jax"))

    by_name, by_place = nn.ParameterDict({"a": ones(1)}), nn.ParameterList([ones(1)])
    call = jit(lambda x: sum((x * p for p in (*by_name.values(), *by_place)), x))
    yield call(given())
    by_name["b"] = ones(2)
    yield call(given())
    by_name.update({"a": ones(5)})
    by_place.append(ones(3))
    yield call(given())
    by_name.pop("b")
    by_place[0] = ones(7)
    yield call(given())


def _late_buffers(jit: Any) -> Iterator[Any]:
    model = linear()
    call = jit(lambda x: model(x) * (model.scale if hasattr(model, "scale") else 1.0))
    yield call(given())
    model.register_buffer("scale", torch.full((3,), 3.0, device="jax"))
    yield call(given())
    model.scale.mul_(2)  # type: ignore[union-attr,operator]
    yield call(given())
    del model.scale
    yield call(given())


def _modes_of_deep_children(jit: Any) -> Iterator[Any]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3), nn.Sequential(norm := nn.BatchNorm1d(3), nn.Dropout(0.0))).to("jax")
    call, x = jit(model), torch.arange(12.0, device="jax").reshape(4, 3)
    yield call(x), norm.running_mean
    norm.eval()
    yield call(x), norm.running_mean
    norm.train()
    norm.momentum = 0.5
    yield call(x), norm.running_mean
    norm.track_running_stats = False
    norm.eps = 1.0
    yield call(x), norm.running_mean


def _chained_schedules(jit: Any) -> Iterator[Any]:
    model = linear()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    constant = torch.optim.lr_scheduler.ConstantLR(optimizer, 0.5, 2)
    decay = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    schedule = torch.optim.lr_scheduler.ChainedScheduler([constant, decay], optimizer)
    limit = {"norm": 1.0}

    def step(x: torch.Tensor) -> Any:
        optimizer.zero_grad()
        (1e-2 * model(x).square().sum()).backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), limit["norm"])
        optimizer.step()
        schedule.step()
        return norm, model.weight.detach().clone()

    call = jit(step)
    for number in range(6):
        yield call(given()), optimizer.param_groups[0]["lr"], constant.last_epoch
        limit["norm"] = (0.5, 0.1, float("inf"), 0.1, 2.0, 1.0)[number]
        decay.gamma = 0.9 if number < 4 else 0.5


def _averages(jit: Any) -> Iterator[Any]:
    model = linear()
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.5))

    def step(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            model.weight.add_(1)
        average.update_parameters(model)
        return average(x)

    call = jit(step)
    for _ in range(3):
        yield call(given()), int(average.n_averaged)
    average.multi_avg_fn = get_ema_multi_avg_fn(0.1)
    yield call(given()), int(average.n_averaged)


def _state_of_an_optimizer(jit: Any) -> Iterator[Any]:
    model, other = linear(), nn.Parameter(torch.ones(3, device="jax"))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def step(x: torch.Tensor) -> Any:
        optimizer.zero_grad()
        (model(x) * other).sum().backward()
        optimizer.step()
        return model.weight.detach().clone(), other.detach().clone()

    call = jit(step)
    for _ in range(2):
        yield call(given())
    optimizer.state.clear()
    yield call(given())
    optimizer.state[model.weight]["momentum_buffer"].zero_()
    yield call(given())
    optimizer.add_param_group({"params": [other], "lr": 0.5})
    yield call(given())
    optimizer.param_groups[1]["maximize"] = True
    yield call(given())
    del optimizer.param_groups[1]
    yield call(given())


PROGRAMS: list[Callable[[Any], Iterator[Any]]] = [
    f for name, f in list(globals().items()) if name.startswith("_") and isinstance(f, types.FunctionType)
]


@pytest.mark.filterwarnings("ignore:TF32 acceleration on top of oneDNN")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_change_of_state_is_noticed(program: Program) -> None:
    assert_noticed(program)
