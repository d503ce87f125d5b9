"""Lowerings of the family `activation`.

Generated from ops_spec/activation.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import ArrayLike

from tenax.generated import pointwise as pointwise_ops
from tenax.kernels import activation as activation_kernels
from tenax.kernels import complex as complex_kernels
from tenax.kernels.arithmetic import mul
from tenax.words import DEFAULT, INT_TO_FLOAT, NO_OPMATH, SATURATE, Array, Gradients, cast, is_complex, with_derivative


def relu(self: Array) -> Array:
    """relu(Tensor self) -> Tensor

    the gradient of jnp.maximum at 0 is 1/2 under jax.grad, and 0 in torch

    Spec: ops_spec/activation.yaml
    """
    dtype, self = NO_OPMATH(self)
    return cast(jnp.where(self <= 0, 0, self), dtype)


def leaky_relu(self: Array, negative_slope: ArrayLike = 0.01) -> Array:
    """leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, self, negative_slope = DEFAULT(self, scalars=(negative_slope,))
    return cast(jnp.where(self > 0, self, mul(self, negative_slope)), dtype)


def leaky_relu_backward(grad_output: Array, self: Array, negative_slope: ArrayLike, self_is_result: bool) -> Array:
    """leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_output, self, negative_slope = DEFAULT(grad_output, self, scalars=(negative_slope,))
    return cast(jnp.where(self > 0, grad_output, mul(grad_output, negative_slope)), dtype)


def _prelu_kernel(self: Array, weight: Array) -> Array:
    """_prelu_kernel(Tensor self, Tensor weight) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, self, weight = DEFAULT(self, weight)
    return cast(jnp.where(self > 0, self, mul(weight, self)), dtype)


def _prelu_kernel_backward(grad_output: Array, self: Array, weight: Array) -> tuple[Array, Array]:
    """_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)

    Spec: ops_spec/activation.yaml
    """
    return (jnp.where(self > 0, grad_output, weight * grad_output), jnp.where(self > 0, 0, self * grad_output))


def rrelu_with_noise(
    rng: Array,
    self: Array,
    noise: Array,
    lower: ArrayLike = 0.125,
    upper: ArrayLike = 0.3333333333333333,
    training: bool = False,
) -> tuple[Array, Array]:
    """rrelu_with_noise(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool
        training=False, Generator? generator=None) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    return activation_kernels.rrelu_with_noise(
        rng=rng, self=self, noise=noise, lower=lower, upper=upper, training=training
    )


def threshold(self: Array, threshold: ArrayLike, value: ArrayLike) -> Array:
    """threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, self, threshold, value = NO_OPMATH(self, scalars=(threshold, value))
    return cast(jnp.where(self <= threshold, value, self), dtype)


def threshold_backward(grad_output: Array, self: Array, threshold: ArrayLike) -> Array:
    """threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_output, self, threshold = NO_OPMATH(grad_output, self, scalars=(threshold,))
    return cast(jnp.where(self <= threshold, 0, grad_output), dtype)


def elu(self: Array, alpha: ArrayLike = 1, scale: ArrayLike = 1, input_scale: ArrayLike = 1) -> Array:
    """elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor

    near 0 in float32, the error of jax.nn.elu (XLA's expm1) is 3.3 ULP, and that of this lowering 1.1 ULP

    Spec: ops_spec/activation.yaml
    """
    dtype, self, alpha, scale, input_scale = DEFAULT(self, scalars=(alpha, scale, input_scale))
    result = jnp.where(
        self > 0, mul(self, scale), pointwise_ops.expm1(jnp.where(self > 0, 0, self) * input_scale) * mul(alpha, scale)
    )
    return cast(result, dtype)


def elu_backward(
    grad_output: Array,
    alpha: ArrayLike,
    scale: ArrayLike,
    input_scale: ArrayLike,
    is_result: bool,
    self_or_result: Array,
) -> Array:
    """elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, Tensor
        self_or_result) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_output, self_or_result, alpha, scale, input_scale = DEFAULT(
        grad_output, self_or_result, scalars=(alpha, scale, input_scale)
    )
    result = activation_kernels.elu_backward(
        grad_output=grad_output,
        alpha=alpha,
        scale=scale,
        input_scale=input_scale,
        is_result=is_result,
        self_or_result=self_or_result,
    )
    return cast(result, dtype)


def celu(self: Array, alpha: ArrayLike = 1.0) -> Array:
    """celu(Tensor self, Scalar alpha=1.0) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, self, alpha = DEFAULT(self, scalars=(alpha,))
    return cast(elu(self, alpha, 1, 1 / alpha), dtype)


def sigmoid(self: Array) -> Array:
    """sigmoid(Tensor self) -> Tensor

    lax.logistic of -inf + i inf is NaN; the result here is 0

    Spec: ops_spec/activation.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(1 / (1 + pointwise_ops.exp(-self)) if is_complex(self) else lax.logistic(self), dtype)


def sigmoid_backward(grad_output: Array, output: Array) -> Array:
    """sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_output, output = DEFAULT(grad_output, output)
    return cast(grad_output * jnp.conj((1 - output) * output), dtype)


def tanh(self: Array) -> Array:
    """tanh(Tensor self) -> Tensor

    accuracy: 5 ULP in float32, from XLA's rational function; one with an error of 0.5 ULP takes three times as long

    Spec: ops_spec/activation.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(complex_kernels.tanh(self=self), dtype)


def tanh_backward(grad_output: Array, output: Array) -> Array:
    """tanh_backward(Tensor grad_output, Tensor output) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_output, output = DEFAULT(grad_output, output)
    return cast(grad_output * jnp.conj(1 - mul(output, output)), dtype)


def logit(self: Array, eps: ArrayLike | None = None) -> Array:
    """logit(Tensor self, float? eps=None) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, self, eps = INT_TO_FLOAT(self, scalars=(eps,))

    def value(self: Array, eps: ArrayLike | None) -> Array:
        return activation_kernels.logit(self=self, eps=eps)

    def gradients(grad: Array, result: Array, self: Array, eps: ArrayLike | None) -> Gradients:
        return {
            "self": lambda: grad * logit_backward(jnp.ones_like(self), self, eps),
        }

    return cast(with_derivative(value, gradients, self=self, eps=eps), dtype)


def logit_backward(grad_output: Array, self: Array, eps: ArrayLike | None = None) -> Array:
    """logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_output, self, eps = DEFAULT(grad_output, self, scalars=(eps,))
    return cast(activation_kernels.logit_backward(grad_output=grad_output, self=self, eps=eps), dtype)


def gelu(self: Array, *, approximate: str = "none") -> Array:
    """gelu(Tensor self, *, str approximate='none') -> Tensor

    jax.nn.gelu without tanh calls erfc, which takes three times as long and does not return -0 below -5.5 as torch does

    Spec: ops_spec/activation.yaml
    """
    dtype, self = DEFAULT(self)
    result = jax.nn.gelu(self, True) if approximate == "tanh" else self * ((1 + lax.erf(self * 0.5**0.5)) / 2)
    return cast(result, dtype)


def gelu_backward(grad_output: Array, self: Array, *, approximate: str = "none") -> Array:
    """gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_output, self = DEFAULT(grad_output, self)
    return cast(activation_kernels.gelu_backward(grad_output=grad_output, self=self, approximate=approximate), dtype)


def silu(self: Array) -> Array:
    """silu(Tensor self) -> Tensor

    accuracy: 6 ULP in float32 below -88, as for exp; jax.nn.silu is 0 below -87.4

    Spec: ops_spec/activation.yaml
    """
    dtype, self = DEFAULT(self)

    def value(self: Array) -> Array:
        return self / (1 + lax.exp(-self))

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: silu_backward(grad, self),
        }

    return cast(with_derivative(value, gradients, self=self), dtype)


def silu_backward(grad_output: Array, self: Array) -> Array:
    """silu_backward(Tensor grad_output, Tensor self) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_output, self = DEFAULT(grad_output, self)
    return cast(grad_output * lax.logistic(self) * (1 + self * (1 - lax.logistic(self))), dtype)


def mish(self: Array) -> Array:
    """mish(Tensor self) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, self = DEFAULT(self)

    def value(self: Array) -> Array:
        return activation_kernels.mish(self=self)

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: mish_backward(grad, self),
        }

    return cast(with_derivative(value, gradients, self=self), dtype)


def mish_backward(grad_output: Array, self: Array) -> Array:
    """mish_backward(Tensor grad_output, Tensor self) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_output, self = DEFAULT(grad_output, self)
    return cast(activation_kernels.mish_backward(grad_output=grad_output, self=self), dtype)


def softplus(self: Array, beta: ArrayLike = 1, threshold: ArrayLike = 20) -> Array:
    """softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, self, beta, threshold = DEFAULT(self, scalars=(beta, threshold))
    return cast(activation_kernels.softplus(self=self, beta=beta, threshold=threshold), dtype)


def softplus_backward(grad_output: Array, self: Array, beta: ArrayLike, threshold: ArrayLike) -> Array:
    """softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_output, self, beta, threshold = DEFAULT(grad_output, self, scalars=(beta, threshold))
    return cast(jnp.where(mul(self, beta) > threshold, grad_output, grad_output * lax.logistic(mul(self, beta))), dtype)


def log_sigmoid_forward(self: Array) -> tuple[Array, Array]:
    """log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)

    Spec: ops_spec/activation.yaml
    """

    def value(self: Array) -> tuple[Array, Array]:
        return activation_kernels.log_sigmoid_forward(self=self)

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: log_sigmoid_backward(grad[0], self, result[1]),
        }

    return with_derivative(value, gradients, self=self)


def log_sigmoid_backward(grad_output: Array, self: Array, buffer: Array) -> Array:
    """log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor

    `buffer`, which CPU torch keeps from the forward pass, is empty here.

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_output, self = DEFAULT(grad_output, self)
    return cast(grad_output * lax.logistic(-self), dtype)


def glu(self: Array, dim: int = -1) -> Array:
    """glu(Tensor self, int dim=-1) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, self = DEFAULT(self)
    return cast(jax.nn.glu(self, dim), dtype)


def glu_backward(grad_output: Array, self: Array, dim: int) -> Array:
    """glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_output, self = DEFAULT(grad_output, self)
    return cast(activation_kernels.glu_backward(grad_output=grad_output, self=self, dim=dim), dtype)


def glu_jvp(glu: Array, x: Array, dx: Array, dim: int) -> Array:
    """glu_jvp(Tensor glu, Tensor x, Tensor dx, int dim) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, glu, x, dx = DEFAULT(glu, x, dx)
    return cast(activation_kernels.glu_jvp(glu=glu, x=x, dx=dx, dim=dim), dtype)


def glu_backward_jvp(grad_x: Array, grad_glu: Array, x: Array, dgrad_glu: Array, dx: Array, dim: int) -> Array:
    """glu_backward_jvp(Tensor grad_x, Tensor grad_glu, Tensor x, Tensor dgrad_glu, Tensor dx, int dim) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_x, grad_glu, x, dgrad_glu, dx = DEFAULT(grad_x, grad_glu, x, dgrad_glu, dx)
    result = activation_kernels.glu_backward_jvp(
        grad_x=grad_x, grad_glu=grad_glu, x=x, dgrad_glu=dgrad_glu, dx=dx, dim=dim
    )
    return cast(result, dtype)


def hardtanh(self: Array, min_val: ArrayLike = -1, max_val: ArrayLike = 1) -> Array:
    """hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, self, min_val, max_val = SATURATE(self, scalars=(min_val, max_val))

    def value(self: Array, min_val: ArrayLike, max_val: ArrayLike) -> Array:
        return jnp.minimum(jnp.maximum(self, min_val), max_val)

    def gradients(grad: Array, result: Array, self: Array, min_val: ArrayLike, max_val: ArrayLike) -> Gradients:
        return {
            "self": lambda: hardtanh_backward(grad, self, min_val, max_val),
        }

    return cast(with_derivative(value, gradients, self=self, min_val=min_val, max_val=max_val), dtype)


def hardtanh_backward(grad_output: Array, self: Array, min_val: ArrayLike, max_val: ArrayLike) -> Array:
    """hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_output, self, min_val, max_val = DEFAULT(grad_output, self, scalars=(min_val, max_val))
    return cast(jnp.where((self <= min_val) | (self >= max_val), 0, grad_output), dtype)


def hardsigmoid(self: Array) -> Array:
    """hardsigmoid(Tensor self) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, self = DEFAULT(self)

    def value(self: Array) -> Array:
        return jnp.clip(self + 3.0, 0.0, 6.0) / 6.0

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: hardsigmoid_backward(grad, self),
        }

    return cast(with_derivative(value, gradients, self=self), dtype)


def hardsigmoid_backward(grad_output: Array, self: Array) -> Array:
    """hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_output, self = DEFAULT(grad_output, self)
    return cast(jnp.where((self > -3) & (self < 3), grad_output / 6, 0), dtype)


def hardswish(self: Array) -> Array:
    """hardswish(Tensor self) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, self = DEFAULT(self)

    def value(self: Array) -> Array:
        return self * jnp.clip(self + 3.0, 0.0, 6.0) / 6.0

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: hardswish_backward(grad, self),
        }

    return cast(with_derivative(value, gradients, self=self), dtype)


def hardswish_backward(grad_output: Array, self: Array) -> Array:
    """hardswish_backward(Tensor grad_output, Tensor self) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_output, self = DEFAULT(grad_output, self)
    return cast(jnp.where(self <= -3, 0, jnp.where(self >= 3, grad_output, grad_output * (self / 3 + 0.5))), dtype)


def hardshrink(self: Array, lambd: ArrayLike = 0.5) -> Array:
    """hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, self, lambd = NO_OPMATH(self, scalars=(lambd,))
    return cast(jnp.where(jnp.abs(self) <= lambd, 0.0, self), dtype)


def hardshrink_backward(grad_out: Array, self: Array, lambd: ArrayLike) -> Array:
    """hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_out, self, lambd = NO_OPMATH(grad_out, self, scalars=(lambd,))
    return cast(jnp.where(jnp.abs(self) <= lambd, 0, grad_out), dtype)


def softshrink(self: Array, lambd: ArrayLike = 0.5) -> Array:
    """softshrink(Tensor self, Scalar lambd=0.5) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, self = NO_OPMATH(self)
    return cast(jnp.where(jnp.abs(self) <= lambd, 0, jnp.where(self > lambd, self - lambd, self + lambd)), dtype)


def softshrink_backward(grad_output: Array, self: Array, lambd: ArrayLike) -> Array:
    """softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor

    Spec: ops_spec/activation.yaml
    """
    dtype, grad_output, self, lambd = NO_OPMATH(grad_output, self, scalars=(lambd,))
    return cast(jnp.where(jnp.abs(self) <= lambd, 0, grad_output), dtype)
