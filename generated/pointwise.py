"""Lowerings of the family `pointwise`.

Generated from ops_spec/pointwise.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax
from jax.typing import ArrayLike

from tenax.kernels import complex as complex_kernels
from tenax.kernels import exponential as exponential_kernels
from tenax.kernels import pointwise as pointwise_kernels
from tenax.kernels.arithmetic import add, div, mul, scaled, sub
from tenax.words import (
    ALWAYS_BOOL,
    COMPLEX_TO_FLOAT,
    DEFAULT,
    INT_TO_FLOAT,
    NO_OPMATH,
    SATURATE,
    Array,
    Gradients,
    cast,
    is_float,
    real,
    tied,
    with_derivative,
)


def add__Tensor(self: Array, other: Array, *, alpha: ArrayLike = 1) -> Array:
    """add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(add(self, scaled(other, alpha)), dtype)


def add__Scalar(self: Array, other: ArrayLike, alpha: ArrayLike = 1) -> Array:
    """add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(add(self, scaled(other, alpha)), dtype)


def sub__Tensor(self: Array, other: Array, *, alpha: ArrayLike = 1) -> Array:
    """sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(sub(self, scaled(other, alpha)), dtype)


def sub__Scalar(self: Array, other: ArrayLike, alpha: ArrayLike = 1) -> Array:
    """sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(sub(self, scaled(other, alpha)), dtype)


def rsub__Tensor(self: Array, other: Array, *, alpha: ArrayLike = 1) -> Array:
    """rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(sub(other, scaled(self, alpha)), dtype)


def rsub__Scalar(self: Array, other: ArrayLike, alpha: ArrayLike = 1) -> Array:
    """rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(sub(other, scaled(self, alpha)), dtype)


def _add_relu__Tensor(self: Array, other: Array, *, alpha: ArrayLike = 1) -> Array:
    """_add_relu.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(jnp.maximum(add(self, scaled(other, alpha)), 0), dtype)


def _add_relu__Scalar(self: Array, other: ArrayLike, alpha: ArrayLike = 1) -> Array:
    """_add_relu.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(jnp.maximum(add(self, scaled(other, alpha)), 0), dtype)


def mul__Tensor(self: Array, other: Array) -> Array:
    """mul.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(mul(self, other), dtype)


def mul__Scalar(self: Array, other: ArrayLike) -> Array:
    """mul.Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(mul(self, other), dtype)


def div__Tensor(self: Array, other: Array) -> Array:
    """div.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = INT_TO_FLOAT(self, other)
    return cast(div(self, other), dtype)


def div__Scalar(self: Array, other: ArrayLike) -> Array:
    """div.Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = INT_TO_FLOAT(self, other)
    return cast(div(self, other), dtype)


def floor_divide(self: Array, other: Array) -> Array:
    """floor_divide(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(pointwise_kernels.floor_divide(self=self, other=other), dtype)


def floor_divide__Scalar(self: Array, other: ArrayLike) -> Array:
    """floor_divide.Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    return floor_divide(self, other)


def remainder__Tensor(self: Array, other: Array) -> Array:
    """remainder.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(jnp.remainder(self, other), dtype)


def remainder__Scalar(self: Array, other: ArrayLike) -> Array:
    """remainder.Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(jnp.remainder(self, other), dtype)


def remainder__Scalar_Tensor(self: ArrayLike, other: Array) -> Array:
    """remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(jnp.remainder(self, other), dtype)


def fmod__Tensor(self: Array, other: Array) -> Array:
    """fmod.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(jnp.fmod(self, other), dtype)


def fmod__Scalar(self: Array, other: ArrayLike) -> Array:
    """fmod.Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(jnp.fmod(self, other), dtype)


def pow__Tensor_Tensor(self: Array, exponent: Array) -> Array:
    """pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, exponent = DEFAULT(self, exponent)

    def value(self: Array, exponent: Array) -> Array:
        return pointwise_kernels.power(self=self, exponent=exponent)

    def gradients(grad: Array, result: Array, self: Array, exponent: Array) -> Gradients:
        return {
            "self": lambda: (
                grad * jnp.where(exponent == 0, 0, jnp.conj(exponent * pow__Tensor_Tensor(self, exponent - 1)))
            ),
            "exponent": lambda: (
                grad * jnp.conj(result * jnp.log(jnp.where((self == 0) & (jnp.real(exponent) >= 0), 1, self)))
            ),
        }

    return cast(with_derivative(value, gradients, self=self, exponent=exponent), dtype)


def pow__Scalar(self: ArrayLike, exponent: Array) -> Array:
    """pow.Scalar(Scalar self, Tensor exponent) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    return pow__Tensor_Tensor(self, exponent)


def neg(self: Array) -> Array:
    """neg(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = DEFAULT(self)
    return cast(lax.neg(self), dtype)


def abs(self: Array) -> Array:
    """abs(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = COMPLEX_TO_FLOAT(self)

    def value(self: Array) -> Array:
        return complex_kernels.absolute(self=self)

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: cast(grad, self.dtype) * sgn(self),
        }

    return cast(with_derivative(value, gradients, self=self), dtype)


def sign(self: Array) -> Array:
    """sign(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    return sgn(self)


def sgn(self: Array) -> Array:
    """sgn(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = DEFAULT(self)
    return cast(pointwise_kernels.sgn(self=self), dtype)


def signbit(self: Array) -> Array:
    """signbit(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    return jnp.signbit(self)


def reciprocal(self: Array) -> Array:
    """reciprocal(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(lax.div(cast(1, self.dtype), self), dtype)


def rsqrt(self: Array) -> Array:
    """rsqrt(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(lax.rsqrt(self), dtype)


def sqrt(self: Array) -> Array:
    """sqrt(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(complex_kernels.sqrt(self=self), dtype)


def addcmul(self: Array, tensor1: Array, tensor2: Array, *, value: ArrayLike = 1) -> Array:
    """addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, tensor1, tensor2, value = DEFAULT(self, tensor1, tensor2, scalars=(value,))
    return cast(pointwise_kernels.addcmul(self=self, tensor1=tensor1, tensor2=tensor2, value=value), dtype)


def addcdiv(self: Array, tensor1: Array, tensor2: Array, *, value: ArrayLike = 1) -> Array:
    """addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, tensor1, tensor2, value = DEFAULT(self, tensor1, tensor2, scalars=(value,))
    return cast(pointwise_kernels.addcdiv(self=self, tensor1=tensor1, tensor2=tensor2, value=value), dtype)


def lerp__Scalar(self: Array, end: Array, weight: ArrayLike) -> Array:
    """lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, end, weight = DEFAULT(self, end, scalars=(weight,))
    return cast(pointwise_kernels.lerp(self=self, end=end, weight=weight), dtype)


def lerp__Tensor(self: Array, end: Array, weight: Array) -> Array:
    """lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, end, weight = DEFAULT(self, end, weight)
    return cast(pointwise_kernels.lerp(self=self, end=end, weight=weight), dtype)


def hypot(self: Array, other: Array) -> Array:
    """hypot(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(pointwise_kernels.hypot(self=self, other=other), dtype)


def copysign__Tensor(self: Array, other: Array) -> Array:
    """copysign.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = INT_TO_FLOAT(self, other)

    def value(self: Array, other: Array) -> Array:
        return jnp.copysign(self, other)

    def gradients(grad: Array, result: Array, self: Array, other: Array) -> Gradients:
        return {
            "self": lambda: grad * jnp.where(self == 0, 0, result / self),
            "other": lambda: 0 * grad,
        }

    return cast(with_derivative(value, gradients, self=self, other=other), dtype)


def copysign__Scalar(self: Array, other: ArrayLike) -> Array:
    """copysign.Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = INT_TO_FLOAT(self, other)

    def value(self: Array, other: ArrayLike) -> Array:
        return jnp.copysign(self, other)

    def gradients(grad: Array, result: Array, self: Array, other: ArrayLike) -> Gradients:
        return {
            "self": lambda: grad * jnp.where(self == 0, 0, result / self),
        }

    return cast(with_derivative(value, gradients, self=self, other=other), dtype)


def atan2(self: Array, other: Array) -> Array:
    """atan2(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = INT_TO_FLOAT(self, other)

    def value(self: Array, other: Array) -> Array:
        return jnp.arctan2(self, other)

    def gradients(grad: Array, result: Array, self: Array, other: Array) -> Gradients:
        return {
            "self": lambda: (
                grad * (other / jnp.where(self * self + other * other == 0, jnp.inf, self * self + other * other))
            ),
            "other": lambda: (
                grad * (-self / jnp.where(self * self + other * other == 0, jnp.inf, self * self + other * other))
            ),
        }

    return cast(with_derivative(value, gradients, self=self, other=other), dtype)


def heaviside(self: Array, values: Array) -> Array:
    """heaviside(Tensor self, Tensor values) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, values = NO_OPMATH(self, values)
    return cast(jnp.where(jnp.logical_not(self), values, cast(self > cast(0, self.dtype), self.dtype)), dtype)


def nextafter(self: Array, other: Array) -> Array:
    """nextafter(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)

    def value(self: Array, other: Array) -> Array:
        return lax.nextafter(*jnp.broadcast_arrays(self, other))

    def gradients(grad: Array, result: Array, self: Array, other: Array) -> Gradients:
        return {
            "self": lambda: jnp.where(self == other, 0, grad),
            "other": lambda: 0 * grad,
        }

    return cast(with_derivative(value, gradients, self=self, other=other), dtype)


def gcd(self: Array, other: Array) -> Array:
    """gcd(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(pointwise_kernels.gcd(self=self, other=other), dtype)


def lcm(self: Array, other: Array) -> Array:
    """lcm(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(pointwise_kernels.lcm(self=self, other=other), dtype)


def logaddexp(self: Array, other: Array) -> Array:
    """logaddexp(Tensor self, Tensor other) -> Tensor

    accuracy: 1e6 ULP in float32 where the two terms cancel, or the exponential of the smaller one is flushed to zero

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)

    def value(self: Array, other: Array) -> Array:
        return pointwise_kernels.logaddexp(self=self, other=other)

    def gradients(grad: Array, result: Array, self: Array, other: Array) -> Gradients:
        return {
            "self": lambda: grad * jnp.conj(lax.logistic(self - other)),
            "other": lambda: grad * jnp.conj(lax.logistic(other - self)),
        }

    return cast(with_derivative(value, gradients, self=self, other=other), dtype)


def logaddexp2(self: Array, other: Array) -> Array:
    """logaddexp2(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = DEFAULT(self, other)

    def value(self: Array, other: Array) -> Array:
        return jnp.logaddexp2(self, other)

    def gradients(grad: Array, result: Array, self: Array, other: Array) -> Gradients:
        return {
            "self": lambda: grad * lax.logistic((self - other) * 0.6931471805599453),
            "other": lambda: grad * lax.logistic((other - self) * 0.6931471805599453),
        }

    return cast(with_derivative(value, gradients, self=self, other=other), dtype)


def xlogy__Tensor(self: Array, other: Array) -> Array:
    """xlogy.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = INT_TO_FLOAT(self, other)

    def value(self: Array, other: Array) -> Array:
        return pointwise_kernels.xlogy(self=self, other=other)

    def gradients(grad: Array, result: Array, self: Array, other: Array) -> Gradients:
        return {
            "self": lambda: grad * jnp.log(jnp.where((self == 0) & (other <= 0), 1, other)),
            "other": lambda: grad * (self / other),
        }

    return cast(with_derivative(value, gradients, self=self, other=other), dtype)


def xlogy__Scalar_Self(self: ArrayLike, other: Array) -> Array:
    """xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    return xlogy__Tensor(self, other)


def xlogy__Scalar_Other(self: Array, other: ArrayLike) -> Array:
    """xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    return xlogy__Tensor(self, other)


def clamp(self: Array, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Array:
    """clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, min, max = SATURATE(self, min, max)
    return cast(pointwise_kernels.clamp(self=self, min=min, max=max), dtype)


def clamp__Tensor(self: Array, min: Array | None = None, max: Array | None = None) -> Array:
    """clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, min, max = NO_OPMATH(self, min, max)
    return cast(pointwise_kernels.clamp_by_tensors(self=self, min=min, max=max), dtype)


def clamp_max(self: Array, max: ArrayLike) -> Array:
    """clamp_max(Tensor self, Scalar max) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, max = SATURATE(self, max)

    def value(self: Array, max: ArrayLike) -> Array:
        return jnp.minimum(self, max)

    def gradients(grad: Array, result: Array, self: Array, max: ArrayLike) -> Gradients:
        return {
            "self": lambda: tied(grad, self < max, self == max, 1, 0),
        }

    return cast(with_derivative(value, gradients, self=self, max=max), dtype)


def clamp_max__Tensor(self: Array, max: Array) -> Array:
    """clamp_max.Tensor(Tensor self, Tensor max) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, max = NO_OPMATH(self, max)

    def value(self: Array, max: Array) -> Array:
        return jnp.minimum(self, max)

    def gradients(grad: Array, result: Array, self: Array, max: Array) -> Gradients:
        return {
            "self": lambda: tied(grad, self < max, self == max, 1),
            "max": lambda: tied(grad, self > max, self == max, 0),
        }

    return cast(with_derivative(value, gradients, self=self, max=max), dtype)


def clamp_min(self: Array, min: ArrayLike) -> Array:
    """clamp_min(Tensor self, Scalar min) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, min = SATURATE(self, min)

    def value(self: Array, min: ArrayLike) -> Array:
        return jnp.maximum(self, min)

    def gradients(grad: Array, result: Array, self: Array, min: ArrayLike) -> Gradients:
        return {
            "self": lambda: tied(grad, self > min, self == min, 1, 0),
        }

    return cast(with_derivative(value, gradients, self=self, min=min), dtype)


def clamp_min__Tensor(self: Array, min: Array) -> Array:
    """clamp_min.Tensor(Tensor self, Tensor min) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, min = NO_OPMATH(self, min)

    def value(self: Array, min: Array) -> Array:
        return jnp.maximum(self, min)

    def gradients(grad: Array, result: Array, self: Array, min: Array) -> Gradients:
        return {
            "self": lambda: tied(grad, self > min, self == min, 1),
            "min": lambda: tied(grad, self < min, self == min, 0),
        }

    return cast(with_derivative(value, gradients, self=self, min=min), dtype)


def maximum(self: Array, other: Array) -> Array:
    """maximum(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.maximum(self, other), dtype)


def minimum(self: Array, other: Array) -> Array:
    """minimum(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.minimum(self, other), dtype)


def fmax(self: Array, other: Array) -> Array:
    """fmax(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)

    def value(self: Array, other: Array) -> Array:
        return jnp.fmax(self, other)

    def gradients(grad: Array, result: Array, self: Array, other: Array) -> Gradients:
        return {
            "self": lambda: tied(grad, (self > other) | jnp.isnan(other), self == other, 1),
            "other": lambda: tied(grad, ~((self >= other) | jnp.isnan(other)), self == other, 0),
        }

    return cast(with_derivative(value, gradients, self=self, other=other), dtype)


def fmin(self: Array, other: Array) -> Array:
    """fmin(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)

    def value(self: Array, other: Array) -> Array:
        return jnp.fmin(self, other)

    def gradients(grad: Array, result: Array, self: Array, other: Array) -> Gradients:
        return {
            "self": lambda: tied(grad, (self < other) | jnp.isnan(other), self == other, 1),
            "other": lambda: tied(grad, ~((self <= other) | jnp.isnan(other)), self == other, 0),
        }

    return cast(with_derivative(value, gradients, self=self, other=other), dtype)


def eq__Tensor(self: Array, other: Array) -> Array:
    """eq.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = ALWAYS_BOOL(self, other)
    return cast(self == other, dtype)


def eq__Scalar(self: Array, other: ArrayLike) -> Array:
    """eq.Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = ALWAYS_BOOL(self, other)
    return cast(self == other, dtype)


def ne__Tensor(self: Array, other: Array) -> Array:
    """ne.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = ALWAYS_BOOL(self, other)
    return cast(self != other, dtype)


def ne__Scalar(self: Array, other: ArrayLike) -> Array:
    """ne.Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = ALWAYS_BOOL(self, other)
    return cast(self != other, dtype)


def lt__Tensor(self: Array, other: Array) -> Array:
    """lt.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = ALWAYS_BOOL(self, other)
    return cast(self < other, dtype)


def lt__Scalar(self: Array, other: ArrayLike) -> Array:
    """lt.Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = ALWAYS_BOOL(self, other)
    return cast(self < other, dtype)


def le__Tensor(self: Array, other: Array) -> Array:
    """le.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = ALWAYS_BOOL(self, other)
    return cast(self <= other, dtype)


def le__Scalar(self: Array, other: ArrayLike) -> Array:
    """le.Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = ALWAYS_BOOL(self, other)
    return cast(self <= other, dtype)


def gt__Tensor(self: Array, other: Array) -> Array:
    """gt.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = ALWAYS_BOOL(self, other)
    return cast(self > other, dtype)


def gt__Scalar(self: Array, other: ArrayLike) -> Array:
    """gt.Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = ALWAYS_BOOL(self, other)
    return cast(self > other, dtype)


def ge__Tensor(self: Array, other: Array) -> Array:
    """ge.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = ALWAYS_BOOL(self, other)
    return cast(self >= other, dtype)


def ge__Scalar(self: Array, other: ArrayLike) -> Array:
    """ge.Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = ALWAYS_BOOL(self, other)
    return cast(self >= other, dtype)


def isnan(self: Array) -> Array:
    """isnan(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = ALWAYS_BOOL(self)
    return cast(jnp.isnan(self), dtype)


def isinf(self: Array) -> Array:
    """isinf(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = ALWAYS_BOOL(self)
    return cast(jnp.isinf(self), dtype)


def isposinf(self: Array) -> Array:
    """isposinf(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = ALWAYS_BOOL(self)
    return cast(jnp.isposinf(self), dtype)


def isneginf(self: Array) -> Array:
    """isneginf(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = ALWAYS_BOOL(self)
    return cast(jnp.isneginf(self), dtype)


def logical_and(self: Array, other: Array) -> Array:
    """logical_and(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = ALWAYS_BOOL(self, other)
    return cast(jnp.logical_and(self, other), dtype)


def logical_or(self: Array, other: Array) -> Array:
    """logical_or(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = ALWAYS_BOOL(self, other)
    return cast(jnp.logical_or(self, other), dtype)


def logical_xor(self: Array, other: Array) -> Array:
    """logical_xor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = ALWAYS_BOOL(self, other)
    return cast(jnp.logical_xor(self, other), dtype)


def logical_not(self: Array) -> Array:
    """logical_not(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = ALWAYS_BOOL(self)
    return cast(jnp.logical_not(self), dtype)


def bitwise_not(self: Array) -> Array:
    """bitwise_not(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = NO_OPMATH(self)
    return cast(lax.bitwise_not(self), dtype)


def bitwise_and__Tensor(self: Array, other: Array) -> Array:
    """bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.bitwise_and(self, other), dtype)


def bitwise_and__Scalar(self: Array, other: ArrayLike) -> Array:
    """bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.bitwise_and(self, other), dtype)


def bitwise_and__Scalar_Tensor(self: ArrayLike, other: Array) -> Array:
    """bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.bitwise_and(self, other), dtype)


def bitwise_or__Tensor(self: Array, other: Array) -> Array:
    """bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.bitwise_or(self, other), dtype)


def bitwise_or__Scalar(self: Array, other: ArrayLike) -> Array:
    """bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.bitwise_or(self, other), dtype)


def bitwise_or__Scalar_Tensor(self: ArrayLike, other: Array) -> Array:
    """bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.bitwise_or(self, other), dtype)


def bitwise_xor__Tensor(self: Array, other: Array) -> Array:
    """bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.bitwise_xor(self, other), dtype)


def bitwise_xor__Scalar(self: Array, other: ArrayLike) -> Array:
    """bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.bitwise_xor(self, other), dtype)


def bitwise_xor__Scalar_Tensor(self: ArrayLike, other: Array) -> Array:
    """bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.bitwise_xor(self, other), dtype)


def bitwise_left_shift__Tensor(self: Array, other: Array) -> Array:
    """bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.left_shift(self, other), dtype)


def bitwise_left_shift__Tensor_Scalar(self: Array, other: ArrayLike) -> Array:
    """bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.left_shift(self, other), dtype)


def bitwise_left_shift__Scalar_Tensor(self: ArrayLike, other: Array) -> Array:
    """bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.left_shift(self, other), dtype)


def __lshift____Tensor(self: Array, other: Array) -> Array:
    """__lshift__.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.left_shift(self, other), dtype)


def __lshift____Scalar(self: Array, other: ArrayLike) -> Array:
    """__lshift__.Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.left_shift(self, other), dtype)


def bitwise_right_shift__Tensor(self: Array, other: Array) -> Array:
    """bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.right_shift(self, other), dtype)


def bitwise_right_shift__Tensor_Scalar(self: Array, other: ArrayLike) -> Array:
    """bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.right_shift(self, other), dtype)


def bitwise_right_shift__Scalar_Tensor(self: ArrayLike, other: Array) -> Array:
    """bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.right_shift(self, other), dtype)


def __rshift____Tensor(self: Array, other: Array) -> Array:
    """__rshift__.Tensor(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.right_shift(self, other), dtype)


def __rshift____Scalar(self: Array, other: ArrayLike) -> Array:
    """__rshift__.Scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.right_shift(self, other), dtype)


def exp2(self: Array) -> Array:
    """exp2(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(exponential_kernels.exp2(self=self), dtype)


def log2(self: Array) -> Array:
    """log2(Tensor self) -> Tensor

    accuracy: 2 ULP in float32, from XLA's log and a product

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(exponential_kernels.log2(self=self), dtype)


def exp(self: Array) -> Array:
    """exp(Tensor self) -> Tensor

    accuracy: 6 ULP in float32 above 88, where XLA's exp scales by its largest power of two; 1 ULP below

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(complex_kernels.exp(self=self), dtype)


def expm1(self: Array) -> Array:
    """expm1(Tensor self) -> Tensor

    accuracy: 6 ULP in float32 above 88, as for exp

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(exponential_kernels.expm1(self=self), dtype)


def log(self: Array) -> Array:
    """log(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(complex_kernels.log(self=self), dtype)


def log1p(self: Array) -> Array:
    """log1p(Tensor self) -> Tensor

    accuracy: 3 ULP in float32, from XLA's log1p

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(exponential_kernels.log1p(self=self), dtype)


def log10(self: Array) -> Array:
    """log10(Tensor self) -> Tensor

    accuracy: 2 ULP in float32, from XLA's log and a product

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(complex_kernels.log10(self=self), dtype)


def sin(self: Array) -> Array:
    """sin(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(complex_kernels.sin(self=self), dtype)


def cos(self: Array) -> Array:
    """cos(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(complex_kernels.cos(self=self), dtype)


def tan(self: Array) -> Array:
    """tan(Tensor self) -> Tensor

    accuracy: 2 ULP in float32 on some processors, from XLA's tan; 1 ULP on others

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(complex_kernels.tan(self=self), dtype)


def asin(self: Array) -> Array:
    """asin(Tensor self) -> Tensor

    accuracy: 2 ULP in float32, from XLA's asin

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(exponential_kernels.asin(self=self), dtype)


def acos(self: Array) -> Array:
    """acos(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(complex_kernels.acos(self=self), dtype)


def atan(self: Array) -> Array:
    """atan(Tensor self) -> Tensor

    accuracy: 2 ULP in float32 where XLA does not fuse multiplications and additions

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(complex_kernels.atan(self=self), dtype)


def sinh(self: Array) -> Array:
    """sinh(Tensor self) -> Tensor

    accuracy: 3 ULP in float32, from the square of XLA's exp

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(exponential_kernels.sinh(self=self), dtype)


def cosh(self: Array) -> Array:
    """cosh(Tensor self) -> Tensor

    accuracy: 3 ULP in float32, from the square of XLA's exp

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(exponential_kernels.cosh(self=self), dtype)


def asinh(self: Array) -> Array:
    """asinh(Tensor self) -> Tensor

    accuracy: 3 ULP in float32, from XLA's asinh; glibc rounds it correctly from 2.41 on

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(complex_kernels.asinh(self=self), dtype)


def acosh(self: Array) -> Array:
    """acosh(Tensor self) -> Tensor

    accuracy: 2 ULP in float32, from XLA's acosh; glibc rounds it correctly from 2.41 on

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(complex_kernels.acosh(self=self), dtype)


def atanh(self: Array) -> Array:
    """atanh(Tensor self) -> Tensor

    accuracy: 2 ULP in float32, from XLA's atanh; glibc rounds it correctly from 2.41 on

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(complex_kernels.atanh(self=self), dtype)


def sinc(self: Array) -> Array:
    """sinc(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(jnp.where(jnp.isinf(self), jnp.nan, jnp.sinc(self)), dtype)


def deg2rad(self: Array) -> Array:
    """deg2rad(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(self * cast(0.017453292519943295, self.dtype), dtype)


def rad2deg(self: Array) -> Array:
    """rad2deg(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(self * cast(57.29577951308232, self.dtype), dtype)


def floor(self: Array) -> Array:
    """floor(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = NO_OPMATH(self)
    return cast(lax.floor(self) if is_float(self) else self, dtype)


def ceil(self: Array) -> Array:
    """ceil(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = NO_OPMATH(self)
    return cast(lax.ceil(self) if is_float(self) else self, dtype)


def trunc(self: Array) -> Array:
    """trunc(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = NO_OPMATH(self)
    return cast(jnp.trunc(self) if is_float(self) else self, dtype)


def round(self: Array) -> Array:
    """round(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = NO_OPMATH(self)
    return cast(jnp.round(self) if is_float(self) else self, dtype)


def round__decimals(self: Array, *, decimals: int) -> Array:
    """round.decimals(Tensor self, *, int decimals) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = DEFAULT(self)
    return cast(pointwise_kernels.round_decimals(self=self, decimals=decimals), dtype)


def frac(self: Array) -> Array:
    """frac(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = NO_OPMATH(self)
    return cast(self - jnp.trunc(self), dtype)


def nan_to_num(
    self: Array, nan: ArrayLike | None = None, posinf: ArrayLike | None = None, neginf: ArrayLike | None = None
) -> Array:
    """nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, nan, posinf, neginf = NO_OPMATH(self, scalars=(nan, posinf, neginf))
    return cast(pointwise_kernels.nan_to_num(self=self, nan=nan, posinf=posinf, neginf=neginf), dtype)


def _conj_physical(self: Array) -> Array:
    """_conj_physical(Tensor self) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self = NO_OPMATH(self)
    return cast(jnp.conj(self), dtype)


def conj_physical__out(self: Array) -> Array:
    """conj_physical.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)

    Spec: ops_spec/pointwise.yaml
    """
    return jnp.conj(self)


def polar(abs: Array, angle: Array) -> Array:
    """polar(Tensor abs, Tensor angle) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """

    def value(abs: Array, angle: Array) -> Array:
        return pointwise_kernels.polar(abs=abs, angle=angle)

    def gradients(grad: Array, result: Array, abs: Array, angle: Array) -> Gradients:
        return {
            "abs": lambda: real(jnp.conj(grad) * sgn(result)),
            "angle": lambda: real(jnp.conj(grad) * result * 1j),
        }

    return with_derivative(value, gradients, abs=abs, angle=angle)


def where__self(condition: Array, self: Array, other: Array) -> Array:
    """where.self(Tensor condition, Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    dtype, self, other = NO_OPMATH(self, other)
    return cast(jnp.where(condition, self, other), dtype)


def masked_fill__Scalar(self: Array, mask: Array, value: ArrayLike) -> Array:
    """masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    return jnp.where(mask, cast(value, self.dtype), self)


def masked_fill__Tensor(self: Array, mask: Array, value: Array) -> Array:
    """masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor

    Spec: ops_spec/pointwise.yaml
    """
    return jnp.where(mask, cast(value, self.dtype), self)
