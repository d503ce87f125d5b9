"""What the compiler of a platform lacks is refused before a program reaches it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import pytest
import torch

import tenax


@pytest.fixture
def on_tpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax, "default_backend", lambda: "tpu")


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x.cdouble(), "complex128"),
        (lambda x: torch.float_power(x.cfloat(), 2), "complex128"),
        (lambda x: torch.fft.fft(x.double()), "_fft_r2c.*complex128"),
        (torch.linalg.eig, "linalg_eig.*float32"),
        (torch.linalg.eigvals, "linalg_eigvals.*float32"),
    ],
)
@pytest.mark.usefixtures("on_tpu")
def test_tpus_refuse_complex128_and_eigenvalues(function: Callable[..., Any], message: str, compiled: bool) -> None:
    # Programs of one shape are shared, and another test may have compiled them for the CPU.
    x = torch.ones(13, 13, device="jax")
    with pytest.raises(NotImplementedError, match=message):
        (tenax.jit(function) if compiled else function)(x)


@pytest.mark.usefixtures("on_tpu")
def test_tpus_take_other_dtypes() -> None:
    assert (torch.ones(13, device="jax").cfloat() + 1j).real.sum() == 13
