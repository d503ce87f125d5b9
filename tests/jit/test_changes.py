"""A compiled function notices changes of modules, caches and the state of functions that its run read.

Each program yields what a user sees after each call, with changes in between.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import tenax
from tests.jit.test_guards import Program, assert_noticed, given

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


PROGRAMS: tuple[Program, ...] = (
    *(_tables_of_a_module, _what_a_module_keeps_to_itself, _swapped_parameters_of_an_optimizer),
    *(_bounded_cache, _unbounded_cache, _cache_of_tensors, _cached_method),
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
        with pytest.raises(tenax.errors.TraceError, match=rf"test_changes.py:{line}, in {function.__name__}"):
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
    with pytest.raises(tenax.errors.TraceError, match=rf"test_changes.py:{line}, in backward.*was 3.0 and is 5.0"):
        loss.backward()
