"""Lowerings see JAX's 64-bit types; the user's own JAX code does not."""

import jax
import jax.numpy as jnp
import pytest
import torch

import tenax
from tenax.dispatch.dispatcher import Dispatcher
from tenax.dispatch.signature import Signature
from tenax.generated.table import ROWS
from tests.helpers.agreement import close
from tests.helpers.tolerances import LAST_DIGITS


def test_a_python_number_in_a_lowering_keeps_its_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    tenth = Dispatcher(Signature("neg", ROWS["neg"]))
    monkeypatch.setattr(tenth.signature, "lowering", lambda self: self * 0.1 + jnp.linspace(0.0, 0.3, 4))
    x = torch.arange(4, dtype=torch.float64)
    close(tenth(x.to("jax")), x * 0.1 + torch.linspace(0, 0.3, 4, dtype=torch.float64), LAST_DIGITS)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_result_has_the_dtype_of_its_tensors(dtype: torch.dtype) -> None:
    x = torch.ones(3, dtype=dtype, device="jax")
    for y in (x * 0.1, x + 1, torch.sigmoid(x), torch.nn.functional.gelu(x), torch.softmax(x, 0), x.mean(), x**2.5):
        assert y.dtype == y.cpu().dtype == dtype
        assert y.jax().dtype == x.jax().dtype
        assert not y.jax().weak_type


def test_jax_keeps_its_defaults() -> None:
    torch.poisson(torch.rand(3, dtype=torch.float64, device="jax") * 0.1)
    x = torch.ones(3, device="jax")
    assert not jax.config.jax_enable_x64
    assert jnp.arange(3).dtype == jnp.int32
    assert jnp.sin(x).dtype == jnp.float32
    assert tenax.from_jax(jnp.ones(3) * 0.5).dtype == torch.float32
    assert jax.jit(lambda x: x * 0.1)(x).dtype == jnp.float32


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_poisson_numbers_have_their_mean_and_variance(dtype: torch.dtype) -> None:
    for rate in (0.5, 4.0, 30.0):
        drawn = torch.poisson(torch.full((20000,), rate, dtype=dtype, device="jax")).cpu()
        assert drawn.dtype == dtype
        assert abs(drawn.mean().item() - rate) < 5 * (rate / 20000) ** 0.5
        assert abs(drawn.var().item() / rate - 1) < 0.1


def test_normal_numbers_of_float64_have_its_resolution() -> None:
    drawn = torch.randn(1000, dtype=torch.float64, device="jax").cpu()
    assert (drawn != drawn.float().double()).float().mean() > 0.99
