"""Classical orthogonal polynomials of elementwise degree, by recurrence, or trigonometric for Chebyshev's (DLMF 18).

Every function takes float arrays `x` and `n`; n is truncated to an integer, and the value for a negative degree is 0.
There are no derivatives, as in torch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax.numpy as jnp
from jax import lax

from tenax.kernels import loops
from tenax.kernels.special import wide
from tenax.words import INT64, Array, cast

# Above this degree, sines and cosines are used in (-1, 1); up to it the recurrence is short and exact.
_LONGEST_RECURRENCE = 8

# The highest degree of Hermite polynomials, by bytes of the dtype; beyond it torch returns NaN.
_LONGEST_HERMITE = {4: 128, 8: 512}


def _broadcast(x: Array, n: Array) -> tuple[Array, Array]:
    """x and the truncated n, broadcast; an n outside of int64 counts as negative, as in C on a CPU."""
    x, n = jnp.broadcast_arrays(x, n)
    return x, jnp.where(jnp.abs(n) < 2.0**63, jnp.trunc(n), -1)


def _recur(degree: Array, first: Array, step: Callable[[Array, Array, Array], Array]) -> Array:
    """The polynomial of each degree: `first` has degree 1; `step(k, q, p)` continues q and p, of degrees k and k - 1.

    The loop ends when every value has reached its degree or is NaN, which no further step changes.
    """

    def lacking(state: tuple[Array, Array, Array]) -> Array:
        k, _, value = state
        return (cast(k, first.dtype) < degree) & ~jnp.isnan(value)

    def advance(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        k, before, value = state
        go = lacking(state)
        further = step(cast(k, first.dtype), value, before)
        return k + 1, jnp.where(go, value, before), jnp.where(go, further, value)

    one = jnp.ones_like(first)
    start = jnp.where(degree >= 1, first, jnp.where(degree == 0, one, 0))
    return loops.while_loop(lambda state: jnp.any(lacking(state)), advance, (jnp.ones((), INT64), one, start))[2]


def _chebyshev(
    x: Array, n: Array, first: Array, wave: Callable[[Array], Array], at_one: Array | int, at_minus_one: Array | int
) -> Array:
    """One of the four kinds, of degree n: `first` has degree 1, `wave` maps θ to the value at cos θ (DLMF 18.5.1-4)."""
    end, inside = jnp.abs(x) == 1, (jnp.abs(x) < 1) & (n > _LONGEST_RECURRENCE)
    value = _recur(jnp.where(end | inside, 0, n), first, lambda k, q, p: 2 * x * q - p)
    value = jnp.where(inside, wave(lax.acos(jnp.where(inside, x, 0))), value)
    sign = 1 - 2 * jnp.remainder(n, 2)
    ends = jnp.where(x > 0, at_one, sign * at_minus_one)
    return jnp.where(n < 0, 0, jnp.where(end, ends, value))


@wide
def special_chebyshev_polynomial_t(x: Array, n: Array) -> Array:
    """The first kind, cos nθ for x = cos θ."""
    x, n = _broadcast(x, n)
    return _chebyshev(x, n, x, lambda angle: lax.cos(n * angle), 1, 1)


@wide
def special_chebyshev_polynomial_u(x: Array, n: Array) -> Array:
    """The second kind, sin (n + 1)θ / sin θ."""
    x, n = _broadcast(x, n)
    return _chebyshev(x, n, 2 * x, lambda angle: lax.sin((n + 1) * angle) / lax.sin(angle), n + 1, n + 1)


@wide
def special_chebyshev_polynomial_v(x: Array, n: Array) -> Array:
    """The third kind, cos (n + 1/2)θ / cos θ/2."""
    x, n = _broadcast(x, n)
    return _chebyshev(x, n, 2 * x - 1, lambda angle: lax.cos((n + 0.5) * angle) / lax.cos(angle / 2), 1, 2 * n + 1)


@wide
def special_chebyshev_polynomial_w(x: Array, n: Array) -> Array:
    """The fourth kind, sin (n + 1/2)θ / sin θ/2."""
    x, n = _broadcast(x, n)
    return _chebyshev(x, n, 2 * x + 1, lambda angle: lax.sin((n + 0.5) * angle) / lax.sin(angle / 2), 2 * n + 1, 1)


@wide
def _hermite(x: Array, n: Array, *, weight: int) -> Array:
    """Hermite polynomials with weight exp(-weight x² / 2) and leading coefficient weightⁿ (DLMF 18.9, table 1); NaN
    above degree 128 in float32 and 512 in float64."""
    x, n = _broadcast(x, n)
    beyond = n > _LONGEST_HERMITE[x.dtype.itemsize]
    value = _recur(jnp.where(beyond, 0, n), weight * x, lambda k, q, p: weight * (x * q - k * p))
    return jnp.where(beyond, jnp.nan, value)


special_hermite_polynomial_h = partial(_hermite, weight=2)
special_hermite_polynomial_he = partial(_hermite, weight=1)


@wide
def special_laguerre_polynomial_l(x: Array, n: Array) -> Array:
    """Laguerre polynomials; 1 at 0."""
    x, n = _broadcast(x, n)
    origin = (x == 0) & (n > 0)
    value = _recur(jnp.where(origin, 0, n), 1 - x, lambda k, q, p: ((2 * k + 1 - x) * q - k * p) / (k + 1))
    return jnp.where(origin, 1, value)


@wide
def special_legendre_polynomial_p(x: Array, n: Array) -> Array:
    """Legendre polynomials; at the ends of [-1, 1] equal to Chebyshev's of the first kind."""
    x, n = _broadcast(x, n)
    end = (jnp.abs(x) == 1) & (n > 0)
    value = _recur(jnp.where(end, 0, n), x, lambda k, q, p: ((2 * k + 1) * x * q - k * p) / (k + 1))
    return jnp.where(end & (x < 0) & (jnp.remainder(n, 2) == 1), -1, value)
