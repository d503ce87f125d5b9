"""Batch normalization: per channel (axis 1) over all other axes. Statistics of narrower inputs are float32.

torch's `save_invstd` and `save_var` are both 1 / sqrt(variance + eps), of shape [C].
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.words import Array, cast, opmath

Gradients = tuple[Array | None, Array | None, Array | None]


def _others(x: Array) -> tuple[int, ...]:
    return (0, *range(2, x.ndim))


def _count(x: Array) -> int:
    return x.size // max(x.shape[1], 1)


def _spread(channel: Array, x: Array) -> Array:
    """A value per channel, cast to the accumulation dtype and shaped to broadcast against `x`."""
    return lax.expand_dims(cast(channel, opmath(x.dtype)), _others(x))


def _moments(x: Array) -> tuple[Array, Array]:
    """(mean, variance) per channel, in one pass over `x` after the mean of its first sample.

    A sum of squares loses precision if the mean is large relative to the spread; shifting by an approximate mean first
    avoids this. With the normalization that makes two passes, one fewer than subtracting the exact mean first.
    """
    dims, n = _others(x), _count(x)
    x = cast(x, opmath(x.dtype))
    near = lax.reduce_sum(x[:1], dims) / max(n // max(x.shape[0], 1), 1)
    off = x - _spread(near, x)
    mean, square = lax.reduce_sum(off, dims) / n, lax.reduce_sum(off * off, dims) / n
    return mean + near, jnp.maximum(square - mean * mean, 0)


def _invstd(variance: Array, eps: float, x: Array) -> Array:
    variance = cast(variance, opmath(x.dtype))
    return lax.rsqrt(variance + cast(eps, variance.dtype))


def batch_norm_elemt(
    input: Array, weight: Array | None, bias: Array | None, mean: Array, invstd: Array, eps: float
) -> Array:
    """(input - mean) * invstd * weight + bias; `eps` is already in `invstd`."""
    scale = _spread(invstd, input)
    if weight is not None:
        scale = scale * _spread(weight, input)
    out = (cast(input, scale.dtype) - _spread(mean, input)) * scale
    return cast(out if bias is None else out + _spread(bias, input), input.dtype)


def _moved(running: Array | None, batch: Array, momentum: float) -> tuple[Array, ...]:
    """The running statistic after this batch, as a tuple that is empty if there is none."""
    if running is None:
        return ()
    share = cast(momentum, batch.dtype)
    return (cast((1 - share) * cast(running, batch.dtype) + share * batch, running.dtype),)


def _observed(
    input: Array, running_mean: Array | None, running_var: Array | None, momentum: float
) -> tuple[Array, Array, tuple[Array, ...]]:
    """(mean, variance, running statistics) after a batch; the running variance is that of unbiased ones."""
    (mean, variance), n = _moments(input), _count(input)
    unbiased = variance * (n / (n - 1) if n > 1 else np.nan)
    return mean, variance, (*_moved(running_mean, mean, momentum), *_moved(running_var, unbiased, momentum))


def native_batch_norm(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Array, ...]:
    """(output, mean, invstd, running mean, running variance); mean and invstd are empty unless `training`.

    Raises:
        ValueError: one of the running statistics is None.
        RuntimeError: a statistic or parameter has another size than the channels. The CPU kernel would read past it.
    """
    weight, bias = (x if x is None else x.reshape(-1) for x in (weight, bias))  # torch counts their elements
    given = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, x in given.items():
        if x is not None and x.shape != input.shape[1:2]:
            raise RuntimeError(f"{name} should contain {input.shape[1]} elements not {x.size}")
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    if training:
        mean, variance, running = _observed(input, running_mean, running_var, momentum)
    else:
        assert running_mean is not None and running_var is not None  # required by torch
        mean, variance = (cast(x, opmath(input.dtype)) for x in (running_mean, running_var))
        running = running_mean, running_var
    invstd = _invstd(variance, eps, input)
    output = batch_norm_elemt(input, weight, bias, mean, invstd, eps)
    return output, *((mean, invstd) if training else (mean[:0], invstd[:0])), *running


def _batch_norm_with_update(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    momentum: float,
    eps: float,
) -> tuple[Array, ...]:
    """`native_batch_norm` in training, with an empty reserve, since nothing is kept in it."""
    out, mean, invstd, *running = native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
    return out, mean, invstd, jnp.zeros((0,), np.uint8), *running


def _batch_norm_no_update(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    momentum: float,
    eps: float,
) -> tuple[Array, Array, Array, Array]:
    """The output of `native_batch_norm` in evaluation, running mean, 1 / sqrt(variance + eps), and an empty reserve."""
    if running_mean is None or running_var is None:
        raise RuntimeError("_batch_norm_no_update: running_mean and running_var must be given in evaluation")
    out, *_ = native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)
    invstd = _invstd(running_var, eps, running_var)
    return out, running_mean, cast(invstd, running_var.dtype), jnp.zeros((0,), np.uint8)


def batch_norm_update_stats(
    input: Array, running_mean: Array | None, running_var: Array | None, momentum: float
) -> tuple[Array, ...]:
    """(batch mean and biased variance in the dtype of the running ones, running mean, running variance)."""
    dtype = input.dtype if running_mean is None else running_mean.dtype
    mean, variance, running = _observed(input, running_mean, running_var, momentum)
    return cast(mean, dtype), cast(variance, dtype), *running


def native_batch_norm_backward(
    grad_out: Array,
    input: Array,
    weight: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    save_mean: Array | None,
    save_invstd: Array | None,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
) -> Gradients:
    """Gradients of input, weight and bias: one pass for two sums, one for the result."""
    if train:
        assert save_mean is not None and save_invstd is not None  # results of the forward
        mean, invstd = save_mean, save_invstd
    else:
        assert running_mean is not None and running_var is not None  # required by the forward
        mean, invstd = running_mean, _invstd(running_var, eps, input)
    _, _, grad_weight, grad_bias = batch_norm_backward_reduce(
        grad_out, input, mean, invstd, weight, False, output_mask[1], output_mask[2]
    )
    if not output_mask[0]:
        return None, grad_weight, grad_bias
    sums = _sums(grad_out, input, mean)
    if not train:  # the statistics do not depend on the input
        sums = jnp.zeros_like(sums[0]), jnp.zeros_like(sums[1])
    count = jnp.full((1,), _count(input), np.int32)
    grad_input = batch_norm_backward_elemt(grad_out, input, mean, invstd, weight, *sums, count)
    return grad_input, grad_weight, grad_bias


def batch_norm_stats(input: Array, eps: float) -> tuple[Array, Array]:
    """(mean, invstd) of this device's part of a batch."""
    mean, variance = _moments(input)
    return mean, _invstd(variance, eps, input)


def batch_norm_gather_stats_with_counts(
    input: Array,
    mean: Array,
    invstd: Array,
    running_mean: Array | None,
    running_var: Array | None,
    momentum: float,
    eps: float,
    counts: Array,
) -> tuple[Array, ...]:
    """(mean, invstd, running mean, running variance) of a batch from those of its parts, [parts, C]; counts [parts].

    The variance is the mean variance of the parts plus the variance of their means (Chan, Golub and LeVeque, 1979).
    """
    share = cast(counts, mean.dtype)[:, None]
    total = jnp.sum(share)
    whole = jnp.sum(mean * share, 0) / total
    variance = 1 / jnp.square(invstd) - cast(eps, mean.dtype)
    variance = jnp.sum((variance + jnp.square(mean - whole)) * share, 0) / total
    unbiased = variance * total / (total - 1)
    running = *_moved(running_mean, whole, momentum), *_moved(running_var, unbiased, momentum)
    return whole, _invstd(variance, eps, mean), *running


def _sums(grad_out: Array, input: Array, mean: Array) -> tuple[Array, Array]:
    """Per channel, the sums of grad and of grad * (input - mean)."""
    grad = cast(grad_out, opmath(grad_out.dtype))
    off = cast(input, opmath(input.dtype)) - _spread(mean, input)
    return lax.reduce_sum(grad, _others(input)), lax.reduce_sum(grad * off, _others(input))


def batch_norm_backward_reduce(
    grad_out: Array,
    input: Array,
    mean: Array,
    invstd: Array,
    weight: Array | None,
    input_g: bool,
    weight_g: bool,
    bias_g: bool,
) -> tuple[Array | None, Array | None, Array | None, Array | None]:
    """Per channel (sum of grad, sum of grad * (input - mean), gradient of weight, of bias); None if not requested."""
    sum_dy, sum_dy_xmu = _sums(grad_out, input, mean)
    dtype = input.dtype if weight is None else weight.dtype
    return (
        sum_dy if input_g else None,
        sum_dy_xmu if input_g else None,
        cast(sum_dy_xmu * cast(invstd, sum_dy.dtype), dtype) if weight_g else None,
        cast(sum_dy, dtype) if bias_g else None,
    )


def batch_norm_backward_elemt(
    grad_out: Array,
    input: Array,
    mean: Array,
    invstd: Array,
    weight: Array | None,
    sum_dy: Array,
    sum_dy_xmu: Array,
    count: Array,
) -> Array:
    """Gradient of input, given the sums over the whole batch; `count` [parts] sums to its elements per channel."""
    wide = opmath(input.dtype)
    n, invstd = cast(jnp.sum(count), wide), cast(invstd, wide)
    scale = invstd if weight is None else invstd * cast(weight, wide)
    along = _spread(cast(sum_dy_xmu, wide) * invstd * invstd / n, input)
    off = cast(input, wide) - _spread(mean, input)
    grad = cast(grad_out, wide) - _spread(sum_dy, input) / n - off * along
    return cast(grad * _spread(scale, input), input.dtype)
