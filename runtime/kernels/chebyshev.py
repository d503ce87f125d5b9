"""Evaluation of Chebyshev series, the form in which several special functions are tabulated, and of polynomials."""

from __future__ import annotations

import jax.numpy as jnp

from tenax.words import Array, cast


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
