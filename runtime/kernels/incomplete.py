"""The regularized incomplete gamma functions, using in each region the expansion that converges there.

In float32 `lax.igamma` and `lax.igammac` are 1.4e5 ULP off for a and x near 8000 (jax 0.10, measured with
`tests/coverage/ulp.py`), and in float64 `lax.igammac` is 1.8e5 off near 5e3. They are NaN at a = inf, where torch has
the limits, and have a derivative with respect to a, where torch raises.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial

import jax.numpy as jnp
from jax import lax

from tenax.kernels import loops
from tenax.kernels.chebyshev import polynomial
from tenax.kernels.gamma import STIRLING, STIRLING_FROM
from tenax.kernels.wide import wide
from tenax.words import Array, Gradients, cast, not_implemented, with_derivative

# Temme's uniform expansion is used for a > _LARGE and |x - a| / a < _NEAR.
_LARGE = 20
_NEAR = 0.3
_WIDEST = 0.36  # |η| there


@lru_cache
def _temme(precision: float) -> tuple[tuple[float, ...], ...]:
    """The coefficients of ηⁿ in C_k(η), one row per k, without terms below the precision where they are used.

    With μ - ln(1 + μ) = η²/2, C_0 = 1/μ - 1/η and C_k = C'_(k-1)/η ± g_k/μ, where g_k cancels the pole (DLMF 8.12.11).
    """
    rows, columns = 12, 18
    size = columns + 2 * rows
    mu = [Fraction(0), Fraction(1)]
    for n in range(2, size + 2):
        middle = sum(mu[i] * (n + 1 - i) * mu[n + 1 - i] for i in range(2, n))
        mu.append((mu[n - 1] - middle) / (n + 1))
    inverse = [Fraction(1)]  # of μ/η
    for n in range(1, size + 1):
        inverse.append(-sum((mu[i + 1] * inverse[n - i] for i in range(1, n + 1)), Fraction(0)))
    row, table = inverse[1:], []
    for k in range(rows):
        kept = [float(c) for c in row[:columns]]
        while kept and abs(kept[-1]) * _WIDEST ** (len(kept) - 1) < precision * _LARGE**k:
            kept.pop()
        table.append(tuple(kept))
        row = [(n + 2) * row[n + 2] - row[1] * inverse[n + 1] for n in range(len(row) - 2)]
    return tuple(kept for kept in table if kept)


def _excess(mu: Array) -> Array:
    """μ - ln(1 + μ); near 0, where the difference would cancel, by the series of artanh (DLMF 4.6.4)."""
    near = jnp.abs(mu) < _NEAR
    r = jnp.where(near, mu / (2 + mu), 0)
    series = mu * r - r * r * r * polynomial(tuple(2 / (2 * k + 3) for k in range(11)), r * r)
    return jnp.where(near, series, mu - lax.log1p(jnp.where(near, 0, mu)))


def _density(a: Array, x: Array, mu: Array) -> Array:
    """xᵃ exp(-x) / Γ(a + 1); for large a relative to its maximum at x = a."""
    big = a >= STIRLING_FROM
    large = jnp.where(big, a, STIRLING_FROM)
    stirling = polynomial(STIRLING, 1 / (large * large)) / large
    peak = lax.exp(-large * _excess(jnp.where(big, mu, 0)) - stirling) * lax.rsqrt(2 * cast(math.pi, a.dtype) * large)
    small = jnp.where(big, 1, a)
    return jnp.where(big, peak, lax.exp(small * lax.log(x) - x - lax.lgamma(small + 1)))


def _sum(first: Array, ratio: Callable[[Array], Array]) -> Array:
    """Σ t_k with t_1 = `first` and t_(k+1) = t_k ratio(k), until no element changes."""
    precision = cast(float(jnp.finfo(first.dtype).eps) / 4, first.dtype)

    def go(state: tuple[Array, Array, Array]) -> Array:
        _, last, total = state
        return jnp.any(jnp.abs(last) > precision * jnp.abs(total))

    def add(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        k, last, total = state
        last = last * ratio(k)
        return k + 1, last, total + last

    return loops.while_loop(go, add, (jnp.ones((), first.dtype), first, first))[2]


def _fraction(a: Array, x: Array) -> Array:
    """Γ(a, x) / (xᵃ exp(-x)), for x > max(1, a): a continued fraction (DLMF 8.9.2) by Lentz's method (3.10(iii))."""
    precision = 2 * float(jnp.finfo(x.dtype).eps)

    def go(state: tuple[Array, Array, Array, Array, Array]) -> Array:
        return jnp.any(jnp.abs(state[4] - 1) > precision)

    def advance(state: tuple[Array, Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array, Array]:
        i, c, d, value, _ = state
        over, under = i * (a - i), x + 1 - a + 2 * i
        d = 1 / (over * d + under)
        c = under + over / c
        return i + 1, c, d, value * c * d, c * d

    first = 1 / (x + 1 - a)
    start = jnp.ones((), x.dtype), jnp.full_like(x, jnp.inf), first, first, jnp.zeros_like(x)
    return loops.while_loop(go, advance, start)[3]


def _by_series(a: Array, x: Array, density: Array) -> Array:
    """P for x below a or 1, by the power series with positive terms (DLMF 8.11.4)."""
    return density * (1 + _sum(x / (a + 1), lambda k: x / (a + k + 1)))


def _complement(a: Array, x: Array) -> Array:
    """Q for small a and x, where P is close to 1 (DLMF 8.7.1)."""
    log = a * lax.log(x) - lax.lgamma(a + 1)
    total = _sum(-x / (a + 1), lambda k: -x / (k + 1) * ((a + k) / (a + k + 1)))
    return -lax.expm1(log) - lax.exp(log) * a * total


def _uniform(a: Array, mu: Array, sign: int) -> Array:
    """Q (sign 1) or P (-1) for x near a large a (DLMF 8.12.3-7)."""
    excess = _excess(mu)
    eta = jnp.sign(mu) * lax.sqrt(2 * excess)
    total = jnp.zeros_like(a)
    for row in reversed(_temme(float(jnp.finfo(a.dtype).eps) / 8)):
        total = total / a + polynomial(row, eta)
    rest = lax.exp(-a * excess) * lax.rsqrt(2 * cast(math.pi, a.dtype) * a) * total
    return lax.erfc(sign * eta * lax.sqrt(a / 2)) / 2 + sign * rest


def _regularized(a: Array, x: Array, upper: bool) -> Array:
    """P or Q of broadcast float arrays; on the border of the domain the limits, as in torch."""
    a, x = jnp.broadcast_arrays(a, x)
    valid = (a > 0) & (x > 0) & jnp.isfinite(a) & jnp.isfinite(x)
    s, t = jnp.where(valid, a, 1), jnp.where(valid, x, 1)
    mu = (t - s) / s
    near = (s > _LARGE) & (jnp.abs(mu) < _NEAR)
    right = ~near & (t > 1) & (t > s)
    left = ~near & ~right
    density = _density(s, t, mu)
    lower = _by_series(jnp.where(left, s, 1), jnp.where(left, t, 0), density)
    above = density * s * _fraction(jnp.where(right, s, 1), jnp.where(right, t, 2))
    middle = _uniform(jnp.where(near, s, _LARGE), jnp.where(near, mu, 0), 1 if upper else -1)
    if upper:
        # Where P is above about 1/2, 1 - P loses digits.
        most = left & (t <= 1) & jnp.where(t <= 0.5, -s * lax.log(t) < 0.4, s < 1.1 * t)
        below = jnp.where(most, _complement(jnp.where(most, s, 1), jnp.where(most, t, 0.5)), 1 - lower)
        value = jnp.where(near, middle, jnp.where(right, above, below))
    else:
        value = jnp.where(near, middle, jnp.where(right, 1 - above, lower))
    zero, one = (1, 0) if upper else (0, 1)
    border = jnp.where((x == 0) | jnp.isinf(a), zero, one)
    outside = (a < 0) | (x < 0) | ((a == 0) & (x == 0)) | (jnp.isinf(a) & jnp.isinf(x)) | jnp.isnan(a) | jnp.isnan(x)
    return jnp.where(valid, value, jnp.where(outside, jnp.nan, border))


@wide
def _limit(a: Array, x: Array, *, upper: bool) -> Array:
    """P or Q, with a derivative, as in torch, only with respect to the limit x."""

    def gradients(grad: Array, value: Array, a: Array, x: Array) -> Gradients:
        def of_x() -> Array:
            inside = (a > 0) & (x > 0)
            s, t = jnp.where(inside, a, 1), jnp.where(inside, x, 1)
            border = lax.exp((a - 1) * lax.log(x) - x - lax.lgamma(a))
            slope = jnp.where(inside, _density(s, t, (t - s) / s) * s / t, border)
            return grad * (-slope if upper else slope)

        return {"a": lambda: not_implemented(f"igamma{'c' * upper}: input"), "x": of_x}

    return with_derivative(partial(_regularized, upper=upper), gradients, a=a, x=x)


def igamma(self: Array, other: Array) -> Array:
    """P(a, x) = γ(a, x) / Γ(a) of a = `self`, x = `other` (DLMF 8.2.4)."""
    return _limit(self, other, upper=False)


def igammac(self: Array, other: Array) -> Array:
    """Q(a, x) = Γ(a, x) / Γ(a) of a = `self`, x = `other` (DLMF 8.2.4)."""
    return _limit(self, other, upper=True)
