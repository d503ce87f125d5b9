"""Discrete Fourier transforms, and their sample frequencies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from tenax.kernels.unsplit import unsplit
from tenax.words import FLOAT32, FLOAT64, Array, DType, cast, is_complex


def _transformed(
    transform: Callable[..., Array], x: Array, sizes: Sequence[int] | None, dim: Sequence[int], norm: str | None
) -> Array:
    """On each device of a mesh. XLA gathers `x` anyway, but in a layout that its CPU backend then refuses."""
    axes = range(x.ndim)
    return unsplit(transform(unsplit(x, axes), sizes, dim, norm), axes)


def fft_norm(normalization: int, forward: bool) -> str | None:
    """The name in `jnp.fft` of a transform's scale: 1, 1/sqrt(n) or 1/n (`at::native::fft_norm_mode`)."""
    unscaled, by_n = (None, "forward") if forward else ("forward", None)
    return (unscaled, "ortho", by_n)[normalization]


def _fft_r2c(self: Array, dim: Sequence[int], normalization: int, onesided: bool) -> Array:
    """The transform of real numbers, or the half of it that determines the other."""
    transform = jnp.fft.rfftn if onesided else jnp.fft.fftn
    return _transformed(transform, self, None, dim, fft_norm(normalization, True))


def _fft_c2r(self: Array, dim: Sequence[int], normalization: int, last_dim_size: int) -> Array:
    """The real numbers of such a half."""
    sizes = [*(self.shape[d] for d in dim[:-1]), last_dim_size]
    return _transformed(jnp.fft.irfftn, self, sizes, dim, fft_norm(normalization, False))


def _fft_c2c(self: Array, dim: Sequence[int], normalization: int, forward: bool) -> Array:
    """The transform of complex numbers, or its inverse."""
    return _transformed(jnp.fft.fftn if forward else jnp.fft.ifftn, self, None, dim, fft_norm(normalization, forward))


def _frequencies(indices: Array, n: int, d: Any, dtype: DType) -> Array:
    """`indices / (n d)`, multiplied by the reciprocal as in torch.

    `jnp.fft.fftfreq` divides: of the 3900 frequencies of n = 1 to 39 and five spacings, 877 differ in float32.
    """
    if not is_complex(dtype) and not jnp.issubdtype(dtype, jnp.floating):
        raise RuntimeError(f"result type Float can't be cast to the desired output type {dtype}")
    return cast(indices, dtype) * cast(1 / (n * cast(d, FLOAT64)), dtype)


def fft_fftfreq(n: int, d: Any = 1.0, *, dtype: DType = FLOAT32) -> Array:
    """The `n` sample frequencies of a transform with spacing `d`: 0 and up, then the negative ones."""
    return _frequencies((lax.iota(jnp.int32, n) + n // 2) % max(n, 1) - n // 2, n, d, dtype)


def fft_rfftfreq(n: int, d: Any = 1.0, *, dtype: DType = FLOAT32) -> Array:
    """The `n // 2 + 1` non-negative sample frequencies of a transform with spacing `d`."""
    return _frequencies(lax.iota(jnp.int32, n // 2 + 1), n, d, dtype)
