"""Fake quantization and its training modules behave as on the CPU; quantized dtypes are refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.ao import quantization as ao

from tests.helpers.agreement import close
from tests.helpers.tolerances import IN_FLOAT32

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore:Please use quant_min", "ignore:torch.quantize_per"
)
SCALES = torch.tensor([0.1, 0.05, 0.4])
POINTS = torch.tensor([0, 3, -2], dtype=torch.int32)

FORMULAS: dict[str, Callable[..., Any]] = {
    "per tensor": lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -8, 7),
    "per tensor by tensors": lambda x: torch.fake_quantize_per_tensor_affine(
        x, SCALES[:1].to(x.device), POINTS[1:2].to(x.device), -8, 7
    ),
    "per channel": lambda x: torch.fake_quantize_per_channel_affine(
        x, SCALES.to(x.device), POINTS.to(x.device), 1, -8, 7
    ),
    "per channel with a float zero point": lambda x: torch.fake_quantize_per_channel_affine(
        x, SCALES.to(x.device), POINTS.to(x.device) + 0.3, 1, -8, 7
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_fake_quantization_and_its_gradient_agree_with_cpu_torch(name: str, dtype: torch.dtype) -> None:
    x = torch.randn(4, 3, 5).to(dtype)
    results = []
    for device in ("jax", "cpu"):
        leaf = x.to(device).requires_grad_()
        y = FORMULAS[name](leaf)
        y.sum().backward()
        results.append([y.detach().cpu(), leaf.grad.cpu()])
    close(*results, IN_FLOAT32)


@pytest.mark.parametrize("per_channel", [False, True])
def test_learned_steps_get_the_gradients_of_cpu_torch(per_channel: bool) -> None:
    x = torch.randn(4, 3, 5)
    results = []
    for device in ("jax", "cpu"):
        leaves = [x, SCALES if per_channel else SCALES[:1], POINTS.float() if per_channel else POINTS[1:2].float()]
        leaves = [leaf.to(device).detach().clone().requires_grad_() for leaf in leaves]
        if per_channel:
            y = torch._fake_quantize_learnable_per_channel_affine(*leaves, 1, -8, 7, 0.5)  # type: ignore[attr-defined]
        else:
            y = torch._fake_quantize_learnable_per_tensor_affine(*leaves, -8, 7, 0.5)  # type: ignore[attr-defined]
        y.square().sum().backward()
        results.append([y.detach().cpu(), *(leaf.grad.cpu() for leaf in leaves)])
    close(*results)


OBSERVERS: dict[str, Callable[[], nn.Module]] = {
    "MinMaxObserver": ao.MinMaxObserver,
    "MovingAverageMinMaxObserver": ao.MovingAverageMinMaxObserver,
    "PerChannelMinMaxObserver": lambda: ao.PerChannelMinMaxObserver(ch_axis=1),
    "FakeQuantize": ao.FakeQuantize,
    "fused, per tensor": lambda: ao.FusedMovingAvgObsFakeQuantize(
        observer=ao.MovingAverageMinMaxObserver, quant_min=0, quant_max=255
    ),
    "fused, symmetric": lambda: ao.FusedMovingAvgObsFakeQuantize(
        observer=ao.MovingAverageMinMaxObserver,
        quant_min=-128,
        quant_max=127,
        dtype=torch.qint8,
        qscheme=torch.per_tensor_symmetric,
    ),
    "fused, per channel": lambda: ao.FusedMovingAvgObsFakeQuantize(
        observer=ao.MovingAveragePerChannelMinMaxObserver,
        quant_min=-128,
        quant_max=127,
        dtype=torch.qint8,
        qscheme=torch.per_channel_symmetric,
        ch_axis=0,
    ),
}


@pytest.mark.parametrize("name", OBSERVERS)
def test_an_observer_of_several_batches_agrees_with_cpu_torch(name: str) -> None:
    batches = [torch.randn(3, 4) * k + k for k in (1.0, 0.1, 3.0)]
    results = []
    for device in ("jax", "cpu"):
        observer = OBSERVERS[name]().to(device)
        outputs = [observer(batch.to(device)).cpu() for batch in batches]
        results.append([*outputs, *(q.cpu() for q in observer.calculate_qparams())])
    close(*results)


def test_quantization_aware_training_agrees_with_cpu_torch() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    model.qconfig = ao.get_default_qat_qconfig("fbgemm")  # type: ignore[assignment]
    ao.prepare_qat(model.train(), inplace=True)
    x = torch.randn(16, 4)
    losses = []
    for device in ("jax", "cpu"):
        mine, inputs = copy.deepcopy(model).to(device), x.to(device)
        optimizer = torch.optim.SGD(mine.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            loss = mine(inputs).square().mean()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    close(torch.tensor(losses[0]), torch.tensor(losses[1]))


REFUSED: dict[str, Callable[[torch.Tensor], Any]] = {
    "quantize_per_tensor": lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8),
    "quantize_per_channel": lambda x: torch.quantize_per_channel(x, x[0], x[0].long(), 0, torch.qint8),
    "_empty_affine_quantized": lambda x: torch._empty_affine_quantized([2], device="jax", dtype=torch.quint8),
    "upload": lambda x: torch.quantize_per_tensor(x.cpu(), 0.1, 0, torch.qint8).to("jax"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_quantized_dtype_is_refused_by_name(name: str) -> None:
    with pytest.raises((NotImplementedError, TypeError), match=r"quantized|qint8"):
        REFUSED[name](torch.ones(2, 2, device="jax"))
