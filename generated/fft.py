"""Lowerings of the family `fft`.

Generated from ops_spec/fft.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.kernels import fft as fft_kernels
from tenax.words import Array, DType, fft_norm


def _fft_r2c(self: Array, dim: Sequence[int], normalization: int, onesided: bool) -> Array:
    """_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor

    Spec: ops_spec/fft.yaml
    """
    return (jnp.fft.rfftn if onesided else jnp.fft.fftn)(self, None, dim, fft_norm(normalization, True))


def _fft_c2r(self: Array, dim: Sequence[int], normalization: int, last_dim_size: int) -> Array:
    """_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor

    Spec: ops_spec/fft.yaml
    """
    return jnp.fft.irfftn(
        self, [*(self.shape[d] for d in dim[:-1]), last_dim_size], dim, fft_norm(normalization, False)
    )


def _fft_c2c(self: Array, dim: Sequence[int], normalization: int, forward: bool) -> Array:
    """_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor

    Spec: ops_spec/fft.yaml
    """
    return (jnp.fft.fftn if forward else jnp.fft.ifftn)(self, None, dim, fft_norm(normalization, forward))


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
