"""The gamma function's relatives of one argument: digamma, polygamma and the multivariate logarithm."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import lax
from jax.scipy import special

from tenax.words import Array, cast


def digamma(self: Array) -> Array:
    """The logarithmic derivative of Γ; infinite at 0, against the sign of the zero; NaN at negative integers."""
    return jnp.where(self == 0, jnp.copysign(jnp.inf, -self), lax.digamma(self))


def polygamma(n: int, self: Array) -> Array:
    """The n-th derivative of digamma, `(-1)ⁿ⁺¹ n! ζ(n + 1, x)` (DLMF 25.11.12)."""
    if n == 0:
        return digamma(self)
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    factorial = cast(math.factorial(n) if n < 171 else math.inf, self.dtype)
    zeta = special_zeta(jnp.full_like(self, n + 1), self)
    return factorial * (zeta if n % 2 else -zeta)


def _reflected_zeta(s: Array, q: Array) -> Array:
    """Σ (q + k)⁻ˢ for q below 0 too: its terms below 0 are, but for their sign, those from 1 - u to -q, where u > 0.

    XLA sums a few terms before it takes the integral, which is wrong below -9.
    """
    negative = q < 0
    rest = jnp.where(negative, q - lax.floor(q), q)
    mirrored = special.zeta(s, jnp.where(negative, lax.ceil(q) - q, 1)) - special.zeta(s, 1 - jnp.where(negative, q, 0))
    below = jnp.where(jnp.remainder(s, 2) == 0, mirrored, -mirrored)
    below = jnp.where(s == lax.floor(s), below, jnp.nan)
    return special.zeta(s, rest) + jnp.where(negative, below, 0)


def special_zeta(self: Array, other: Array) -> Array:
    """Hurwitz's ζ(s, q) of s = `self`, q = `other` (DLMF 25.11.1); infinite at the poles, NaN where it is complex."""
    s, q = jnp.broadcast_arrays(self, other)
    pole = (q <= 0) & (q == lax.floor(q))
    regular = jnp.where(pole, 1, q)
    value = lax.cond(jnp.any(regular < 0), _reflected_zeta, special.zeta, s, regular)
    return jnp.where(pole & (s > 1), jnp.inf, value)


def mvlgamma(self: Array, p: int) -> Array:
    """ln Γ_p(x) = p(p-1)/4 ln π + Σ ln Γ(x - j/2), j < p (DLMF 35.3.4). A float array."""
    shifts = jnp.arange(p, dtype=self.dtype) / 2
    constant = cast(p * (p - 1) / 4 * math.log(math.pi), self.dtype)
    return jnp.sum(lax.lgamma(self[..., None] - shifts), -1) + constant
