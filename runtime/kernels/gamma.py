"""The logarithm of the gamma function and its derivatives, of one argument and of several, and the regularized
incomplete gamma functions, using in each region the expansion that converges there.

Errors of JAX's functions were measured with jax 0.10 on a CPU, in ULP (`tests/coverage/ulp.py`). In float32
`lax.igamma` and `lax.igammac` are 1.4e5 ULP off for a and x near 8000, and in float64 `lax.igammac` is 1.8e5 off near
5e3. They are NaN at a = inf, where torch has the limits, and have a derivative with respect to a, where torch raises.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial

import jax.numpy as jnp
from jax import lax
from jax.scipy import special

from tenax.kernels import loops
from tenax.kernels.special import polynomial, series, wide
from tenax.words import FLOAT32, Array, Gradients, cast, not_implemented, with_derivative

# ln Γ(1 + w) / w and ln Γ(2 + w) / w in 2w, for w in [-1/2, 1/2]: computed with mpmath at 50 digits by interpolation at
# Chebyshev nodes.
_NEAR_ONE = (
    -0.633011426275031, 0.4405675574678963, -0.057857409449912446, 0.010513973690267811, -0.002163989092091715,
    0.0004744402338724658, -0.00010799644528099427, 2.5201155299530276e-05, -5.986014498026819e-06,
    1.4410616180293054e-06, -3.5060690575761177e-07, 8.603823016763753e-08, -2.126510912478688e-08,
    5.287778091463614e-09, -1.3217135752166157e-09, 3.3186698554450495e-10, -8.365902567746219e-11,
    2.116338666160694e-11, -5.370507653794381e-12, 1.3666688100545857e-12, -3.486660039885161e-13,
    8.915622432767707e-14, -2.28454959350908e-14, 5.86514671522212e-15, -1.5084071183968602e-15,
    3.885614648428306e-16, -1.0024188186640361e-16, 2.5896418565384152e-17, -6.69867474095857e-18,
)  # fmt: skip
_NEAR_TWO = (
    0.41418612492156676, 0.16322170068760064, -0.008658972394126285, 0.0006727515726001485, -6.139556963628233e-05,
    6.110065797003576e-06, -6.410003033826223e-07, 6.962242692768951e-08, -7.747248733788217e-09,
    8.774075140687239e-10, -1.0070266869830198e-10, 1.1678602130652374e-11, -1.3656871334744932e-12,
    1.6079351149711552e-13, -1.9039501088488732e-14, 2.2653768767833064e-15, -2.706656814831896e-16,
    3.245660731626191e-17, -3.904483378457447e-18,
)  # fmt: skip
# B(2k) / (2k (2k - 1)), k = 1, 2, ...: Stirling's series of ln Γ (DLMF 5.11.1); exact to 1e-16 from 10.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
_STIRLING_FROM = 10


def _positive(x: Array) -> Array:
    """ln Γ(x) for x > 0: series around the zeros at 1 and 2, the recurrence up to 10, and Stirling's series above."""
    big = x >= _STIRLING_FROM
    large = jnp.where(big, x, _STIRLING_FROM)
    rest = polynomial(_STIRLING, 1 / (large * large)) / large
    stirling = (large - 0.5) * (lax.log(large) - 1) + cast(math.log(2 * math.pi) / 2 - 0.5, x.dtype) + rest
    product, small = jnp.ones_like(x), jnp.where(big, 2, x)
    for _ in range(_STIRLING_FROM - 2):
        above = small > 2.5
        small = jnp.where(above, small - 1, small)
        product = jnp.where(above, product * small, product)
    two, tiny = small > 1.5, small <= 0.5
    w = small - jnp.where(two, 2, jnp.where(tiny, 0, 1))
    below = w * jnp.where(two, series(_NEAR_TWO, 2 * w), series(_NEAR_ONE, 2 * w))
    return jnp.where(big, stirling, below + lax.log(jnp.where(tiny, 1 / small, product)))


@wide
def lgamma(self: Array) -> Array:
    """ln |Γ(x)| of a float array; infinite at 0, at negative integers and at infinity (DLMF 5.5.3).

    `lax.lgamma` loses all digits next to the zeros at 1 and 2: of 0.99999994 in float32 it is 4.8e-7 instead of 3.4e-8.
    That is within torch's tolerance, so platforms other than the CPU use it for float32 and need no float64.
    """
    if self.dtype == FLOAT32:
        return lax.lgamma(self)
    size = jnp.abs(self)
    turn = self - lax.round(self)
    sine = jnp.abs(lax.sin(turn * cast(math.pi, self.dtype)))
    regular = jnp.where(jnp.isfinite(size) & (size > 0), size, 1)
    right = _positive(regular)
    left = cast(math.log(math.pi), self.dtype) - lax.log(regular) - lax.log(jnp.where(sine > 0, sine, 1)) - right
    value = jnp.where(self < 0, jnp.where(sine > 0, left, jnp.inf), right)
    return jnp.where(jnp.isnan(self), self, jnp.where((self == 0) | jnp.isinf(self), jnp.inf, value))


@wide
def digamma(self: Array) -> Array:
    """The logarithmic derivative of Γ; infinite at 0, with the opposite sign of the zero; NaN at negative integers.

    `lax.digamma` is NaN at 0, and 183 ULP off in float32 (at -0.5).
    """
    return jnp.where(self == 0, jnp.copysign(jnp.inf, -self), lax.digamma(self))


@wide
def polygamma(n: int, self: Array) -> Array:
    """The n-th derivative of digamma, `(-1)ⁿ⁺¹ n! ζ(n + 1, x)` (DLMF 25.11.12).

    `jax.scipy.special.polygamma(1, -9.5)` is -2.9e12 instead of 9.77, because of its ζ.
    """
    if n == 0:
        return digamma(self)
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    factorial = cast(math.factorial(n) if n < 171 else math.inf, self.dtype)
    zeta = special_zeta(jnp.full_like(self, n + 1), self)
    return factorial * (zeta if n % 2 else -zeta)


def _zeta(s: Array, q: Array) -> Array:
    """ζ for q > 0. For a large s only q⁻ˢ is left, where XLA computes 0 * ∞; for q > 1 torch has that NaN too."""
    value = special.zeta(s, q)
    alone = jnp.isnan(value) & (s > 1) & (q > 0) & (q <= 1)
    return jnp.where(alone & (q < 1), jnp.inf, jnp.where(alone, 1, value))


def _reflected_zeta(s: Array, q: Array) -> Array:
    """Σ (q + k)⁻ˢ, also for q below 0: up to sign, its terms below 0 are those from ceil(q) - q to -q.

    `jax.scipy.special.zeta` sums a few terms and integrates the rest, which is wrong below -9: ζ(2, -9.5) is -2.9e12
    instead of 9.77.
    """
    negative = q < 0
    rest = jnp.where(negative, q - lax.floor(q), q)
    beyond = special.zeta(s, 1 - jnp.where(negative, q, 0))
    beyond = jnp.where(jnp.isnan(beyond) & (s > 1), 0, beyond)
    mirrored = _zeta(s, jnp.where(negative, lax.ceil(q) - q, 1)) - beyond
    below = jnp.where(jnp.remainder(s, 2) == 0, mirrored, -mirrored)
    below = jnp.where(s == lax.floor(s), below, jnp.nan)
    return _zeta(s, rest) + jnp.where(negative, below, 0)


@wide
def special_zeta(self: Array, other: Array) -> Array:
    """Hurwitz's ζ(s, q) of s = `self`, q = `other` (DLMF 25.11.1); infinite at the poles, NaN where it is complex.

    JAX's underflows internally in float32: ζ(10.05, 7799) is 0 instead of 6.5e-37.
    """
    s, q = jnp.broadcast_arrays(self, other)
    pole = (q <= 0) & (q == lax.floor(q))
    regular = jnp.where(pole, 1, q)
    value = lax.cond(jnp.any(regular < 0), _reflected_zeta, _zeta, s, regular)
    infinite = (pole & ~(s < 1)) | ((s == 1) & ~jnp.isnan(q))
    return jnp.where(infinite, jnp.inf, value)


@wide
def mvlgamma(self: Array, p: int) -> Array:
    """ln Γ_p(x) = p(p-1)/4 ln π + Σ ln Γ(x - j/2), j < p (DLMF 35.3.4). A float array.

    `jax.scipy.special.multigammaln` is 17 ULP off in float32 and 23 in float64 (p = 3, at 2.4) due to `lax.lgamma`.
    """
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    shifts = jnp.arange(p, dtype=self.dtype) / 2
    constant = cast(p * (p - 1) / 4 * math.log(math.pi), self.dtype)
    return jnp.sum(lgamma(self[..., None] - shifts), -1) + constant


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
    big = a >= _STIRLING_FROM
    large = jnp.where(big, a, _STIRLING_FROM)
    stirling = polynomial(_STIRLING, 1 / (large * large)) / large
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
