"""The sample frequencies of discrete Fourier transforms."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from tenax.words import FLOAT32, FLOAT64, Array, DType, cast, is_complex


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
