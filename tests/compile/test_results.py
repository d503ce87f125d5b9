"""What programs of torch.compile return, and what compilation for other backends sees of tenax."""

from __future__ import annotations

import subprocess
import sys

import torch


def test_a_result_that_is_another_result_is_the_same_tensor() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x * 2
        return y, y.to(torch.float32), y.view(-1), y

    for requires_grad in (False, True):
        torch._dynamo.reset()
        compiled = torch.compile(function, backend="tenax", dynamic=False)
        first, converted, view, last = compiled(torch.ones(3, device="jax", requires_grad=requires_grad))
        assert converted is first
        assert last is first
        assert view is not first


def test_a_compiled_cpu_program_sees_nothing_of_tenax() -> None:
    program = """
import torch

def function(x):
    y = x * 2
    return y, y.to(torch.float32), y.view(-1), y

for requires_grad in (True, False):
    torch.compile(function, backend="aot_eager")(torch.ones(3, requires_grad=requires_grad))
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Stream" not in done.stderr


def test_an_argument_seen_through_two_dtypes_is_passed_with_its_memory() -> None:
    x = torch.arange(6, device="jax", dtype=torch.int16)
    assert x.view(torch.int32).numel() == 3

    def function(part: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return part.as_strided((3,), (2,), 1) * 1, part[1:]

    torch._dynamo.reset()
    read, view = torch.compile(function, backend="tenax", dynamic=False)(x[2:4])
    assert read.tolist() == [1, 3, 5]
    view.fill_(7)
    assert x.tolist() == [0, 1, 2, 7, 4, 5]
    torch.compile(lambda part: part.add_(10), backend="tenax", dynamic=False)(x[2:4])
    assert x.tolist() == [0, 1, 12, 17, 4, 5]
