"""Elementwise arithmetic that is longer than one expression: rounded division, powers, divisors, edge cases."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels import arithmetic, loops
from tenax.kernels import complex as complex_kernels
from tenax.kernels.exponential import frexp, log1p, power_of_two
from tenax.words import (
    ALWAYS_BOOL,
    BOOL,
    DEFAULT,
    INT_TO_FLOAT,
    SINCE_2_15,
    Array,
    Gradients,
    Number,
    as_long,
    cast,
    dtype_of,
    imag,
    is_complex,
    is_float,
    is_int,
    is_negative,
    opmath,
    real,
    tied,
    with_derivative,
)

# Integral float powers up to this are multiplications: one rounding each, and cheaper than exp(y log x).
_LONGEST_PRODUCT = 4


def div(self: Array, other: Array | Number, *, rounding_mode: str | None) -> Array:
    """Quotient of broadcast arguments: true (the default float for integers), or rounded in their own dtype."""
    promote = INT_TO_FLOAT if rounding_mode is None else DEFAULT
    dtype, x, y = promote(self, other)
    if rounding_mode is None:
        return cast(arithmetic.div(x, y), dtype)
    x, y = lax.stop_gradient(x), lax.stop_gradient(y)
    if rounding_mode == "floor":
        return cast(floor_divide(x, y), dtype)
    if rounding_mode != "trunc":
        message = "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{}'"
        raise RuntimeError(message.format(rounding_mode))
    if is_float(x):
        # The quotient is rounded to the dtype before truncation, as in torch for float16 and bfloat16.
        return jnp.trunc(cast(x / y, dtype))
    return cast(lax.div(*jnp.broadcast_arrays(x, y)), dtype)


def _clamp(self: Array, min: Array | None = None, max: Array | None = None, *, share: float) -> Array:
    """`self` within its bounds, of which `max` is the stronger; at one of them it takes a share of the gradient."""

    def gradients(grad: Array, result: Array, self: Array, min: Array | None, max: Array | None) -> Gradients:
        low: Any = -np.inf if min is None else min
        high: Any = np.inf if max is None else max
        inside = (self > low) & (self < high) | (share > 0) & (self == low) & (self == high)
        below = (self < low) & ((low <= high) if SINCE_2_15 else (low < high))
        at_low, at_high = (self == low) & (low < high), (self == high) & (low < high)
        at_bound = (low <= high) & ((self == low) | (self == high))
        return {
            "self": lambda: tied(grad, inside, at_bound, 1, share),
            "min": lambda: tied(grad, below, at_low, 0, share),
            "max": lambda: tied(grad, (self > high) | (high < low), at_high, 0, share),
        }

    return with_derivative(lambda self, **bounds: jnp.clip(self, **bounds), gradients, self=self, min=min, max=max)


clamp = partial(_clamp, share=0.0)
clamp_by_tensors = partial(_clamp, share=0.5)


def floor_divide(self: Array, other: Array) -> Array:
    """Quotient rounded to minus infinity; more exact than `floor(self / other)`, as the remainder is subtracted first.

    `jnp.floor_divide` loses the sign of a zero: -0.0 // 1.0 is 0.0, and -1.0 // -inf is -0.0.
    """
    if not is_float(self):
        return jnp.floor_divide(self, other)
    self, other = jnp.broadcast_arrays(self, other)
    rest = lax.rem(self, other)
    quotient = (self - rest) / other
    quotient = jnp.where((rest != 0) & ((other < 0) != (rest < 0)), quotient - 1, quotient)
    whole = lax.floor(quotient)
    whole = jnp.where(quotient - whole > 0.5, whole + 1, whole)
    whole = jnp.where(quotient == 0, jnp.copysign(jnp.zeros_like(self), self / other), whole)
    return jnp.where(other == 0, self / other, whole)


def power(self: Array, exponent: Array) -> Array:
    """`self ** exponent` in one dtype. Integers wrap; their negative powers are 0 except for the bases 1 and -1.

    `jnp.power` of int64 2 and -1 is the smallest int64.
    """
    if self.dtype == BOOL:
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    base, exponent = jnp.broadcast_arrays(self, exponent)
    if is_complex(self):
        return complex_kernels.power(base, exponent)
    if is_float(self):
        return lax.pow(base, exponent)
    even = exponent % 2 == 0
    reciprocal = jnp.where(base == 1, 1, jnp.where(base == -1, jnp.where(even, 1, -1), 0)).astype(self.dtype)

    def square(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        product, factor, left = state
        return jnp.where(left % 2 == 1, product * factor, product), factor * factor, left // 2

    start = jnp.ones_like(base), base, jnp.maximum(exponent, 0)
    product, _, _ = loops.while_loop(lambda state: jnp.any(state[2] > 0), square, start)
    return jnp.where(exponent < 0, reciprocal, product)


def power_scalar(self: Array, exponent: complex | Number) -> Array:
    """`self ** exponent`; small powers and halves that are known become multiplications and roots."""
    dtype, self, number = DEFAULT(self, exponent)
    if is_int(self) and is_negative(exponent):
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    return cast(power(self, number) if isinstance(exponent, Number) else _known_power(self, number, exponent), dtype)


def _known_power(base: Array, power: Array, exponent: Any) -> Array:
    """`base ** power`; `exponent` is the Python number in `power`."""
    if exponent in (0.5, -0.5):
        return complex_kernels.sqrt(base) if exponent > 0 else lax.rsqrt(base)
    if base.dtype == BOOL:  # so is the exponent
        return base | (not exponent)
    whole = not isinstance(exponent, complex) and exponent == exponent // 1
    if whole and (is_int(base) or abs(exponent) <= _LONGEST_PRODUCT):
        return lax.integer_pow(base, int(exponent))
    power = jnp.broadcast_to(power, base.shape)
    return complex_kernels.power(base, power) if is_complex(base) else lax.pow(base, power)


def ldexp(self: Array, other: Array) -> Array:
    """`self * 2 ** other`; for floats and whole exponents, it overflows only where the result does."""
    if not (is_float(self) and is_int(other)):
        dtype, two, exponent = DEFAULT(2.0, other)
        dtype, x, factor = DEFAULT(self, cast(power(two, exponent), dtype))
        return cast(arithmetic.mul(x, factor), dtype)
    x, n = jnp.broadcast_arrays(cast(self, opmath(self.dtype)), other)
    mantissa, exponent = frexp(x)
    most = int(jnp.finfo(x.dtype).maxexp)  # twice 2 to this power leaves the range of any mantissa
    n = jnp.clip(cast(n, x.dtype), -4 * most, 4 * most) + cast(exponent, x.dtype)
    first = jnp.clip(n, 2 - most, most - 1)  # of a mantissa, the product with this power is exact
    rest = jnp.clip(n - first, 2 - most, most - 1)
    return cast(mantissa * power_of_two(first) * power_of_two(rest), self.dtype)


def sgn(self: Array) -> Array:
    """-1, 0 or 1, or `self / |self|` of a complex number; 0 for a real NaN, for which `lax.sign` is NaN."""
    if is_complex(self):
        size = jnp.where(self == 0, 1, complex_kernels.absolute(self))
        return lax.complex(lax.real(self) / size, lax.imag(self) / size)
    if self.dtype == BOOL:
        return self
    return cast(self > 0, self.dtype) - cast(self < 0, self.dtype)


def addcmul(self: Array, tensor1: Array, tensor2: Array, *, value: Any = 1) -> Array:
    """self + value * tensor1 * tensor2."""
    return arithmetic.add(self, arithmetic.mul(arithmetic.scaled(tensor1, value), tensor2))


def addcdiv(self: Array, tensor1: Array, tensor2: Array, *, value: Any = 1) -> Array:
    """self + value * tensor1 / tensor2."""
    if not (is_float(self) or is_complex(self)):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future release addcdiv will perform a true "
            "division of tensor1 and tensor2"
        )
    return arithmetic.add(self, arithmetic.scaled(arithmetic.div(tensor1, tensor2), value))


def lerp(self: Array, end: Array, weight: Array) -> Array:
    """`self + weight * (end - self)`, computed from the nearer end, so that weights 0 and 1 return the ends exactly."""
    near = jnp.abs(weight) < 0.5
    step = arithmetic.mul(jnp.where(near, weight, weight - 1), arithmetic.sub(end, self))
    return arithmetic.add(jnp.where(near, self, end), step)


def hypot(self: Array, other: Array) -> Array:
    """`sqrt(self² + other²)`, scaled by powers of two; infinite if either is, even beside a NaN (IEEE 754, 9.2.1).

    `jnp.hypot` is 1.9 ULP off in float32 (jax 0.10), and CPU torch 0.5.
    """
    infinite = jnp.isinf(self) | jnp.isinf(other)
    size = jnp.maximum(jnp.abs(self), jnp.abs(other))
    quarter = 2.0 ** (jnp.finfo(size.dtype).maxexp // 4)
    scale = jnp.where(size > quarter, 1 / quarter**2, jnp.where(size < 1 / quarter, quarter**2, 1))
    x, y = self * cast(scale, self.dtype), other * cast(scale, self.dtype)
    return jnp.where(infinite, jnp.inf, lax.sqrt(x * x + y * y) / cast(scale, self.dtype))


def logaddexp(self: Array, other: Array) -> Array:
    """ln(exp(self) + exp(other)), complex results on the branch of the argument with the larger real part.

    `jnp.logaddexp` of complex numbers wraps the imaginary part to (-π, π], and is NaN of two infinities.
    """
    if not is_complex(self):
        return jnp.logaddexp(self, other)
    larger = lax.real(self) >= lax.real(other)
    high, low = jnp.where(larger, self, other), jnp.where(larger, other, self)
    same = jnp.isinf(lax.real(high)) & (high == low)
    return jnp.where(same, high, high + lax.log1p(lax.exp(jnp.where(same, 0, low - high))))


def _or_zero(self: Array, other: Array, product: Array) -> Array:
    """`product`, a multiple of `self`, but 0 where `self` is 0 unless `other` is NaN."""
    return jnp.where(self == 0, jnp.where(jnp.isnan(other), jnp.nan, 0), product)


def xlogy(self: Array, other: Array) -> Array:
    """`self log(other)`, 0 where `self` is 0 unless `other` is NaN.

    `jax.scipy.special.xlogy` has the derivatives -inf and NaN where both are 0.
    """
    return _or_zero(self, other, self * lax.log(jnp.where(self == 0, 1, other)))


def special_xlog1py(self: Array, other: Array) -> Array:
    """`self log(1 + other)`, 0 where `self` is 0 unless `other` is NaN.

    `jax.scipy.special.xlog1py` is 206 ULP off in float64, because of `lax.log1p`.
    """
    return _or_zero(self, other, self * log1p(jnp.where(self == 0, 0, other)))


def round_decimals(self: Array, *, decimals: int | Number) -> Array:
    """Round half to even at a decimal place.

    `jnp.round` multiplies by 0.001 for `decimals=-3`: for float32 numbers around 1e4, 96 % differ from torch's.
    """
    if isinstance(decimals, int) and decimals == 0:
        return lax.round(self, lax.RoundingMethod.TO_NEAREST_EVEN)
    if isinstance(decimals, int):
        scale = lax.full((), _POWERS_OF_10[min(abs(decimals), 309)], self.dtype)
    else:
        place = jnp.clip(as_long(decimals), -309, 309)
        scale = cast(jnp.asarray(_POWERS_OF_10)[jnp.abs(place)], self.dtype)
    if is_negative(decimals):
        return lax.round(self / scale, lax.RoundingMethod.TO_NEAREST_EVEN) * scale
    return lax.round(self * scale, lax.RoundingMethod.TO_NEAREST_EVEN) / scale


_POWERS_OF_10 = np.asarray([*(10.0**n for n in range(309)), np.inf])


def nan_to_num(
    self: Array, nan: Array | None = None, posinf: Array | None = None, neginf: Array | None = None
) -> Array:
    """Replace NaN by 0 and infinities by the largest finite numbers of the dtype, or by the given numbers.

    `jnp.nan_to_num` replaces infinite ones among these by the largest finite number.
    """
    if is_complex(self):
        numbers = [x if x is None else lax.real(x) for x in (nan, posinf, neginf)]
        return lax.complex(nan_to_num(lax.real(self), *numbers), nan_to_num(lax.imag(self), *numbers))
    if not is_float(self):
        return self
    most = cast(float(jnp.finfo(self.dtype).max), self.dtype)
    finite = jnp.where(self == jnp.inf, most if posinf is None else posinf, self)
    finite = jnp.where(self == -jnp.inf, -most if neginf is None else neginf, finite)
    return jnp.where(jnp.isnan(self), 0 if nan is None else nan, finite)


def angle(self: Array) -> Array:
    """The argument of a complex number; for a real one π if negative, else 0; NaN stays NaN.

    `jnp.angle` of -0.0 is π, where torch has 0.
    """
    if is_complex(self):
        return lax.atan2(imag(self), real(self))
    dtype, self = INT_TO_FLOAT(self)
    return cast(jnp.where(jnp.isnan(self), self, jnp.where(self < 0, cast(np.pi, self.dtype), 0)), dtype)


_SCALAR_TYPES = {"float16": "Half", "float32": "Float", "float64": "Double"}


def _parts(first: Array, second: Array) -> tuple[Array, Array]:
    """Broadcast two real parts of one float dtype; raise torch's errors for other dtypes."""
    if not (is_float(first) and is_float(second)):
        message = f"Expected both inputs to be Half, Float or Double tensors but got {first.dtype} and {second.dtype}"
        raise RuntimeError(message)
    if first.dtype != second.dtype:
        names = [_SCALAR_TYPES.get(x.dtype.name, x.dtype.name) for x in (first, second)]
        message = "Expected object of scalar type {} but got scalar type {} for second argument"
        raise RuntimeError(message.format(*names))
    if first.dtype.itemsize < 4:
        raise NotImplementedError(f"complex numbers with parts of {first.dtype}: JAX has no complex32")
    first, second = jnp.broadcast_arrays(first, second)
    return first, second


def make_complex(real: Array, imag: Array) -> Array:
    """The complex array with these real and imaginary parts, of one dtype, float32 or float64."""
    return lax.complex(*_parts(real, imag))


def polar(abs: Array, angle: Array) -> Array:
    """The complex array with these absolute values and angles, of one dtype, float32 or float64."""
    size, turn = _parts(abs, angle)
    return lax.complex(size * lax.cos(turn), size * lax.sin(turn))


def equal(self: Array, other: Array) -> Array:
    """Whether shapes and all elements are equal, as a 0-d bool; NaN equals nothing.

    `jnp.array_equal` does not convert dtypes when promotion is strict.
    """
    if dtype_of(self) != dtype_of(other):
        _, self, other = ALWAYS_BOOL(self, other)
    return jnp.all(self == other) if self.shape == other.shape else jnp.zeros((), bool)


def _reduced(pair: tuple[Array, Array]) -> tuple[Array, Array]:
    """One step of Euclid's algorithm, for the elements that have not finished."""
    a, b = pair
    left = a != 0
    return jnp.where(left, lax.rem(b, jnp.where(left, a, jnp.ones_like(a))), a), jnp.where(left, a, b)


def gcd(self: Array, other: Array) -> Array:
    """The greatest common divisor, wrapping as torch's loop does (`Math.h`).

    `jnp.gcd` does not terminate for the smallest integer of a dtype, which has no absolute value.
    """
    pair = (jnp.abs(x) for x in jnp.broadcast_arrays(self, other))
    return loops.while_loop(lambda p: jnp.any(p[0] != 0), _reduced, tuple(pair))[1]


def lcm(self: Array, other: Array) -> Array:
    """|self / gcd * other|, with the absolute value taken in at least 32 bits, as in C."""
    divisor, self, other = jnp.broadcast_arrays(gcd(self, other), self, other)
    wide = self.dtype if self.dtype.itemsize > 2 else np.int32
    quotient = lax.div(self, jnp.where(divisor == 0, jnp.ones_like(divisor), divisor))
    return cast(jnp.abs(cast(quotient, wide) * cast(other, wide)), self.dtype)
