"""Errors that name the remedy in the words of torch and tenax, where torch or JAX would mislead."""

from __future__ import annotations

import os
import subprocess
import sys

import jax
import pytest
import torch

import tenax
from tenax.errors import TraceError
from tenax.storage.memory_errors import as_torch_error

HUGE = 1 << 50


@pytest.mark.parametrize(
    "allocate",
    [
        lambda: torch.ones(HUGE, device="jax") * 2,
        lambda: torch.ones(1, device="jax").expand(HUGE).contiguous(),
        lambda: tenax.jit(lambda x: x.expand(HUGE) * 2)(torch.ones(1, device="jax")),
        lambda: torch.compile(lambda x: x.expand(HUGE) * 2, backend="tenax")(torch.ones(1, device="jax")),
    ],
    ids=["fill", "eager", "tenax.jit", "torch.compile"],
)
def test_a_full_memory_is_the_error_of_torch(allocate: object) -> None:
    assert callable(allocate)
    for _ in range(2):  # a first call, and one that was seen before
        with pytest.raises(torch.OutOfMemoryError, match=r"Tried to allocate 4096\.00 TiB\. The process holds arrays"):
            allocate()


def test_other_errors_of_jax_stay() -> None:
    error = jax.errors.JaxRuntimeError("INTERNAL: something else")
    assert as_torch_error(error) is error
    text = str(as_torch_error(jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate")))
    assert text.startswith("JAX out of memory. The process holds arrays of")
    sized = as_torch_error(jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 2048 bytes."))
    assert "Tried to allocate 2.00 KiB" in str(sized)
    assert isinstance(sized.__cause__, jax.errors.JaxRuntimeError)


def test_a_compiled_model_on_the_cpu_is_told_to_move() -> None:
    with pytest.raises(TraceError, match=r'the module that computes, to the device first: \.to\("jax"\)'):
        tenax.jit(torch.nn.Linear(3, 3))(torch.ones(3))


def test_a_number_that_a_compiled_function_keeps_names_its_line() -> None:
    log: list[float] = []

    def step(x: torch.Tensor) -> torch.Tensor:
        log.append(x.sum().item())
        return x * 2

    line = step.__code__.co_firstlineno + 1
    with pytest.raises(TraceError, match=rf"as a Python number.*test_errors\.py:{line}, in step"):
        tenax.jit(step)(torch.ones(3, device="jax"))


FAILING = """
import traceback, torch, tenax
def sizes(x): return x + torch.ones(4, device="jax")
def choice(x): return x if x.sum() > 0 else -x
for function in (sizes, tenax.jit(sizes), tenax.jit(choice)):
    try:
        function(torch.ones(3, device="jax"))
    except Exception as error:
        print(*(frame.name for frame in traceback.extract_tb(error.__traceback__)))
"""


@pytest.mark.parametrize("full", [False, True])
def test_tracebacks_end_at_the_line_of_the_program(full: bool) -> None:
    environment = {**os.environ, "TENAX_TRACEBACK": "full" if full else ""}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FAILING], env=environment, capture_output=True, text=True, check=True
    )
    frames = [line.split() for line in done.stdout.splitlines()]
    shown = [
        ["<module>", "sizes", "kernel", "call"],
        ["<module>", "__call__", "sizes"],
        ["<module>", "__call__", "choice"],
    ]
    if full:
        assert "infer_results" in frames[0] and "trace_step" in frames[1] and "require_known" in frames[2]
    else:
        assert frames == shown
