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
