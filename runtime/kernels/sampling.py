"""Samplers that need rejection, sorting or a cumulative sum, and gradients of samples by implicit differentiation."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.special import digamma

from tenax.kernels import loops
from tenax.kernels.graft import graft
from tenax.kernels.random import exponential, randn, unit
from tenax.kernels.search import insertion
from tenax.words import FLOAT64, INT64, Array, cast, is_float, opmath, window_operand

# Terms of the continued fraction below: enough for float64 up to parameters of about 1e4.
_TERMS = 256


def binomial(rng: Array, count: Array, prob: Array) -> Array:
    """Successes among `count` trials of probability `prob`, in count's dtype."""
    wide = opmath(count.dtype)
    n, p = jnp.broadcast_arrays(*(lax.stop_gradient(cast(x, wide)) for x in (count, prob)))
    drawn = jax.random.binomial(rng, n, p, dtype=wide)
    drawn = jnp.where((n <= 0) | (p <= 0), 0, jnp.where(p >= 1, n, drawn))
    return cast(drawn, count.dtype)


def multinomial(rng: Array, self: Array, num_samples: int, replacement: bool = False) -> Array:
    """(..., num_samples) int64 categories drawn with the weights of the last axis of `self`.

    `jax.random.choice` accepts only one row of weights.
    """
    if not is_float(self):
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {self.dtype}")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > self.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    weights = cast(self, opmath(self.dtype))
    if not replacement or num_samples == 1:
        # Of exponentials with rates w, the i-th is smallest with probability w_i / sum(w) (Efraimidis & Spirakis 2006).
        race = weights / exponential(rng, weights.shape, weights.dtype)
        return cast(lax.top_k(race, num_samples)[1], INT64)
    # A category of weight 0 repeats the total before it, so it is never the first to exceed the target.
    sums = lax.cumsum(window_operand(weights), axis=weights.ndim - 1)
    total = lax.cummax(jnp.where(weights > 0, sums, 0), axis=weights.ndim - 1)
    target = unit(rng, (*weights.shape[:-1], num_samples), weights.dtype) * total[..., -1:]
    return cast(insertion(total, target, jnp.less_equal), INT64)


def _log_gamma_numbers(rng: Array, shape: Array) -> Array:
    """Logarithms of gamma numbers, by vectorized rejection (Marsaglia & Tsang 2000).

    `jax.random.gamma` draws sequentially on a CPU: 63 ms for 100,000 numbers, where this takes 7.
    """
    valid = (shape > 0) & (shape < jnp.inf)
    # A shape below 1 is drawn as shape + 1 and multiplied by a uniform number to the power 1 / shape.
    d = jnp.where(valid, jnp.where(shape < 1, shape + 1, shape), 1) - 1 / 3
    c = lax.rsqrt(9 * d)

    def attempt(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        rng, value, done = state
        rng, normal_key, uniform_key = jax.random.split(rng, 3)
        x = randn(normal_key, shape.shape, dtype=shape.dtype)
        v = (1 + c * x) ** 3
        bound = x * x / 2 + d * (1 - v + jnp.log(jnp.where(v > 0, v, 1)))
        accepted = (v > 0) & (-exponential(uniform_key, shape.shape, shape.dtype) < bound)
        return rng, jnp.where(done, value, v), done | accepted

    rng, boost_key = jax.random.split(rng)
    start = (rng, jnp.ones_like(shape), ~valid)
    v = loops.while_loop(lambda state: ~jnp.all(state[2]), attempt, start)[1]
    boost = jnp.where(shape < 1, exponential(boost_key, shape.shape, shape.dtype) / shape, 0)
    return jnp.where(valid, jnp.log(d * v) - boost, jnp.log(shape))


def _standard_gamma(rng: Array, self: Array) -> Array:
    """Gamma numbers with shape parameters `self` and rate 1, at least the smallest normal number."""
    shape = lax.stop_gradient(self)
    drawn = cast(jnp.exp(_log_gamma_numbers(rng, cast(shape, opmath(self.dtype)))), self.dtype)
    drawn = jnp.maximum(drawn, lax.full((), jnp.finfo(self.dtype).tiny, self.dtype))
    return graft(drawn, self * _standard_gamma_grad(shape, drawn))


def _standard_gamma_grad(self: Array, output: Array) -> Array:
    """The derivative of a gamma sample `output` with respect to its shape parameter `self`."""
    wide = opmath(self.dtype)
    return cast(lax.random_gamma_grad(cast(self, wide), cast(output, wide)), self.dtype)


def _sample_dirichlet(rng: Array, self: Array) -> Array:
    """Points of the simplex, for the concentrations in the last axis of `self`."""
    logs = _log_gamma_numbers(rng, lax.stop_gradient(cast(self, opmath(self.dtype))))
    return cast(jax.nn.softmax(logs, axis=-1), self.dtype)


def _fraction(a: Array, b: Array, x: Array) -> Array:
    """The continued fraction of the incomplete beta function, DLMF 8.17.22, by Lentz's method (DLMF 3.10(iii))."""
    tiny = lax.full((), 1e-300, FLOAT64)

    def nonzero(v: Array) -> Array:
        return jnp.where(jnp.abs(v) < tiny, tiny, v)

    def term(i: Array, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        m = cast(i, FLOAT64)
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        c, d, value = state
        for coefficient in (even, odd):
            d = 1 / nonzero(1 + coefficient * d)
            c = nonzero(1 + coefficient / c)
            value = value * c * d
        return c, d, value

    d = 1 / nonzero(1 - (a + b) * x / (a + 1))
    return loops.fori_loop(1, _TERMS, term, (jnp.ones_like(x), d, d))[2]


def _dirichlet_grad(x: Array, alpha: Array, total: Array) -> Array:
    """-(dF/dalpha) / (dF/dx) / (1 - x), F the distribution function of Beta(alpha, total - alpha) at the sample `x`.

    The powers of the density cancel; digammas and a continued fraction remain, the latter computed from the side of the
    mode where it converges. This is in float64, because the terms nearly cancel.
    """
    x, dtype = cast(x, FLOAT64), x.dtype
    a, b = cast(alpha, FLOAT64), cast(total, FLOAT64) - cast(alpha, FLOAT64)
    low = x < (a + 1) / (a + b + 2)
    p, q, y = jnp.where(low, a, b), jnp.where(low, b, a), jnp.where(low, x, 1 - x)
    one, zero = jnp.ones_like(x), jnp.zeros_like(x)
    by_a = (jnp.where(low, one, zero), jnp.where(low, zero, one), zero)
    value, slope = jax.jvp(_fraction, (p, q, y), by_a)
    logarithm = jnp.log(x) - digamma(a) + digamma(a + b)
    below = -x / a * ((logarithm - 1 / a) * value + slope)
    return cast(jnp.where(low, below, x / b * (logarithm * value + slope)), dtype)
