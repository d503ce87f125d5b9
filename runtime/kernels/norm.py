"""Normalization of each sample: layer, group, root-mean-square and weight norm."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import jax.numpy as jnp
from jax import lax

from tenax.kernels.moments import moments
from tenax.words import Array, axis, cast, opmath, result_type

Masked = Array | None


def _normal_axes(x: Array, normalized_shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(range(x.ndim - len(normalized_shape), x.ndim))


def _scaled(x: Array, weight: Masked, bias: Masked = None) -> Array:
    """x * weight + bias in the dtype of x, without what is None."""
    x = x if weight is None else x * cast(weight, x.dtype)
    return x if bias is None else x + cast(bias, x.dtype)


def _mean(x: Array, dims: Sequence[int]) -> Array:
    return lax.expand_dims(lax.reduce_sum(x, dims), dims) / prod(x.shape[d] for d in dims)


def native_layer_norm(
    input: Array, normalized_shape: Sequence[int], weight: Masked, bias: Masked, eps: float
) -> tuple[Array, Array, Array]:
    """(output, mean, 1 / sqrt(variance + eps)) over the trailing axes; statistics in the accumulation dtype.

    `jax.nn.standardize` computes E[x²] - E[x]²: for 256 float32 numbers with mean 1e4 and deviation 1 it returns inf,
    where this is off by 1e-3.
    """
    variance, mean = moments(input, _normal_axes(input, normalized_shape))
    rstd = lax.rsqrt(variance + cast(eps, variance.dtype))
    out = _scaled((cast(input, mean.dtype) - mean) * rstd, weight, bias)
    return cast(out, input.dtype), mean, rstd


def native_layer_norm_backward(
    grad_out: Array,
    input: Array,
    normalized_shape: Sequence[int],
    mean: Array,
    rstd: Array,
    weight: Masked,
    bias: Masked,
    output_mask: Sequence[bool],
) -> tuple[Masked, Masked, Masked]:
    """Gradients of input, weight and bias, with two sums over each row and one over the batch, in as many passes."""
    dims = _normal_axes(input, normalized_shape)
    batch = tuple(range(input.ndim - len(dims)))
    wide = opmath(input.dtype)
    grad, rstd = cast(grad_out, wide), cast(rstd, wide)
    unit = (cast(input, wide) - cast(mean, wide)) * rstd
    slope = _scaled(grad, weight)
    grad_input = rstd * (slope - _mean(slope, dims) - unit * _mean(slope * unit, dims))
    return (
        cast(grad_input, input.dtype) if output_mask[0] else None,
        cast(lax.reduce_sum(grad * unit, batch), weight.dtype) if output_mask[1] and weight is not None else None,
        cast(lax.reduce_sum(grad, batch), bias.dtype) if output_mask[2] and bias is not None else None,
    )


def native_group_norm(
    input: Array,
    weight: Masked,
    bias: Masked,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Array, Array, Array]:
    """(output, mean [N, group], 1 / sqrt(variance + eps) [N, group]) of [N, C, ...] by groups of channels."""
    x = input.reshape(N, group, C // group, HxW)
    variance, mean = moments(x, (2, 3))
    rstd = lax.rsqrt(variance + cast(eps, variance.dtype))
    weight, bias = (None if p is None else p.reshape(group, C // group, 1) for p in (weight, bias))
    out = _scaled((cast(x, mean.dtype) - mean) * rstd, weight, bias)
    mean, rstd = (cast(s.reshape(N, group), input.dtype) for s in (mean, rstd))
    return cast(out.reshape(input.shape), input.dtype), mean, rstd


def native_group_norm_backward(
    grad_out: Array,
    input: Array,
    mean: Array,
    rstd: Array,
    weight: Masked,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Sequence[bool],
) -> tuple[Masked, Masked, Masked]:
    """Gradients of input, weight [C] and bias [C], in the dtype to which all arguments promote."""
    dtype = result_type(grad_out, input, mean, rstd, weight)
    wide, shape = opmath(input.dtype), (N, group, C // group, HxW)
    grad, x = (cast(a, wide).reshape(shape) for a in (grad_out, input))
    mean, rstd = (cast(s, wide).reshape(N, group, 1, 1) for s in (mean, rstd))
    unit = (x - mean) * rstd
    slope = _scaled(grad, None if weight is None else weight.reshape(group, C // group, 1))
    grad_input = rstd * (slope - _mean(slope, (2, 3)) - unit * _mean(slope * unit, (2, 3)))
    return (
        cast(grad_input.reshape(input.shape), dtype) if output_mask[0] else None,
        cast(lax.reduce_sum(grad * unit, (0, 3)).reshape(C), dtype) if output_mask[1] else None,
        cast(lax.reduce_sum(grad, (0, 3)).reshape(C), dtype) if output_mask[2] else None,
    )


def _fused_rms_norm(
    input: Array, normalized_shape: Sequence[int], weight: Masked, eps: float | None
) -> tuple[Array, Array]:
    """(input / rms * weight, 1 / rms) with rms = sqrt(mean(input^2) + eps); `eps` defaults to that of the dtype."""
    x = cast(input, opmath(input.dtype))
    eps = float(jnp.finfo(x.dtype).eps) if eps is None else eps
    rstd = lax.rsqrt(_mean(x * x, _normal_axes(x, normalized_shape)) + cast(eps, x.dtype))
    return cast(_scaled(x * rstd, weight), input.dtype), rstd


def _fused_rms_norm_backward(
    grad_out: Array,
    input: Array,
    normalized_shape: Sequence[int],
    rstd: Array,
    weight: Masked,
    output_mask: Sequence[bool],
) -> tuple[Masked, Masked]:
    """Gradients of input and weight."""
    dims, wide = _normal_axes(input, normalized_shape), opmath(input.dtype)
    grad, rstd = cast(grad_out, wide), cast(rstd, wide)
    unit = cast(input, wide) * rstd
    slope = _scaled(grad, weight)
    grad_input = rstd * (slope - unit * _mean(slope * unit, dims))
    grad_weight = lax.reduce_sum(grad * unit, tuple(range(input.ndim - len(dims))))
    return (
        cast(grad_input, input.dtype) if output_mask[0] else None,
        cast(grad_weight, weight.dtype) if output_mask[1] and weight is not None else None,
    )


def _except(x: Array, dim: int) -> tuple[int, ...]:
    return tuple(d for d in range(x.ndim) if d != axis(x, dim))


def _weight_norm_interface(v: Array, g: Array, dim: int = 0) -> tuple[Array, Array]:
    """(v * g / norm, norm) with the 2-norm of v over all axes but `dim`; the norm of bfloat16 is float32."""
    x, dims = cast(v, opmath(v.dtype)), _except(v, dim)
    norm = lax.expand_dims(jnp.sqrt(lax.reduce_sum(x * x, dims)), dims)
    return cast(x * (cast(g, x.dtype) / norm), v.dtype), norm


def _weight_norm_interface_backward(
    grad_w: Array, saved_v: Array, saved_g: Array, saved_norms: Array, dim: int
) -> tuple[Array, Array]:
    """Gradients of v and g."""
    wide, dims = opmath(saved_v.dtype), _except(saved_v, dim)
    grad, v, g, norm = (cast(x, wide) for x in (grad_w, saved_v, saved_g, saved_norms))
    along = lax.expand_dims(lax.reduce_sum(grad * v, dims), dims)
    grad_v = g / norm * (grad - v * (along / (norm * norm)))
    return cast(grad_v, saved_v.dtype), cast(along / norm, saved_g.dtype)
