"""Mixed precision: which ops autocast lowers, raises, leaves alone; the gradient scaler."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

LOWERED = {
    "linear": lambda x: F.linear(x, x),
    "matmul": lambda x: x @ x,
    "bmm": lambda x: torch.bmm(x[None], x[None]),
    "addmm": lambda x: torch.addmm(x, x, x),
    "conv2d": lambda x: F.conv2d(x[None, None], x[None, None, :2, :2]),
}
RAISED = {
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: F.log_softmax(x, -1),
    "exp": torch.exp,
    "layer_norm": lambda x: F.layer_norm(x, [4]),
    "sum": lambda x: x.sum(-1),
    "pow": lambda x: x.pow(2),
    "mse_loss": lambda x: F.mse_loss(x, x),
}
KEPT = {"relu": torch.relu, "add": lambda x: x + x, "max": lambda x: x.max(0).values}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_policies(dtype):
    x = torch.randn(4, 4, device="jax")
    with torch.autocast("jax", dtype=dtype):
        for name, f in LOWERED.items():
            assert f(x).dtype == dtype, name
        for name, f in RAISED.items():
            assert f(x.to(dtype)).dtype == torch.float32, name
        for name, f in KEPT.items():
            assert f(x.to(dtype)).dtype == dtype, name
            assert f(x).dtype == torch.float32, name
        assert torch.cat([x, x.to(dtype)]).dtype == torch.float32
        assert (x.double() @ x.double()).dtype == torch.float64
    assert (x @ x).dtype == torch.float32


def test_binary_cross_entropy_is_refused():
    x = torch.rand(3, device="jax")
    with torch.autocast("jax", dtype=torch.float16), pytest.raises(RuntimeError, match="unsafe to autocast"):
        F.binary_cross_entropy(x, x)


def test_the_scaler_skips_a_step_of_infinite_gradients():
    model = nn.Linear(3, 1).to("jax")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("jax", init_scale=4.0, growth_interval=1)
    before = model.weight.detach().clone()
    for value, moves, scale in ((float("inf"), False, 2.0), (1.0, True, 4.0)):
        optimizer.zero_grad()
        scaler.scale(model(torch.full((2, 3), value, device="jax")).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        assert torch.equal(model.weight, before) != moves
        assert scaler.get_scale() == scale
    assert torch.allclose(model.weight.cpu(), before.cpu() - 0.2)
