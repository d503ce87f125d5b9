"""Mean and spread: var and std, with their means."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import jax.numpy as jnp
from jax import lax

from tenax.words import FLOAT64, Array, Number, axes, cast, is_complex, is_float, opmath, real, real_dtype, root

Correction = float | Number


def moments(x: Array, dims: Sequence[int], correction: Correction = 0) -> tuple[Array, Array]:
    """(variance, mean) of `x` over `dims`, both with the axes kept, in the accumulation dtype.

    It takes two passes, mean first: E[x²] - E[x]² would lose all digits of a small variance. `correction` is
    subtracted from the number of elements, down to zero at least.

    `jnp.var` of two numbers with `correction=3` is NaN where torch has inf, and the derivative of `jnp.std` of equal
    numbers is NaN where torch has 0 (`root`).
    """
    x, n = cast(x, opmath(x.dtype)), prod(x.shape[d] for d in dims)
    mean = lax.expand_dims(lax.reduce_sum(x, dims), dims) / n
    off = x - mean
    square = real(off * jnp.conj(off)) if is_complex(x) else off * off
    varies = isinstance(correction, Number)
    freedom = jnp.maximum(n - cast(correction, FLOAT64), 0) if varies else max(n - correction, 0)  # type: ignore[operator]
    return lax.expand_dims(lax.reduce_sum(square, dims), dims) / cast(freedom, square.dtype), mean


def _spread(x: Array, dim: Sequence[int] | None, correction: Correction | None, keepdim: bool) -> tuple[Array, Array]:
    dims = axes(x, dim)
    spread, mean = moments(x, dims, 1 if correction is None else correction)
    return (spread, mean) if keepdim else (lax.squeeze(spread, dims), lax.squeeze(mean, dims))


def var_mean(
    self: Array, dim: Sequence[int] | None = None, *, correction: Correction | None = None, keepdim: bool = False
) -> tuple[Array, Array]:
    """(variance with n - correction degrees of freedom, mean); the variance of complex values is real."""
    if not (is_float(self) or is_complex(self)):
        raise RuntimeError(f"std and var only support floating point and complex dtypes, but got {self.dtype}")
    spread, mean = _spread(self, dim, correction, keepdim)
    return cast(spread, real_dtype(self.dtype)), cast(mean, self.dtype)


def std_mean(
    self: Array, dim: Sequence[int] | None = None, *, correction: Correction | None = None, keepdim: bool = False
) -> tuple[Array, Array]:
    """(standard deviation with n - correction degrees of freedom, mean)."""
    spread, mean = _spread(self, dim, correction, keepdim)
    return cast(root(spread), real_dtype(self.dtype)), cast(mean, self.dtype)
