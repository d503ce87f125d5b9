"""Operations shown, compared with CPU torch, and watched for NaN, as they run."""

from __future__ import annotations

import logging

import jax
import jax.numpy as jnp
import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

import tenax
from tenax import debug
from tenax.interop import t2j


@torch.library.custom_op("tenax_debug::half_of", mutates_args=())
def half_of(x: torch.Tensor) -> torch.Tensor:
    """An operator whose lowering is wrong."""
    return x / 2


@half_of.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


half_of.register_autograd(lambda ctx, g: g / 2)
tenax.register_lowering(half_of, lambda x: jnp.where(x > 2, x / 3, x / 2))


class Network(nn.Module):
    """Some of each: convolution, statistics that are updated, dropout, an LSTM, attention, an embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.5))
        self.recurrent = nn.LSTM(4, 4)
        self.embedding = nn.Embedding(5, 4, padding_idx=0)

    def forward(self, x: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        y = self.recurrent(self.features(x).mean(3).mT)[0] + self.embedding(tokens)
        return F.scaled_dot_product_attention(y, y, y, is_causal=True)


def training():
    model = Network().to("jax")
    optimizer = torch.optim.AdamW(model.parameters())
    x, tokens = torch.randn(2, 3, 5, 5, device="jax"), torch.tensor([[0, 1, 2], [3, 4, 4]], device="jax")

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x, tokens).square().mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    return step


def test_a_training_step_agrees_operation_by_operation() -> None:
    with debug.compare() as comparison:
        training()()
    assert comparison.compared > 60
    assert not comparison.unchecked


def test_views_in_place_operations_out_tensors_and_lazy_bits_are_compared() -> None:
    with debug.compare() as comparison:
        x = torch.arange(12.0, device="jax").view(3, 4)
        x[1:3].mul_(2)
        x.t()[0].add_(x[:, 1])
        x[x > 3] = 0
        torch.add(x, 1, out=torch.empty(0, device="jax"))
        x[0].squeeze_()
        x.unsqueeze(1).squeeze_(1)
        x.view(torch.int32).add_(1 << 23)
        x.to(torch.complex64).conj().clone().imag.neg_()
        x.nonzero(), x.unique(), x.sum().item(), torch.randn(3, device="jax").bernoulli_()
        torch.func.hessian(lambda y: y.pow(3).sum())(x[0])
    assert not comparison.unchecked


def test_the_first_operation_that_differs_is_named_with_its_line() -> None:
    x = torch.tensor([1.0, 2.0, 6.0], device="jax")
    expected = (
        r"tenax_debug::half_of\(float32\[3\]\): 1 of 3 elements differ, greatest difference 1 at \(2,\): "
        r"2\.0; CPU torch returns 3\.0 \(.*test_operations\.py:\d+, in test_the_first"
    )
    with pytest.raises(debug.MismatchError, match=expected), debug.compare():
        half_of(x * 1)


def test_differences_are_reported_where_that_is_asked_and_the_program_goes_on() -> None:
    x = torch.tensor([1.0, 6.0], device="jax", requires_grad=True)
    found: list[str] = []
    with debug.compare(report=found.append):
        half_of(half_of(x)).sum().backward()
    assert len(found) == 1  # the second gets what the first gave
    with debug.compare(skip=["half_of"]):
        half_of(x)
    with debug.compare(rtol=1.0, atol=0.0):
        half_of(x)


def test_one_tolerance_is_refused() -> None:
    with pytest.raises(ValueError, match="got one of rtol and atol; expected both or neither"):
        debug.compare(rtol=1e-3)


def test_small_gradients_are_not_below_the_tolerance() -> None:
    x = torch.tensor([3e-7, 6.0e-7], device="jax")
    with pytest.raises(debug.MismatchError, match="half_of"), debug.compare():
        half_of(x.mul(1e7) * 1).mul(1e-7)


def test_a_compiled_function_runs_eagerly_where_its_operations_are_looked_at() -> None:
    step = training()
    compiled = tenax.jit(step)
    compiled()
    with debug.compare() as comparison:
        compiled()
    assert comparison.compared > 60
    assert len(tenax.explain(compiled).traces) == 1


def test_a_traced_function_cannot_be_compared() -> None:
    message = r"aten::sin: tenax.debug: the values of a traced function are unknown \(.*test_operations\.py"
    for context in (debug.compare(), debug.check_finite()):
        with pytest.raises(tenax.errors.TraceError, match=message), context:
            jax.jit(t2j(torch.sin))(jnp.ones(3))


def test_operations_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "tenax.debug"), debug.log():
        x = torch.ones(2, 3, device="jax", requires_grad=True)
        (x.t() * 2).sum().backward()
        jax.jit(t2j(torch.sin))(jnp.ones(3))
    lines = [record.message for record in caplog.records]
    assert any(
        "aten::mul.Tensor(float32[3, 2] strides (1, 3), 2) -> float32[3, 2] strides (1, 3) (" in x for x in lines
    )
    assert any("test_operations.py" in x and "in the backward of MulBackward0" in x for x in lines)
    assert any(x.startswith("aten::sin(float32[3]) -> float32[3]") for x in lines)
    torch.ones(2, device="jax").add_(1)
    assert len(caplog.records) == len(lines)


def test_operations_are_shown_where_logging_is_not_configured(capsys: pytest.CaptureFixture[str]) -> None:
    root, handlers = logging.getLogger(), logging.getLogger().handlers
    root.handlers = []
    try:
        with debug.log():
            torch.ones(2, device="jax").sum()
    finally:
        root.handlers = handlers
    assert "aten::sum(float32[2]) -> float32[]" in capsys.readouterr().err


def test_the_first_infinity_is_named() -> None:
    x = torch.tensor([1.0, 0.0], device="jax")
    with debug.check_finite():
        x.masked_fill(x == 0, -torch.inf).softmax(0)  # as asked
        torch.empty(3, device="jax")
    message = r"aten::log\(float32\[2\]\): returned infinity for finite arguments \(.*in test_the_first_infinity"
    with pytest.raises(FloatingPointError, match=message), debug.check_finite():
        x.log() - x.log()
    found: list[str] = []
    with debug.check_finite(report=found.append):
        y = x.clone().requires_grad_()
        y.sqrt().sum().backward()
        x.div_(0)
        x.sub_(x)
    assert [text.partition("(")[0] for text in found] == ["aten::div.Tensor", "aten::div_.Tensor"]
    assert "DivBackward" not in found[0] and "SqrtBackward0" in found[0]
    assert "NaN and infinity" in found[1]
