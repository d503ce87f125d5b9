"""Lowerings of the family `special`.

Generated from ops_spec/special.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import ArrayLike

from tenax.kernels import bessel as bessel_kernels
from tenax.kernels import gamma as gamma_kernels
from tenax.kernels import normal as normal_kernels
from tenax.kernels import pointwise as pointwise_kernels
from tenax.kernels import polynomial as polynomial_kernels
from tenax.words import DEFAULT, INT_TO_FLOAT, Array, Gradients, cast, double, not_implemented, with_derivative


def erf(self: Array) -> Array:
    """erf(Tensor self) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)

    def value(self: Array) -> Array:
        return normal_kernels.erf(self=self)

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: grad * (jnp.exp(-self * self) * (2 / jnp.pi**0.5)),
        }

    return cast(with_derivative(value, gradients, self=self), dtype)


def erfc(self: Array) -> Array:
    """erfc(Tensor self) -> Tensor

    accuracy: 3 ULP in float64, from the product of an exponential and a series

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)

    def value(self: Array) -> Array:
        return normal_kernels.erfc(self=self)

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: grad * (jnp.exp(-self * self) * (-2 / jnp.pi**0.5)),
        }

    return cast(with_derivative(value, gradients, self=self), dtype)


def erfinv(self: Array) -> Array:
    """erfinv(Tensor self) -> Tensor

    accuracy: 5 ULP in float64, from AS 241 as published, without a Newton step

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)

    def value(self: Array) -> Array:
        return normal_kernels.erfinv(self=self)

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: grad * (jnp.exp(result * result) * (jnp.pi**0.5 / 2)),
        }

    return cast(with_derivative(value, gradients, self=self), dtype)


def special_erfcx(self: Array) -> Array:
    """special_erfcx(Tensor self) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)

    def value(self: Array) -> Array:
        return normal_kernels.special_erfcx(self=self)

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: grad * (2 * self * result - 2 / jnp.pi**0.5),
        }

    return cast(with_derivative(value, gradients, self=self), dtype)


def special_log_ndtr(self: Array) -> Array:
    """special_log_ndtr(Tensor self) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(normal_kernels.special_log_ndtr(self=self), dtype)


def special_ndtri(self: Array) -> Array:
    """special_ndtri(Tensor self) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)

    def value(self: Array) -> Array:
        return normal_kernels.special_ndtri(self=self)

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: grad * (jnp.exp(result * result / 2) * (2 * jnp.pi) ** 0.5),
        }

    return cast(with_derivative(value, gradients, self=self), dtype)


def special_entr(self: Array) -> Array:
    """special_entr(Tensor self) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(jax.scipy.special.entr(self), dtype)


def special_xlog1py(self: Array, other: Array) -> Array:
    """special_xlog1py(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, self, other = INT_TO_FLOAT(self, other)

    def value(self: Array, other: Array) -> Array:
        return pointwise_kernels.special_xlog1py(self=self, other=other)

    def gradients(grad: Array, result: Array, self: Array, other: Array) -> Gradients:
        return {
            "self": lambda: grad * jnp.log1p(jnp.where((self == 0) & (other <= -1), 0, other)),
            "other": lambda: grad * (self / (other + 1)),
        }

    return cast(with_derivative(value, gradients, self=self, other=other), dtype)


def special_xlog1py__self_scalar(self: ArrayLike, other: Array) -> Array:
    """special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_xlog1py(self, other)


def special_xlog1py__other_scalar(self: Array, other: ArrayLike) -> Array:
    """special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_xlog1py(self, other)


def lgamma(self: Array) -> Array:
    """lgamma(Tensor self) -> Tensor

    accuracy: 300 ULP in float64 near zeros at negative numbers, where the reflection cancels; 3 ULP elsewhere

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)

    def value(self: Array) -> Array:
        return gamma_kernels.lgamma(self=self)

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: grad * digamma(self),
        }

    return cast(with_derivative(value, gradients, self=self), dtype)


def digamma(self: Array) -> Array:
    """digamma(Tensor self) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)

    def value(self: Array) -> Array:
        return gamma_kernels.digamma(self=self)

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: grad * polygamma(1, self),
        }

    return cast(with_derivative(value, gradients, self=self), dtype)


def polygamma(n: int, self: Array) -> Array:
    """polygamma(int n, Tensor self) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)

    def value(self: Array) -> Array:
        return gamma_kernels.polygamma(n=n, self=self)

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: grad * polygamma(n + 1, self),
        }

    return cast(with_derivative(value, gradients, self=self), dtype)


def mvlgamma(self: Array, p: int) -> Array:
    """mvlgamma(Tensor self, int p) -> Tensor

    accuracy: 4 ULP in float64, from a sum of logarithms of Γ

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)

    def value(self: Array) -> Array:
        return gamma_kernels.mvlgamma(self=self, p=p)

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: grad * sum(digamma(self - i / 2) for i in range(p)),
        }

    return cast(with_derivative(value, gradients, self=self), dtype)


def igamma(self: Array, other: Array) -> Array:
    """igamma(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(gamma_kernels.igamma(self=self, other=other), dtype)


def igammac(self: Array, other: Array) -> Array:
    """igammac(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, self, other = DEFAULT(self, other)
    return cast(gamma_kernels.igammac(self=self, other=other), dtype)


def special_zeta(self: Array, other: Array) -> Array:
    """special_zeta(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, self, other = INT_TO_FLOAT(self, other)

    def value(self: Array, other: Array) -> Array:
        return gamma_kernels.special_zeta(self=self, other=other)

    def gradients(grad: Array, result: Array, self: Array, other: Array) -> Gradients:
        return {
            "self": lambda: not_implemented("zeta"),
            "other": lambda: grad * -self * special_zeta(self + 1, other),
        }

    return cast(with_derivative(value, gradients, self=self, other=other), dtype)


def special_zeta__self_scalar(self: ArrayLike, other: Array) -> Array:
    """special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_zeta(self, other)


def special_zeta__other_scalar(self: Array, other: ArrayLike) -> Array:
    """special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_zeta(self, other)


def special_bessel_j0(self: Array) -> Array:
    """special_bessel_j0(Tensor self) -> Tensor

    exact to 1e-15; torch on the CPU is off by up to 2e-7 in float64

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(bessel_kernels.special_bessel_j0(self=self), dtype)


def special_bessel_j1(self: Array) -> Array:
    """special_bessel_j1(Tensor self) -> Tensor

    exact to 1e-15; torch on the CPU is off by up to 2e-7 in float64

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(bessel_kernels.special_bessel_j1(self=self), dtype)


def special_bessel_y0(self: Array) -> Array:
    """special_bessel_y0(Tensor self) -> Tensor

    exact to 1e-15; torch on the CPU is off by up to 2e-7 in float64

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)

    def value(self: Array) -> Array:
        return bessel_kernels.special_bessel_y0(self=self)

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: -grad * special_bessel_y1(self),
        }

    return cast(with_derivative(value, gradients, self=self), dtype)


def special_bessel_y1(self: Array) -> Array:
    """special_bessel_y1(Tensor self) -> Tensor

    exact to 1e-15; torch on the CPU is off by up to 2e-7 in float64

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)

    def value(self: Array) -> Array:
        return bessel_kernels.special_bessel_y1(self=self)

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: (
                grad * jnp.where(self == 0, jnp.inf, special_bessel_y0(self) - special_bessel_y1(self) / self)
            ),
        }

    return cast(with_derivative(value, gradients, self=self), dtype)


def i0(self: Array) -> Array:
    """i0(Tensor self) -> Tensor

    Spec: ops_spec/special.yaml
    """

    def value(self: Array) -> Array:
        return special_modified_bessel_i0(self)

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: grad * special_modified_bessel_i1(self),
        }

    return with_derivative(value, gradients, self=self)


def special_i0e(self: Array) -> Array:
    """special_i0e(Tensor self) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(lax.bessel_i0e(self), dtype)


def special_i1(self: Array) -> Array:
    """special_i1(Tensor self) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_modified_bessel_i1(self)


def special_i1e(self: Array) -> Array:
    """special_i1e(Tensor self) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(lax.bessel_i1e(self), dtype)


def special_modified_bessel_i0(self: Array) -> Array:
    """special_modified_bessel_i0(Tensor self) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(bessel_kernels.special_modified_bessel_i0(self=self), dtype)


def special_modified_bessel_i1(self: Array) -> Array:
    """special_modified_bessel_i1(Tensor self) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)

    def value(self: Array) -> Array:
        return jax.scipy.special.i1(double(self))

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: (
                grad * (i0(double(self)) - jnp.where(self == 0, 0.5, result / jnp.where(self == 0, 1, double(self))))
            ),
        }

    return cast(with_derivative(value, gradients, self=self), dtype)


def special_modified_bessel_k0(self: Array) -> Array:
    """special_modified_bessel_k0(Tensor self) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(special_scaled_modified_bessel_k0(double(self)) * lax.exp(-jnp.maximum(double(self), 0)), dtype)


def special_modified_bessel_k1(self: Array) -> Array:
    """special_modified_bessel_k1(Tensor self) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(special_scaled_modified_bessel_k1(double(self)) * lax.exp(-jnp.maximum(double(self), 0)), dtype)


def special_scaled_modified_bessel_k0(x: Array) -> Array:
    """special_scaled_modified_bessel_k0(Tensor x) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, x = INT_TO_FLOAT(x)
    return cast(bessel_kernels.special_scaled_modified_bessel_k0(x=x), dtype)


def special_scaled_modified_bessel_k1(x: Array) -> Array:
    """special_scaled_modified_bessel_k1(Tensor x) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, x = INT_TO_FLOAT(x)
    return cast(bessel_kernels.special_scaled_modified_bessel_k1(x=x), dtype)


def special_spherical_bessel_j0(x: Array) -> Array:
    """special_spherical_bessel_j0(Tensor x) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, x = INT_TO_FLOAT(x)
    return cast(bessel_kernels.special_spherical_bessel_j0(x=x), dtype)


def special_airy_ai(x: Array) -> Array:
    """special_airy_ai(Tensor x) -> Tensor

    exact to 1e-15; torch on the CPU is off by up to 3e-6 in float64

    Spec: ops_spec/special.yaml
    """
    dtype, x = INT_TO_FLOAT(x)
    return cast(bessel_kernels.special_airy_ai(x=x), dtype)


def special_chebyshev_polynomial_t(x: Array, n: Array) -> Array:
    """special_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, x, n = INT_TO_FLOAT(x, n)
    return cast(polynomial_kernels.special_chebyshev_polynomial_t(x=x, n=n), dtype)


def special_chebyshev_polynomial_t__x_scalar(x: ArrayLike, n: Array) -> Array:
    """special_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_chebyshev_polynomial_t(x, n)


def special_chebyshev_polynomial_t__n_scalar(x: Array, n: ArrayLike) -> Array:
    """special_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_chebyshev_polynomial_t(x, n)


def special_chebyshev_polynomial_u(x: Array, n: Array) -> Array:
    """special_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, x, n = INT_TO_FLOAT(x, n)
    return cast(polynomial_kernels.special_chebyshev_polynomial_u(x=x, n=n), dtype)


def special_chebyshev_polynomial_u__x_scalar(x: ArrayLike, n: Array) -> Array:
    """special_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_chebyshev_polynomial_u(x, n)


def special_chebyshev_polynomial_u__n_scalar(x: Array, n: ArrayLike) -> Array:
    """special_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_chebyshev_polynomial_u(x, n)


def special_chebyshev_polynomial_v(x: Array, n: Array) -> Array:
    """special_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, x, n = INT_TO_FLOAT(x, n)
    return cast(polynomial_kernels.special_chebyshev_polynomial_v(x=x, n=n), dtype)


def special_chebyshev_polynomial_v__x_scalar(x: ArrayLike, n: Array) -> Array:
    """special_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_chebyshev_polynomial_v(x, n)


def special_chebyshev_polynomial_v__n_scalar(x: Array, n: ArrayLike) -> Array:
    """special_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_chebyshev_polynomial_v(x, n)


def special_chebyshev_polynomial_w(x: Array, n: Array) -> Array:
    """special_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, x, n = INT_TO_FLOAT(x, n)
    return cast(polynomial_kernels.special_chebyshev_polynomial_w(x=x, n=n), dtype)


def special_chebyshev_polynomial_w__x_scalar(x: ArrayLike, n: Array) -> Array:
    """special_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_chebyshev_polynomial_w(x, n)


def special_chebyshev_polynomial_w__n_scalar(x: Array, n: ArrayLike) -> Array:
    """special_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_chebyshev_polynomial_w(x, n)


def special_shifted_chebyshev_polynomial_t(x: Array, n: Array) -> Array:
    """special_shifted_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, x, n = INT_TO_FLOAT(x, n)
    return cast(special_chebyshev_polynomial_t(2 * double(x) - 1, double(n)), dtype)


def special_shifted_chebyshev_polynomial_t__x_scalar(x: ArrayLike, n: Array) -> Array:
    """special_shifted_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_shifted_chebyshev_polynomial_t(x, n)


def special_shifted_chebyshev_polynomial_t__n_scalar(x: Array, n: ArrayLike) -> Array:
    """special_shifted_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_shifted_chebyshev_polynomial_t(x, n)


def special_shifted_chebyshev_polynomial_u(x: Array, n: Array) -> Array:
    """special_shifted_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, x, n = INT_TO_FLOAT(x, n)
    return cast(special_chebyshev_polynomial_u(2 * double(x) - 1, double(n)), dtype)


def special_shifted_chebyshev_polynomial_u__x_scalar(x: ArrayLike, n: Array) -> Array:
    """special_shifted_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_shifted_chebyshev_polynomial_u(x, n)


def special_shifted_chebyshev_polynomial_u__n_scalar(x: Array, n: ArrayLike) -> Array:
    """special_shifted_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_shifted_chebyshev_polynomial_u(x, n)


def special_shifted_chebyshev_polynomial_v(x: Array, n: Array) -> Array:
    """special_shifted_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, x, n = INT_TO_FLOAT(x, n)
    return cast(special_chebyshev_polynomial_v(2 * double(x) - 1, double(n)), dtype)


def special_shifted_chebyshev_polynomial_v__x_scalar(x: ArrayLike, n: Array) -> Array:
    """special_shifted_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_shifted_chebyshev_polynomial_v(x, n)


def special_shifted_chebyshev_polynomial_v__n_scalar(x: Array, n: ArrayLike) -> Array:
    """special_shifted_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_shifted_chebyshev_polynomial_v(x, n)


def special_shifted_chebyshev_polynomial_w(x: Array, n: Array) -> Array:
    """special_shifted_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, x, n = INT_TO_FLOAT(x, n)
    return cast(special_chebyshev_polynomial_w(2 * double(x) - 1, double(n)), dtype)


def special_shifted_chebyshev_polynomial_w__x_scalar(x: ArrayLike, n: Array) -> Array:
    """special_shifted_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_shifted_chebyshev_polynomial_w(x, n)


def special_shifted_chebyshev_polynomial_w__n_scalar(x: Array, n: ArrayLike) -> Array:
    """special_shifted_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_shifted_chebyshev_polynomial_w(x, n)


def special_hermite_polynomial_h(x: Array, n: Array) -> Array:
    """special_hermite_polynomial_h(Tensor x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, x, n = INT_TO_FLOAT(x, n)
    return cast(polynomial_kernels.special_hermite_polynomial_h(x=x, n=n), dtype)


def special_hermite_polynomial_h__x_scalar(x: ArrayLike, n: Array) -> Array:
    """special_hermite_polynomial_h.x_scalar(Scalar x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_hermite_polynomial_h(x, n)


def special_hermite_polynomial_h__n_scalar(x: Array, n: ArrayLike) -> Array:
    """special_hermite_polynomial_h.n_scalar(Tensor x, Scalar n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_hermite_polynomial_h(x, n)


def special_hermite_polynomial_he(x: Array, n: Array) -> Array:
    """special_hermite_polynomial_he(Tensor x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, x, n = INT_TO_FLOAT(x, n)
    return cast(polynomial_kernels.special_hermite_polynomial_he(x=x, n=n), dtype)


def special_hermite_polynomial_he__x_scalar(x: ArrayLike, n: Array) -> Array:
    """special_hermite_polynomial_he.x_scalar(Scalar x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_hermite_polynomial_he(x, n)


def special_hermite_polynomial_he__n_scalar(x: Array, n: ArrayLike) -> Array:
    """special_hermite_polynomial_he.n_scalar(Tensor x, Scalar n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_hermite_polynomial_he(x, n)


def special_laguerre_polynomial_l(x: Array, n: Array) -> Array:
    """special_laguerre_polynomial_l(Tensor x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, x, n = INT_TO_FLOAT(x, n)
    return cast(polynomial_kernels.special_laguerre_polynomial_l(x=x, n=n), dtype)


def special_laguerre_polynomial_l__x_scalar(x: ArrayLike, n: Array) -> Array:
    """special_laguerre_polynomial_l.x_scalar(Scalar x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_laguerre_polynomial_l(x, n)


def special_laguerre_polynomial_l__n_scalar(x: Array, n: ArrayLike) -> Array:
    """special_laguerre_polynomial_l.n_scalar(Tensor x, Scalar n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_laguerre_polynomial_l(x, n)


def special_legendre_polynomial_p(x: Array, n: Array) -> Array:
    """special_legendre_polynomial_p(Tensor x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    dtype, x, n = INT_TO_FLOAT(x, n)
    return cast(polynomial_kernels.special_legendre_polynomial_p(x=x, n=n), dtype)


def special_legendre_polynomial_p__x_scalar(x: ArrayLike, n: Array) -> Array:
    """special_legendre_polynomial_p.x_scalar(Scalar x, Tensor n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_legendre_polynomial_p(x, n)


def special_legendre_polynomial_p__n_scalar(x: Array, n: ArrayLike) -> Array:
    """special_legendre_polynomial_p.n_scalar(Tensor x, Scalar n) -> Tensor

    Spec: ops_spec/special.yaml
    """
    return special_legendre_polynomial_p(x, n)
