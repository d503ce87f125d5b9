"""Lowerings of the family `fft`.

Generated from ops_spec/fft.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from jax.typing import ArrayLike

from tenax.kernels import fft as fft_kernels
from tenax.words import Array, DType


def fft_fftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DType | None = None) -> Array:
    """fft_fftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None) -> Tensor

    Spec: ops_spec/fft.yaml
    """
    return fft_kernels.fft_fftfreq(n=n, d=d, dtype=dtype)


def fft_rfftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DType | None = None) -> Array:
    """fft_rfftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None) -> Tensor

    Spec: ops_spec/fft.yaml
    """
    return fft_kernels.fft_rfftfreq(n=n, d=d, dtype=dtype)
