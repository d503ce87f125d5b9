"""Fake quantization: values rounded to `quant_max - quant_min + 1` steps of `scale` around `zero_point`, as floats.

torch computes with the scale and its reciprocal in float32 (aten/src/ATen/native/quantized/FakeQuantPerTensorAffine.cpp
and FakeQuantPerChannelAffine.cpp).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from tenax.words import cast, opmath

Array = jax.Array


def _column(x: Array, like: Array, axis: int) -> Array:
    """A vector shaped to broadcast along one axis of `like`."""
    return x.reshape([-1 if d == axis % like.ndim else 1 for d in range(like.ndim)])


def _steps(x: Array, scale: Array, zero_point: Array) -> Array:
    """The quantization step of each value before clamping; an integer zero point is added after rounding."""
    wide = opmath(x.dtype)
    scaled = cast(x, wide) * cast(1 / scale, wide)
    if jnp.issubdtype(zero_point.dtype, jnp.integer):
        return jnp.round(scaled) + cast(zero_point, wide)
    return jnp.round(scaled + cast(zero_point, wide))


def _quantized(x: Array, scale: Array, zero_point: Array, low: int, high: int) -> tuple[Array, Array]:
    step = _steps(x, scale, zero_point)
    value = (jnp.clip(step, low, high) - cast(zero_point, step.dtype)) * cast(scale, step.dtype)
    return cast(value, x.dtype), (step >= low) & (step <= high)


def fake_quantize_per_tensor_affine_cachemask(
    self: Array, scale: Array | float, zero_point: int, quant_min: int, quant_max: int
) -> tuple[Array, Array]:
    return _quantized(self, cast(scale, "float32"), jnp.asarray(zero_point, "int64"), quant_min, quant_max)


def _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
    self: Array, scale: Array, zero_point: Array, fake_quant_enabled: Array, quant_min: int, quant_max: int
) -> tuple[Array, Array]:
    place = cast(zero_point.reshape(-1)[0], "int64")
    output, mask = _quantized(self, cast(scale.reshape(-1)[0], "float32"), place, quant_min, quant_max)
    enabled = cast(fake_quant_enabled.reshape(-1)[0], bool)
    return jnp.where(enabled, output, self), mask | ~enabled


def fake_quantize_per_channel_affine_cachemask(
    self: Array, scale: Array, zero_point: Array, axis: int, quant_min: int, quant_max: int
) -> tuple[Array, Array]:
    return _quantized(
        self, cast(_column(scale, self, axis), "float32"), _column(zero_point, self, axis), quant_min, quant_max
    )


def _learned(x: Array, scale: Array, zero_point: Array, axis: int | None, low: int, high: int) -> tuple[Array, Array]:
    """The scale and the rounded zero point, or those of each channel of `axis`, shaped to broadcast against `x`."""
    pair = cast(scale, "float32"), cast(jnp.clip(jnp.round(zero_point), low, high), "int64")
    scale, place = (y.reshape(-1)[0] if axis is None else _column(y, x, axis) for y in pair)
    return scale, place


def _fake_quantize_learnable_per_channel_affine(
    self: Array,
    scale: Array,
    zero_point: Array,
    axis: int | None,
    quant_min: int,
    quant_max: int,
    grad_factor: Array | float = 1.0,
) -> Array:
    """Without an axis, there is one scale and one zero point."""
    scale, place = _learned(self, scale, zero_point, axis, quant_min, quant_max)
    return _quantized(self, scale, place, quant_min, quant_max)[0]


def _gradients(
    grad: Array, x: Array, scale: Array, place: Array, low: int, high: int, factor: Array | float
) -> tuple[Array, Array, Array]:
    """Gradients of x, and elementwise of scale and zero point (LSQ, https://arxiv.org/abs/1902.08153)."""
    step = _steps(x, scale, place)
    wide = step.dtype
    scale, place, dy = cast(scale, wide), cast(place, wide), cast(grad, wide)
    inside = (step >= low) & (step <= high)
    clamped = jnp.clip(step, low, high)
    error = ((clamped - place) * scale - cast(x, wide)) / scale
    dscale = dy * jnp.where(inside, error, clamped - place) * cast(factor, wide)
    dplace = jnp.where(inside, cast(0, wide), -scale * dy) * cast(factor, wide)
    return cast(jnp.where(inside, dy, cast(0, wide)), x.dtype), dscale, dplace


def _fake_quantize_learnable_per_channel_affine_backward(
    grad: Array,
    self: Array,
    scale: Array,
    zero_point: Array,
    axis: int | None,
    quant_min: int,
    quant_max: int,
    grad_factor: Array | float = 1.0,
) -> tuple[Array, Array, Array]:
    """The gradients of `self`, scale and zero point."""
    column, place = _learned(self, scale, zero_point, axis, quant_min, quant_max)
    dx, dscale, dplace = _gradients(grad, self, column, place, quant_min, quant_max, grad_factor)
    rest = tuple(d for d in range(self.ndim) if axis is None or d != axis % self.ndim)
    return dx, cast(dscale.sum(rest), scale.dtype).reshape(-1), cast(dplace.sum(rest), zero_point.dtype).reshape(-1)


_SMALLEST = 6.1e-5  # about the smallest normal float16; smaller scales are raised to it (fbgemm's QuantUtils)


def choose_qparams(low: Array, high: Array, quant_min: int, quant_max: int, symmetric: bool) -> tuple[Array, Array]:
    """Scale (float32) and zero point (int32) that cover `[low, high]` and 0, as fbgemm chooses them."""
    f32, f64 = jnp.float32, jnp.float64
    low, high = cast(low, f64), cast(high, f64)
    both = (low < 0) & (high > 0)
    if symmetric:
        half = (quant_max - quant_min) // 2
        reach = jnp.maximum(jnp.abs(low / (half + 1)), jnp.abs(high / half))
        low, high = jnp.where(both, -reach * (half + 1), low), jnp.where(both, reach * half, high)
    low, high = cast(cast(jnp.minimum(low, 0.0), f32), f64), cast(cast(jnp.maximum(high, 0.0), f32), f64)
    scale = (high - low) / (quant_max - quant_min)
    narrow = cast(scale, f32)
    scale = jnp.where((narrow == 0) | jnp.isinf(1 / narrow), 0.1, scale)
    small = scale < _SMALLEST
    grown = cast(cast(_SMALLEST / scale, f32), f64)
    span = _SMALLEST * (quant_max - quant_min)
    low, high = (
        jnp.where(small & (low != 0), jnp.where(high == 0, -span, low * grown), low),
        jnp.where(small & (high != 0), jnp.where(low == 0, span, high * grown), high),
    )
    scale = jnp.where(small, _SMALLEST, scale)
    from_low, from_high = quant_min - low / scale, quant_max - high / scale
    low_error, high_error = abs(quant_min) - jnp.abs(low / scale), abs(quant_max) - jnp.abs(high / scale)
    place = jnp.where(low_error < high_error, from_low, from_high)
    if symmetric:
        place = jnp.where((low < 0) & (high > 0), (quant_min + quant_max) / 2, place)
    return cast(scale, f32), cast(jnp.round(jnp.clip(place, quant_min, quant_max)), "int32")


def _fused_moving_avg_obs_fq_helper(
    self: Array,
    observer_on: Array,
    fake_quant_on: Array,
    running_min: Array,
    running_max: Array,
    scale: Array,
    zero_point: Array,
    averaging_const: Array | float,
    quant_min: int,
    quant_max: int,
    ch_axis: int,
    per_row_fake_quant: bool = False,
    symmetric_quant: bool = False,
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Observe, choose the scale, quantize: (output, mask, new statistics). Disabled steps are masked by `where`."""
    if per_row_fake_quant and ch_axis:
        raise RuntimeError("Per-channel FakeQuant in fused_moving_avg_obs_fake_quant is only supported on axis == 0")
    rest = tuple(range(1, self.ndim)) if per_row_fake_quant else None
    observe, quantize = (cast(flag.reshape(-1)[0], bool) for flag in (observer_on, fake_quant_on))

    def moved(running: Array, now: Array) -> Array:
        now = cast(now.reshape(running.shape), running.dtype)
        average = jnp.where(jnp.isinf(running), now, running + cast(averaging_const, running.dtype) * (now - running))
        return jnp.where(observe, average, running)

    low, high = moved(running_min, self.min(rest)), moved(running_max, self.max(rest))
    chosen, place = choose_qparams(low, high, quant_min, quant_max, symmetric_quant)
    scale = jnp.where(quantize, cast(chosen.reshape(scale.shape), scale.dtype), scale)
    zero_point = jnp.where(quantize, cast(place.reshape(zero_point.shape), zero_point.dtype), zero_point)
    if per_row_fake_quant:
        made = fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, 0, quant_min, quant_max)
        output, mask = jnp.where(quantize, made[0], self), made[1] | ~quantize
    else:
        output, mask = _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
            self, scale, zero_point, fake_quant_on, quant_min, quant_max
        )
    return output, mask, low, high, scale, zero_point
