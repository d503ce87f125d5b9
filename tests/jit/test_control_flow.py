"""`torch.cond`, `while_loop` and `scan` within a compiled function are those of XLA."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch._higher_order_ops.scan import scan

import tenax
from tenax.errors import TraceError
from tests.helpers.agreement import close


@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")  # which Dynamo hides
def test_control_flow_is_part_of_the_program() -> None:
    def branching(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        def inner(y: torch.Tensor) -> torch.Tensor:
            return torch.cond(y.max() > 2, lambda y: y * w, lambda y: y - w, (y,))  # type: ignore[no-any-return]

        return torch.cond(x.sum() > 0, inner, lambda y: y.cos() * w, (x * w,))  # type: ignore[no-any-return]

    def scanning(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        steps = scan(lambda c, row: (c * w + row, (c * row).sin()), torch.zeros_like(w), torch.stack([x, -x]), dim=0)
        return steps[1]  # type: ignore[no-any-return]

    def looping(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        doubled = torch.while_loop(lambda y: y.sum() < 9, lambda y: (y * 2,), (x.detach().abs(),))[0]
        return doubled * w  # type: ignore[no-any-return]

    for function in (branching, scanning, looping):

        def backward(x: torch.Tensor, w: torch.Tensor, function: Any = function) -> torch.Tensor:
            result: torch.Tensor = function(x, w)
            result.sum().backward()
            return result.detach()

        step = tenax.jit(backward)
        for scale in (1.0, -1.0, 0.2):
            x, w = torch.arange(1.0, 4.0) * scale, torch.full((3,), 0.5, requires_grad=True)
            there = w.detach().to("jax").requires_grad_()
            close(step(x.to("jax"), there), backward(x, w))
            close(there.grad, w.grad)


def test_control_flow_that_cannot_be_compiled_is_refused_with_its_line() -> None:
    layer, x = nn.Linear(3, 3, device="jax"), torch.ones(3, device="jax")
    with pytest.raises(NotImplementedError, match=r"control flow \(.*control_flow.py:\d+.*: a random operation"):
        tenax.jit(lambda x: torch.cond(x.sum() > 0, torch.rand_like, lambda y: y * 2, (x,)))(x)
    with pytest.raises(TraceError, match=r"torch.while_loop .*control_flow.py:\d+.*: a tensor requires a gradient"):
        tenax.jit(lambda x: torch.while_loop(lambda y: y.sum() < 9, lambda y: (y * 2,), (x,))[0])(x.requires_grad_())
    x = x.detach()
    with pytest.raises(TraceError, match=r"control flow .*control_flow.py:\d+.* reads an attribute of a module"):
        tenax.jit(lambda f, x: torch.cond(x.sum() > 0, lambda y: f(y), lambda y: y * 2, (x,)))(layer, x)
