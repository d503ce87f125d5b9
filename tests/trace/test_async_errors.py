"""The assertions of compiled programs: when they are copied, and which reads raise them."""

from __future__ import annotations

import contextlib
import functools
import io
import textwrap
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import tenax
from tenax.export import exported_to_jax
from tenax.trace.async_errors import Assertion, raise_failed_assertions, record_assertions
from tests.helpers.processes import run


class OnAccelerator:
    """What is used of an array whose copy to the host has a cost."""

    def __init__(self, *, holds: bool, ready: bool) -> None:
        self.holds, self.ready, self.copies = holds, ready, 0

    def platform(self) -> str:
        return "gpu"

    def is_ready(self) -> bool:
        return self.ready

    def copy_to_host_async(self) -> None:
        self.copies += 1

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.array([self.holds])


def test_the_copy_starts_with_the_call_and_no_later_call_waits_for_it() -> None:
    failed = OnAccelerator(holds=False, ready=False)
    record_assertions(failed, (Assertion("IndexError", "index out of range in self", ""),))  # type: ignore[arg-type]
    assert failed.copies == 1
    raise_failed_assertions()  # it is not ready
    failed.ready = True
    with pytest.raises(IndexError, match="index out of range in self"):
        raise_failed_assertions()
    raise_failed_assertions(wait=True)  # it raises once


def embedding(index: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.embedding(index, WEIGHT)


WEIGHT = torch.ones(5, 3, device="jax")
COMPILED = {"jit": tenax.jit(embedding), "torch.compile": torch.compile(embedding, backend="tenax"), "lazy": embedding}

READS: dict[str, Callable[[torch.Tensor], object]] = {
    "cpu": lambda y: y.cpu(),
    "item": lambda y: y.sum().item(),
    "tolist": lambda y: y.tolist(),
    "numpy": np.asarray,
    "print": repr,
    "jax": lambda y: y.jax(),
    "jnp": jnp.sin,
    "to_jax": tenax.to_jax,
    "dlpack": np.from_dlpack,
    "save": lambda y: torch.save(y, io.BytesIO()),
    "storage": lambda y: y.untyped_storage().tolist(),
    "copy to the CPU": lambda y: torch.empty(1, 3).copy_(y),
    "branch": lambda y: bool(y.sum() > 0),
    "nonzero": lambda y: y.nonzero(),
    "mask": lambda y: y[y > 0],
    "equal": lambda y: torch.equal(y, y),
    "stream": lambda y: torch.jax.current_stream().synchronize(),
}


@pytest.mark.parametrize("mode", COMPILED)
@pytest.mark.parametrize("read", READS)
def test_whatever_reads_a_value_raises_failed_assertions(mode: str, read: str) -> None:
    with contextlib.ExitStack() as stack:
        if mode == "lazy":
            stack.enter_context(tenax.lazy())
        result = COMPILED[mode](torch.tensor([7], device="jax"))
        with pytest.raises(IndexError, match=r"index out of range in self .*test_async_errors.py"):
            READS[read](result)


def test_an_error_that_nothing_read_is_reported_at_exit() -> None:
    program = """
        import torch, tenax
        f = tenax.jit(lambda i: torch.nn.functional.embedding(i, torch.ones(5, 3, device="jax")))
        f(torch.tensor([7], device="jax"))
        print("the end")
    """
    ran = run(textwrap.dedent(program), check=False)
    assert (ran.returncode, ran.stdout) == (1, "the end\n")
    assert "IndexError: index out of range in self (in an earlier call of a compiled function" in ran.stderr


def test_an_exported_function_checks_known_values() -> None:
    weights, function = exported_to_jax(torch.export.export(torch.nn.Embedding(5, 3), (torch.tensor([1]),)))
    with jax.enable_x64(True), pytest.raises(IndexError, match="index out of range in self"):
        function(weights, np.array([7]))


class Gather(torch.autograd.Function):
    """A function whose backward pass reads by an index."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(index)
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return gradient[ctx.saved_tensors[0]], None


@pytest.mark.parametrize("compiled", [tenax.jit, functools.partial(torch.compile, backend="tenax")])
def test_the_backward_pass_of_a_compiled_function_is_checked(compiled: Any) -> None:
    x = torch.ones(2, device="jax", requires_grad=True)
    function = compiled(lambda x, index: Gather.apply(x, index))
    for failing in (False, True):
        y = function(x, torch.tensor([0, 7 if failing else 1], device="jax"))
        (gradient,) = torch.autograd.grad(y.sum(), x)
        with pytest.raises(IndexError, match=r"test_async_errors.py.* in backward") if failing else nullcontext():
            gradient.cpu()
