"""Half precision: sums over thousands of places, which would stop at 256 if they were kept in bfloat16."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from tests.helpers.agreement import close

PLACES = 3000
Loss = Callable[[torch.Tensor], torch.Tensor]


def ones(*size: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """A tensor of ones like a parameter."""
    return lambda p: torch.ones(size, dtype=p.dtype, device=p.device)


def parameter_gradient(module: nn.Module, name: str, x: torch.Tensor, device: str, dtype: torch.dtype) -> torch.Tensor:
    """The gradient of one parameter where the module's outputs are summed."""
    module = module.to(device, dtype)
    result = module(x.to(device, dtype))
    (result[0] if isinstance(result, tuple) else result).sum().backward()
    gradient = module.get_parameter(name).grad
    assert gradient is not None
    assert gradient.dtype is dtype
    return gradient.cpu().float()


MODULES = {
    "conv1d": (lambda: nn.Conv1d(2, 4, 1), "bias", (30, 2, 100)),
    "conv2d": (lambda: nn.Conv2d(2, 4, 1), "bias", (30, 2, 10, 10)),
    "conv_transpose": (lambda: nn.ConvTranspose2d(2, 4, 1), "bias", (30, 2, 10, 10)),
    "conv_weight": (lambda: nn.Conv1d(2, 4, 1), "weight", (30, 2, 100)),
    "linear": (lambda: nn.Linear(2, 4), "bias", (30, 100, 2)),
    "layer_norm": (lambda: nn.LayerNorm(4), "bias", (PLACES, 4)),
    "group_norm": (lambda: nn.GroupNorm(2, 4), "bias", (30, 4, 100)),
    "batch_norm": (lambda: nn.BatchNorm1d(4), "bias", (30, 4, 100)),
    "prelu": (lambda: nn.PReLU(4), "weight", (PLACES, 4)),
    "lstm": (lambda: nn.LSTM(2, 3), "bias_ih_l0", (100, 30, 2)),
    "lstm_hidden": (lambda: nn.LSTM(2, 3), "bias_hh_l0", (100, 30, 2)),
    "gru": (lambda: nn.GRU(2, 3), "weight_hh_l0", (100, 30, 2)),
    "attention": (lambda: nn.TransformerEncoderLayer(4, 2, 8, 0.0), "norm2.bias", (100, 30, 4)),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=["bfloat16", "float16"])
@pytest.mark.parametrize("name", MODULES)
def test_the_gradient_of_a_parameter_that_serves_many_places(name: str, dtype: torch.dtype) -> None:
    make, parameter, size = MODULES[name]
    x = -torch.rand(size, generator=torch.Generator().manual_seed(0))
    found = []
    for device, of in (("cpu", torch.float32), ("jax", dtype)):
        torch.manual_seed(0)
        found.append(parameter_gradient(make(), parameter, x, device, of))
    want, got = found
    assert want.abs().max() > 300
    assert (got - want).abs().max() < 0.02 * want.abs().max()


OPERATIONS: dict[str, Loss] = {
    "add": lambda p: ones(PLACES, 4)(p) + p,
    "multiply": lambda p: ones(PLACES, 4)(p) * p,
    "expand": lambda p: p.expand(PLACES, 4).contiguous(),
    "where": lambda p: torch.where(ones(PLACES, 4)(p) > 0, p, 2 * p),
    "einsum": lambda p: torch.einsum("bi,i->b", ones(PLACES, 4)(p), p),
    "interpolate": lambda p: F.interpolate(p.view(1, 4, 1), size=PLACES),
    "avg_pool": lambda p: F.avg_pool1d(p.view(1, 4, 1).expand(1, 4, PLACES), PLACES) * PLACES,
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_gradient_of_what_is_repeated(name: str) -> None:
    p = torch.ones(4, dtype=torch.bfloat16, device="jax", requires_grad=True)
    OPERATIONS[name](p).sum().backward()
    assert p.grad is not None
    close(p.grad, torch.full((4,), float(PLACES), dtype=torch.bfloat16))


@pytest.mark.parametrize(
    "reduce", [torch.sum, torch.nansum, lambda x, dim: x.cumsum(dim)[-1], lambda x, dim: x.mean(dim) * PLACES]
)
def test_sums(reduce: Callable[..., torch.Tensor]) -> None:
    total = reduce(torch.ones(PLACES, 2, dtype=torch.bfloat16, device="jax"), 0)
    close(total, torch.full((2,), float(PLACES), dtype=torch.bfloat16))
