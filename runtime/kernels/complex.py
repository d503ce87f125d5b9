"""Elementary complex functions with the values at infinities, NaN and branch cuts of ISO C, Annex G, unlike XLA's."""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from tenax.words import Array, imag, is_complex, real


def exp(self: Array) -> Array:
    """e to the power of `self`; for an infinite real part it is 0 or infinite, whatever the angle (G.6.3.1).

    `lax.exp` of -inf + inf i is NaN + NaN i instead of 0.
    """
    if not is_complex(self):
        return lax.exp(self)
    x, y = real(self), imag(self)
    limit = lax.complex(jnp.where(x > 0, jnp.inf, 0).astype(x.dtype), jnp.where(x > 0, jnp.nan, 0).astype(x.dtype))
    return jnp.where(jnp.isinf(x) & ~jnp.isfinite(y), limit, lax.exp(self))


def log(self: Array) -> Array:
    """The natural logarithm; infinite if a part of `self` is infinite, even if the other is NaN (G.6.3.2).

    `lax.log` of inf + NaN i is NaN + NaN i instead of inf + NaN i.
    """
    value = lax.log(self)
    if not is_complex(self):
        return value
    infinite = jnp.isinf(real(self)) | jnp.isinf(imag(self))
    return lax.complex(jnp.where(infinite, jnp.inf, real(value)), imag(value))


def sqrt(self: Array) -> Array:
    """The principal square root; the sign of a zero imaginary part chooses the side of the branch cut (G.6.4.2)."""
    return _mirrored(lax.sqrt, self) if is_complex(self) else lax.sqrt(self)


def asin(self: Array) -> Array:
    """The arcsine of complex numbers (7.3.5.2)."""
    return _mirrored(lax.asin, self)


def acos(self: Array) -> Array:
    """The arccosine (7.3.5.1)."""
    return _mirrored(lax.acos, self) if is_complex(self) else lax.acos(self)


def asinh(self: Array) -> Array:
    """The inverse hyperbolic sine; -i asin(iz), whose branch cuts lie on the imaginary axis (7.3.6.2)."""
    if not is_complex(self):
        return lax.asinh(self)
    value = asin(lax.complex(-imag(self), real(self)))
    return lax.complex(imag(value), -real(value))


def acosh(self: Array) -> Array:
    """The inverse hyperbolic cosine (7.3.6.1)."""
    return _mirrored(lax.acosh, self) if is_complex(self) else lax.acosh(self)


def _mirrored(function: Callable[[Array], Array], self: Array) -> Array:
    """`function(self)`, computed as conj(function(conj(self))) below the real axis.

    XLA takes a negative zero on a branch cut for a positive one.
    """
    below = jnp.signbit(imag(self))
    value = function(jnp.where(below, jnp.conj(self), self))
    return jnp.where(below, jnp.conj(value), value)


def atanh(self: Array) -> Array:
    """The inverse hyperbolic tangent; ± iπ/2 at an infinity (G.6.2.3).

    `lax.atanh` of 0 + NaN i is NaN - iπ/2 instead of 0 + NaN i, and of inf + NaN i it is -iπ/2 instead of 0 + NaN i.
    """
    if not is_complex(self):
        return lax.atanh(self)
    x, y = real(self), imag(self)
    infinite = jnp.isinf(x) | jnp.isinf(y)
    limit = lax.complex(
        jnp.where(infinite | (x == 0), jnp.copysign(jnp.zeros_like(x), x), jnp.nan),
        jnp.where(infinite & ~jnp.isnan(y), jnp.copysign(jnp.full_like(y, math.pi / 2), y), jnp.nan),
    )
    finite = jnp.isfinite(x) & jnp.isfinite(y)
    value = lax.atanh(jnp.where(finite, self, 0))
    beneath = jnp.signbit(y) & (imag(value) > 0)  # on the branch cut XLA loses the sign of -0
    return jnp.where(finite, jnp.where(beneath, jnp.conj(value), value), limit)


@jax.custom_jvp
def power(self: Array, exponent: Array) -> Array:
    """`self ** exponent` of complex arrays of one dtype and shape, as C's cpow: exp(exponent · log(self)).

    `lax.pow` of -inf + i and 1 is NaN + NaN i instead of infinite.
    """
    return exp(_product(exponent, log(self)))


power.defjvps(
    lambda tangent, _, x, y: tangent * y * power(x, y - 1),
    lambda tangent, value, x, _: tangent * jnp.where(x == 0, 0, value * lax.log(jnp.where(x == 0, 1, x))),
)


def _product(self: Array, other: Array) -> Array:
    """`self * other`; an infinite product that would be NaN is an infinity in its direction instead (G.5.1)."""
    a, b, c, d = real(self), imag(self), real(other), imag(other)
    x, y = a * c - b * d, a * d + b * c
    infinite = jnp.isinf(a * c) | jnp.isinf(b * d) | jnp.isinf(a * d) | jnp.isinf(b * c)
    lost = jnp.isnan(x) & jnp.isnan(y) & infinite
    (a, b), (c, d) = _direction(a, b), _direction(c, d)
    return lax.complex(jnp.where(lost, jnp.inf * (a * c - b * d), x), jnp.where(lost, jnp.inf * (a * d + b * c), y))


def _direction(x: Array, y: Array) -> tuple[Array, Array]:
    """Parts of an infinite number as ±1 (infinite) and ±0 (others); in other numbers, NaN parts become ±0."""
    infinite = jnp.isinf(x) | jnp.isinf(y)

    def part(x: Array) -> Array:
        size = jnp.where(infinite, jnp.where(jnp.isinf(x), 1, 0), jnp.where(jnp.isnan(x), 0, jnp.abs(x)))
        return jnp.copysign(size.astype(x.dtype), x)

    return part(x), part(y)
