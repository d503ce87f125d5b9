"""A compiled function notices changed settings of torch, NumPy and Python, and patched functions of libraries.

Each program yields what a user sees after each call, with changes in between.
"""

from __future__ import annotations

import decimal
import gc
import logging
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from tests.jit.test_guards import Program, assert_noticed, given


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
    logger.disabled = True
    yield call(x)
    logger.disabled = False
    yield call(x)


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
    *(_settings, _levels_of_logging, _settings_of_c),
    *(_functions_that_a_library_calls, _methods_of_libraries),
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_change_is_noticed(program: Program) -> None:
    assert_noticed(program)
