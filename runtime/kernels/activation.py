"""Activation functions and their derivatives, on arrays of the compute dtype that `promote` chose."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import lax

from tenax.words import FLOAT64, Array, DType, Number, axis, cast, opmath

_CUBIC = 0.044715  # the fit of the tanh form: Hendrycks and Gimpel 2016, Gaussian error linear units


def _fitted(x: Array) -> tuple[Array, Array]:
    """The tanh that fits 2 Φ(x) - 1, and its derivative."""
    scale, cubic = cast(math.sqrt(2 / math.pi), x.dtype), cast(_CUBIC, x.dtype)
    tanh = lax.tanh(scale * (x + cubic * x * x * x))
    return tanh, scale * (1 + 3 * cubic * x * x) * (1 - tanh * tanh)


def gelu_backward(grad_output: Array, self: Array, *, approximate: str = "none") -> Array:
    """`grad (Φ(x) + x φ(x))`, or the derivative of the tanh fit."""
    if approximate == "tanh":
        tanh, slope = _fitted(self)
        return grad_output * (1 + tanh + self * slope) / 2
    density = cast(math.sqrt(0.5 / math.pi), self.dtype) * lax.exp(self * self / -2)
    integral = (1 + lax.erf(self * cast(math.sqrt(0.5), self.dtype))) / 2
    return grad_output * (integral + self * density)


def mish(self: Array) -> Array:
    """`x tanh(log(1 + exp x))`, as a quotient of polynomials in exp(x) or exp(-x), whichever is at most 1.

    Far to the left it is `x exp(x)`, computed with exp(x / 2) twice because exp(x) alone may be subnormal.
    `jax.nn.mish`, the tanh of softplus, is 0 below -87.4 in float32, where the value is 1e-36, and is 2.5 times slower.
    """
    e = lax.exp(-jnp.abs(self))
    right = (1 + 2 * e) / (1 + 2 * e + 2 * e * e)
    left = e * (e + 2) / (e * (e + 2) + 2)
    far = self < math.log(float(jnp.finfo(self.dtype).eps)) - 1
    root = lax.exp(jnp.where(far, self, 0) / 2)
    return jnp.where(far, self * root * root, self * jnp.where(self > 0, right, left))


def mish_backward(grad_output: Array, self: Array) -> Array:
    """The derivative of `x tanh(log(1 + exp x))`."""
    tanh = lax.tanh(lax.log1p(lax.exp(self)))
    return grad_output * (tanh + self * lax.logistic(self) * (1 - tanh * tanh))


def logit(self: Array, eps: Array | None = None) -> Array:
    """`log(x / (1 - x))`; `x` is first clamped to `[eps, 1 - eps]` unless `eps` is None or negative."""
    if eps is not None:
        low, high = jnp.where(eps < 0, -jnp.inf, eps), jnp.where(eps < 0, jnp.inf, 1 - eps)
        self = jnp.where(self < low, low, jnp.where(self > high, high, self))  # also if low > high
    return jax.scipy.special.logit(self)


def logit_backward(grad_output: Array, self: Array, eps: Array | None = None) -> Array:
    """`grad / (x (1 - x))`; 0 outside `[eps, 1 - eps]`, and NaN outside `[0, 1]` when there is no `eps`."""
    low = cast(0, self.dtype) if eps is None else jnp.maximum(eps, 0)
    inside = ~((self < low) | (self > 1 - low))
    outside = jnp.nan if eps is None else jnp.where(eps < 0, jnp.nan, cast(0, self.dtype))
    return jnp.where(inside, grad_output / (self * (1 - self)), outside)


def softplus(self: Array, beta: Array, threshold: Array) -> Array:
    """`log(1 + exp(beta x)) / beta`, and `x` itself where `beta x` is above the threshold.

    `jax.nn.softplus` is as accurate (2.3 ULP in float32) and traces twice as many equations.
    """
    scaled = self * beta
    linear = scaled > threshold
    return jnp.where(linear, self, lax.log1p(lax.exp(jnp.where(linear, 0, scaled))) / beta)


def elu_backward(
    grad_output: Array, alpha: Array, scale: Array, input_scale: Array, is_result: bool, self_or_result: Array
) -> Array:
    """The gradient of `elu`, from its input, or from its result if `is_result` (`elu_` keeps only that)."""
    x, coefficient = self_or_result, alpha * scale
    slope = input_scale * (x + coefficient if is_result else coefficient * lax.exp(jnp.minimum(x, 0) * input_scale))
    return jnp.where(x <= 0, grad_output * slope, grad_output * scale)


def log_sigmoid_forward(self: Array) -> tuple[Array, Array]:
    """(log σ(x), exp(-|x|)); the backward needs the second.

    `jax.nn.log_sigmoid` is as accurate (2.4 ULP in float32), traces ten more equations, and has no second result.
    """
    x = cast(self, opmath(self.dtype))
    buffer = lax.exp(-jnp.abs(x))
    return cast(jnp.minimum(x, 0) - lax.log1p(buffer), self.dtype), cast(buffer, self.dtype)


def _middle(lower: Number, upper: Number, dtype: DType) -> Array:
    """The slope in evaluation, computed in float64 as in torch: an extra rounding would be visible in bfloat16."""
    return cast((cast(lower, FLOAT64) + cast(upper, FLOAT64)) / 2, dtype)


def rrelu_with_noise(
    rng: Array, self: Array, noise: Array, lower: Number, upper: Number, training: bool = False
) -> tuple[Array, Array]:
    """(leaky relu with a random slope, the new noise): in training each negative element draws from [lower, upper).

    The noise holds the drawn slopes, and 1 for the other elements (Xu et al. 2015).
    """
    dtype = opmath(self.dtype)
    x = cast(self, dtype)
    if not training:
        return cast(jnp.where(x <= 0, x * _middle(lower, upper, dtype), x), self.dtype), noise
    low, high = cast(lower, dtype), cast(upper, dtype)
    slope = jax.random.uniform(rng, x.shape, dtype) * (high - low) + low
    slope = jnp.where(x <= 0, slope, 1)
    return cast(x * slope, self.dtype), cast(slope, noise.dtype)


def rrelu_with_noise_backward(
    grad_output: Array,
    self: Array,
    noise: Array,
    lower: Number,
    upper: Number,
    training: bool,
    self_is_result: bool,
) -> Array:
    """`grad * noise` in training, otherwise the gradient of the leaky relu with the mean slope."""
    del self_is_result  # both slopes are positive, so input and result have the same sign
    dtype = opmath(self.dtype)
    slope = cast(noise, dtype) if training else jnp.where(self > 0, 1, _middle(lower, upper, dtype))
    return cast(cast(grad_output, dtype) * slope, self.dtype)


def _halves(x: Array, dim: int) -> tuple[Array, Array]:
    """The two halves of an axis of even size."""
    at = axis(x, dim)
    if x.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    half, odd = divmod(x.shape[at], 2)
    if odd:
        raise RuntimeError(f"Halving dimension must be even, but dimension {at} is size {x.shape[at]}")
    return lax.slice_in_dim(x, 0, half, axis=at), lax.slice_in_dim(x, half, None, axis=at)


def glu_backward(grad_output: Array, self: Array, dim: int) -> Array:
    """The gradients of both halves, joined again."""
    a, b = _halves(self, dim)
    gate = lax.logistic(b)
    first = gate * grad_output
    return lax.concatenate([first, first * (1 - gate) * a], axis(self, dim))


def glu_jvp(glu: Array, x: Array, dx: Array, dim: int) -> Array:
    """The derivative of `glu` along `dx`, given the result `glu`."""
    _, b = _halves(x, dim)
    da, db = _halves(dx, dim)
    gate = lax.logistic(b)
    return da * gate + glu * (db - gate * db)


def glu_backward_jvp(grad_x: Array, grad_glu: Array, x: Array, dgrad_glu: Array, dx: Array, dim: int) -> Array:
    """The derivative of `glu_backward` along `dgrad_glu` and `dx`."""
    del grad_x
    return jax.jvp(lambda grad, at: glu_backward(grad, at, dim), (grad_glu, x), (dgrad_glu, dx))[1]
