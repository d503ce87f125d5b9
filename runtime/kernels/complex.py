"""Elementary complex functions with the values at infinities, NaN and branch cuts of ISO C, Annex G, unlike XLA's."""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from tenax.words import Array, Gradients, cast, imag, is_complex, real, with_derivative


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
    return lax.complex(jnp.where(_infinite(self), jnp.inf, real(value)), imag(value))


def log10(self: Array) -> Array:
    """The logarithm to base 10."""
    return scaled(log(self), 0.4342944819032518)


def scaled(self: Array, factor: float) -> Array:
    """The product with a real number, part by part: a complex product adds infinity times 0, which is NaN."""
    if not is_complex(self):
        return self * cast(factor, self.dtype)
    return lax.complex(scaled(real(self), factor), scaled(imag(self), factor))


def absolute(self: Array) -> Array:
    """The absolute value; infinite if a part is infinite, even if the other is NaN (G.6)."""
    return jnp.where(_infinite(self), jnp.inf, jnp.abs(self)) if is_complex(self) else jnp.abs(self)


def _infinite(self: Array) -> Array:
    return jnp.isinf(real(self)) | jnp.isinf(imag(self))


def sqrt(self: Array) -> Array:
    """The principal square root; the sign of a zero imaginary part chooses the side of the branch cut (G.6.4.2)."""
    if not is_complex(self):
        return lax.sqrt(self)
    value, x, y = _mirrored(lax.sqrt, self), real(self), imag(self)
    re = jnp.where(jnp.isinf(y) | ((x == jnp.inf) & jnp.isnan(y)), jnp.inf, real(value))
    im = jnp.where((x == -jnp.inf) & jnp.isnan(y), jnp.inf, imag(value))
    return lax.complex(re, jnp.where(jnp.isinf(y), y, im))


def sinh(self: Array) -> Array:
    """The hyperbolic sine of complex numbers (G.6.2.5). `lax.sinh` of 1e-30 is 0."""
    x, y, value = real(self), imag(self), _odd(_rotated(lax.sin, self), self)
    return lax.complex(jnp.where(jnp.isinf(x) & ~jnp.isfinite(y), x, real(value)), imag(value))


def cosh(self: Array) -> Array:
    """The hyperbolic cosine of complex numbers (G.6.2.4)."""
    x, y, value = real(self), imag(self), lax.cos(_times_i(self))
    re = jnp.where(jnp.isinf(x) & ~jnp.isfinite(y), jnp.inf, real(value))
    on_axis = ((x == 0) & ~jnp.isfinite(y)) | ((y == 0) & ~jnp.isfinite(x))
    return lax.complex(re, jnp.where(on_axis, 0, imag(value)))


def tanh(self: Array) -> Array:
    """The hyperbolic tangent (G.6.2.6)."""
    return _odd(lax.tanh(self), self) if is_complex(self) else lax.tanh(self)


def sin(self: Array) -> Array:
    """The sine (7.3.5.5)."""
    return _rotated(sinh, self) if is_complex(self) else lax.sin(self)


def cos(self: Array) -> Array:
    """The cosine (7.3.5.4)."""
    return cosh(_times_i(self)) if is_complex(self) else lax.cos(self)


def tan(self: Array) -> Array:
    """The tangent (7.3.5.6)."""
    return _rotated(tanh, self) if is_complex(self) else lax.tan(self)


def asin(self: Array) -> Array:
    """The arcsine of complex numbers (7.3.5.2)."""
    return _mirrored(lax.asin, self)


def acos(self: Array) -> Array:
    """The arccosine (7.3.5.1)."""
    return _mirrored(lax.acos, self) if is_complex(self) else lax.acos(self)


def asinh(self: Array) -> Array:
    """The inverse hyperbolic sine, whose branch cuts lie on the imaginary axis (7.3.6.2)."""
    return _rotated(asin, self) if is_complex(self) else lax.asinh(self)


def acosh(self: Array) -> Array:
    """The inverse hyperbolic cosine (7.3.6.1), with torch's derivative, also outside of its domain."""

    def value(z: Array) -> Array:
        return _mirrored(lax.acosh, z) if is_complex(z) else lax.acosh(z)

    def gradients(grad: Array, result: Array, z: Array) -> Gradients:
        # Adding 1 would make the imaginary part -0 0, on the other side of the branch cut; subtracting -1 does not.
        slope = lax.rsqrt(z - 1) * lax.rsqrt(z - -1) if is_complex(z) else lax.rsqrt(z * z - 1)
        return {"z": lambda: grad * jnp.conj(slope)}

    inverse: Array = with_derivative(value, gradients, z=self)
    return inverse


def atan(self: Array) -> Array:
    """The arctangent, whose branch cuts lie on the imaginary axis (7.3.5.3)."""
    return _rotated(atanh, self) if is_complex(self) else lax.atan(self)


def _rotated(function: Callable[[Array], Array], self: Array) -> Array:
    """-i function(iz), by which C defines the circular functions."""
    value = function(_times_i(self))
    return lax.complex(imag(value), -real(value))


def _times_i(self: Array) -> Array:
    return lax.complex(-imag(self), real(self))


def _odd(value: Array, self: Array) -> Array:
    """The value of an odd function, which maps both axes to themselves, although 0 times infinity or NaN is NaN."""
    x, y = real(self), imag(self)
    re = jnp.where((x == 0) & ~jnp.isfinite(y), x, real(value))
    return lax.complex(re, jnp.where((y == 0) & ~jnp.isfinite(x), y, imag(value)))


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
