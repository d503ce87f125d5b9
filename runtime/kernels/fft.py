"""Discrete Fourier transforms over any number of axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax.numpy as jnp
from jax import lax
from jax.lax import FftType

from tenax.words import FLOAT32, Array, DType, cast, is_complex, real_dtype

_MOST_AXES = 3  # of one lax.fft


def _scaled(x: Array, count: int, normalization: int) -> Array:
    """`x` times 1, 1/sqrt(count) or 1/count (`fft_norm_mode` of torch's SpectralOpsUtils.h: 0, 1, 2)."""
    return x if normalization == 0 or count == 1 else x * (1 / (math.sqrt(count) if normalization == 1 else count))


def _count(x: Array, dim: Sequence[int]) -> int:
    return math.prod(x.shape[d] for d in dim)


def _along(x: Array, dim: Sequence[int], kind: FftType, sizes: Sequence[int]) -> Array:
    """One `lax.fft` over the axes `dim`, in that order."""
    places = tuple(range(x.ndim - len(dim), x.ndim))
    return jnp.moveaxis(lax.fft(jnp.moveaxis(x, tuple(dim), places), kind, tuple(sizes)), places, tuple(dim))


def _complex(x: Array, dim: Sequence[int], normalization: int, forward: bool) -> Array:
    """The complex transform, scaled; `lax` divides its inverse by the count, which is undone unless asked for."""
    if x.size == 0:
        return x
    count, kind = _count(x, dim), FftType.FFT if forward else FftType.IFFT
    for start in range(0, len(dim), _MOST_AXES):
        group = dim[start : start + _MOST_AXES]
        x = _along(x, group, kind, [x.shape[d] for d in group])
    if forward:
        return _scaled(x, count, normalization)
    return x if normalization == 2 else _scaled(x * float(count), count, normalization)


def _fft_c2c(self: Array, dim: Sequence[int], normalization: int, forward: bool) -> Array:
    """Complex to complex over `dim`."""
    return _complex(self, [d % self.ndim for d in dim], normalization, forward)


def _fft_r2c(self: Array, dim: Sequence[int], normalization: int, onesided: bool) -> Array:
    """Real to complex over `dim`; with `onesided` the last of them keeps its `n // 2 + 1` first frequencies."""
    dim = [d % self.ndim for d in dim]
    if not onesided:
        return _complex(lax.complex(self, jnp.zeros_like(self)), dim, normalization, True)
    *others, last = dim
    n = self.shape[last]
    if self.size == 0:
        shape = list(self.shape)
        shape[last] = n // 2 + 1
        return lax.complex(jnp.zeros(shape, self.dtype), jnp.zeros(shape, self.dtype))
    half = _complex(_along(self, [last], FftType.RFFT, [n]), others, 0, True)
    return _scaled(half, _count(self, dim), normalization)


def _fft_c2r(self: Array, dim: Sequence[int], normalization: int, last_dim_size: int) -> Array:
    """The inverse of the onesided `_fft_r2c`: the last of `dim` grows to `last_dim_size` real values."""
    *others, last = (d % self.ndim for d in dim)
    shape = list(self.shape)
    shape[last] = last_dim_size
    if self.size == 0:
        return jnp.zeros(shape, real_dtype(self.dtype))
    half = lax.slice_in_dim(_complex(self, others, 0, False), 0, last_dim_size // 2 + 1, axis=last)
    values = _along(half, [last], FftType.IRFFT, [last_dim_size])
    if normalization == 2:
        return _scaled(values, _count(values, others), 2)
    return _scaled(values * float(last_dim_size), _count(values, dim), normalization)


def _frequencies(indices: Array, n: int, d: float, dtype: DType) -> Array:
    if not is_complex(dtype) and not jnp.issubdtype(dtype, jnp.floating):
        raise RuntimeError(f"result type Float can't be cast to the desired output type {dtype}")
    spread = n * d
    return cast(indices, dtype) * cast(1 / spread if spread else math.inf, dtype)


def fft_fftfreq(n: int, d: float = 1.0, *, dtype: DType = FLOAT32) -> Array:
    """The `n` sample frequencies of a transform with spacing `d`: 0 and up, then the negative ones."""
    return _frequencies((lax.iota(jnp.int32, n) + n // 2) % max(n, 1) - n // 2, n, d, dtype)


def fft_rfftfreq(n: int, d: float = 1.0, *, dtype: DType = FLOAT32) -> Array:
    """The `n // 2 + 1` non-negative sample frequencies of a transform with spacing `d`."""
    return _frequencies(lax.iota(jnp.int32, n // 2 + 1), n, d, dtype)
