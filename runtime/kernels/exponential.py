"""Functions related to the exponential, and inverses, where those of XLA lose digits; frexp, exp2 and log2 are exact at
powers of two by way of the IEEE 754 bits.

Errors of JAX's functions were measured with jax 0.10 on a CPU, in ULP (`tests/coverage/ulp.py`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels import complex as complex_kernels
from tenax.kernels.graft import graft
from tenax.words import Array, cast, is_complex, opmath


def _taylor(x: Array, first: int, step: int, largest: float) -> Array:
    """Σ xᵏ / (first + step k)!, up to the first term that the dtype cannot resolve at |x| = `largest`."""
    terms = [1 / math.factorial(first)]
    while terms[-1] * largest ** (len(terms) - 1) > terms[0] * float(jnp.finfo(x.dtype).eps) / 16:
        terms.append(1 / math.factorial(first + step * len(terms)))
    total = jnp.zeros_like(x)
    for c in reversed(terms):
        total = total * x + cast(c, x.dtype)
    return total


def expm1(self: Array) -> Array:
    """exp(x) - 1; near 0 a Taylor series whose first term is kept apart, so that only the rest is rounded.

    `lax.expm1` is 5.4 ULP off in float32 (at 0.22) and 3.9 in float64 (at 0.37).
    """
    if is_complex(self):
        return lax.expm1(self)
    near = jnp.abs(self) < 0.5
    x = jnp.where(near, self, 0)
    return jnp.where(near, x + x * x * _taylor(x, 2, 1, 0.5), lax.expm1(self))


def log1p(self: Array) -> Array:
    """log(1 + x); in float64 corrected for the rounding of 1 + x.

    `lax.log1p` is 206 ULP off in float64 (at -0.412), and 1.8 in float32, where it is used.
    """
    if self.dtype != np.float64:
        return lax.log1p(self)
    total = 1 + self
    regular = jnp.isfinite(total) & (total > 0) & (total != 1)
    safe = jnp.where(regular, total, 2)
    return jnp.where(regular, lax.log(safe) * (self / (safe - 1)), lax.log1p(self))


def sinh(self: Array) -> Array:
    """(exp(x) - exp(-x)) / 2, which overflows only where the result does.

    `lax.sinh` is 24 ULP off in float32 (at 76) and 5.3 near 0 (at 0.45); in float64 17 and 4.9.
    """
    if is_complex(self):
        return complex_kernels.sinh(self)
    size = jnp.abs(self)
    near = size < 1
    x = jnp.where(near, self, 0)
    half = _half_exp(size)
    far = jnp.copysign(half - 0.25 / half, self)
    return jnp.where(near, x + x * (x * x) * _taylor(x * x, 3, 2, 1), far)


def cosh(self: Array) -> Array:
    """(exp(x) + exp(-x)) / 2, which overflows only where the result does.

    `lax.cosh` is 24 ULP off in float32 (at 53) and 17 in float64 (at 62).
    """
    if is_complex(self):
        return complex_kernels.cosh(self)
    half = _half_exp(jnp.abs(self))
    return half + 0.25 / half


def _half_exp(x: Array) -> Array:
    """exp(x) / 2 for x ≥ 0. XLA's sinh uses exp(x - ln 2), which multiplies the rounding of the argument by x."""
    highest = cast(math.log(float(jnp.finfo(x.dtype).max)) - 1, x.dtype)
    root = lax.exp(x / 2)
    return jnp.where(x > highest, root / 2 * root, lax.exp(jnp.minimum(x, highest)) / 2)


def asin(self: Array) -> Array:
    """The arcsine; a small number is its own arcsine.

    `lax.asin` halves its argument internally: asin(2.2e-38) is 0 in float32.
    """
    if is_complex(self):
        return complex_kernels.asin(self)
    small = jnp.abs(self) < cast(float(jnp.finfo(self.dtype).eps) ** 0.5, self.dtype)
    return jnp.where(small, self, lax.asin(jnp.where(small, 0.5, self)))


class _Format(NamedTuple):
    """A float format: integer type of the same size, number of fraction bits, exponent bias."""

    integer: type
    digits: int
    bias: int


_FORMATS = {4: _Format(np.int32, 23, 127), 8: _Format(np.int64, 52, 1023)}


def frexp(self: Array) -> tuple[Array, Array]:
    """(mantissa of the dtype of `self`, exponent int32) with `self = mantissa * 2 ** exponent`, 1/2 ≤ |mantissa| < 1.

    A subnormal float32 is its own mantissa where XLA flushes it to 0. `jnp.frexp` returns 0.5 and -149 for all of
    them, and 0.5 and -1074 for those of float64.
    """
    x = cast(self, opmath(self.dtype))
    integer, digits, bias = _FORMATS[x.dtype.itemsize]
    subnormal = jnp.abs(x) < cast(float(jnp.finfo(x.dtype).tiny), x.dtype)
    normal = jnp.where(subnormal, x * 2.0**digits, x)
    bits = lax.bitcast_convert_type(normal, integer)
    exponent = ((bits >> digits) & (2 * bias + 1)) - (bias - 1)
    mantissa = lax.bitcast_convert_type(bits - (exponent << digits), x.dtype)
    plain = jnp.isfinite(x) & (normal != 0)
    exponent = jnp.where(plain, jnp.where(subnormal, exponent - digits, exponent), 0)
    mantissa = jnp.where(plain, graft(mantissa, x * lax.stop_gradient(mantissa / jnp.where(plain, x, 1))), x)
    return cast(mantissa, self.dtype), cast(exponent, np.int32)


def power_of_two(n: Array) -> Array:
    """2ⁿ for whole n, where the power is normal in the float dtype of `n`."""
    integer, digits, bias = _FORMATS[n.dtype.itemsize]
    return lax.bitcast_convert_type((lax.convert_element_type(n, integer) + bias) << digits, n.dtype)


def exp2(self: Array) -> Array:
    """2ˣ, exact where x is whole.

    `lax.exp2` is exp(x ln 2): 65 ULP off in float32 (at -93) and 81 in float64 (at -96), and inexact at 221 of the 254
    whole numbers whose power is normal in float32.
    """
    if is_complex(self):
        return complex_kernels.exp(complex_kernels.scaled(self, math.log(2)))
    bound = 2.0 * _FORMATS[self.dtype.itemsize].bias
    whole = lax.round(lax.clamp(cast(-bound, self.dtype), lax.stop_gradient(self), cast(bound, self.dtype)))
    half = lax.floor(whole / 2)  # 2ⁿ may be subnormal or infinite where its root is not
    return lax.exp2(self - whole) * power_of_two(half) * power_of_two(whole - half)


def log2(self: Array) -> Array:
    """The logarithm to base 2, exact at powers of two.

    `jnp.log2` is inexact at 46 of the 254 normal powers of two in float32, and at 364 of 2046 in float64.
    """
    if is_complex(self):
        return complex_kernels.scaled(complex_kernels.log(self), 1 / math.log(2))
    value = lax.log(self) / cast(math.log(2), self.dtype)
    mantissa, exponent = frexp(lax.stop_gradient(self))
    exact = cast(exponent, self.dtype) - 1
    power = (mantissa == 0.5) & jnp.isfinite(value)
    return value + jnp.where(power, exact - lax.stop_gradient(value), 0)
