"""What special functions have in common: the dtype that they compute in, Chebyshev series, and polynomials."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from tenax.words import Array, cast, double, is_float


def wide(kernel: Callable[..., Array]) -> Callable[..., Array]:
    """Run the kernel on its float32 arrays in the dtype that `double` chooses, and round the result once: on CPUs in
    float64, because no float32 formula is accurate near zeros and in long tails."""

    @functools.wraps(kernel)
    def widened(*args: Any, **kwargs: Any) -> Array:
        arrays = (x for x in (*args, *kwargs.values()) if hasattr(x, "dtype"))
        if any(is_float(x) and x.dtype != np.float32 for x in arrays):
            return kernel(*args, **kwargs)
        value = kernel(*map(double, args), **{name: double(x) for name, x in kwargs.items()})
        return cast(value, np.float32)

    return widened


def series(coefficients: tuple[float, ...], t: Array) -> Array:
    """`Σ c_k T_k(t)` for t in [-1, 1], by Clenshaw's recurrence (DLMF 3.11.15); terms below the precision are cut."""
    smallest = max(map(abs, coefficients)) * float(jnp.finfo(t.dtype).eps) / 8
    count = max(k for k, c in enumerate(coefficients) if abs(c) > smallest)
    first, *rest = (cast(c, t.dtype) for c in coefficients[: count + 1])  # a bare literal would be rounded to float32
    above = total = jnp.zeros_like(t)
    for c in reversed(rest):
        total, above = 2 * t * total - above + c, total
    return t * total - above + first


def polynomial(coefficients: tuple[float, ...], x: Array) -> Array:
    """`Σ c_k xᵏ`, by Horner's rule; the constant term is first."""
    total = jnp.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        total = total * x + cast(c, x.dtype)
    return total
