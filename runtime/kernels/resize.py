"""Interpolation of 1 to 3 spatial dimensions, forward and backward: nearest neighbours, linear, cubic, antialiased.

Every filter is separable and applied axis by axis, by a table of the inputs that each output along the axis reads, and
their weights. The formulas are those of ATen/native/UpSample.h; the antialiasing ones follow Pillow's
`ImagingResample`, and widen the filter when an image shrinks. Coordinates are computed in `dtype`, as in torch:
positions in a float32 image are rounded to float32.

`scales*` are the user's own factors, Python floats or None, which override the ratio of the sizes (1-d interpolation
has only `scales`). The tables depend on them, so each value is compiled, like each size. `jax.image.resize` supports
neither them nor `align_corners`, and its cubic filter has a = -0.5 instead of -0.75.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import jax.numpy as jnp
import numpy as np

from tenax.kernels.taps import read, transposed, weigh
from tenax.words import FLOAT32, FLOAT64, Array, DType, cast, is_int, opmath

Table = tuple[np.ndarray, np.ndarray | None]
Scale = float | None


def _factors(rank: int, scales_d: Scale, scales_h: Scale, scales_w: Scale, scales: Scale) -> tuple[Scale, ...]:
    """The user's factor of each axis, from torch's argument names, which depend on the rank."""
    return (scales,) if rank == 1 else (scales_d, scales_h, scales_w)[3 - rank :]


def _scale(size: int, out: int, align_corners: bool, scale: Scale, dtype: DType) -> np.floating:
    """Input pixels per output pixel. `scale`, the user's own factor, overrides the ratio of the sizes."""
    kind = dtype.type
    if align_corners:
        return kind(size - 1) / kind(out - 1) if out > 1 else kind(0)
    if scale is not None and scale > 0:
        return kind(1.0 / scale)
    return kind(size) / kind(out)


def _source(size: int, out: int, align_corners: bool, scale: Scale, dtype: DType) -> np.ndarray:
    """The input coordinate of each output pixel; pixel centres correspond unless corners are aligned."""
    half = dtype.type(0.5)
    ratio = _scale(size, out, align_corners, scale, dtype)
    outputs = np.arange(out).astype(dtype)
    return ratio * outputs if align_corners else ratio * (outputs + half) - half


def _nearest(size: int, out: int, align_corners: bool, scale: Scale, dtype: DType, *, shift: float) -> Table:
    """One tap, computed in float32. `shift` is the place in a pixel that is its position."""
    outputs = np.arange(out)
    if out == size:
        return outputs[:, None], None
    if out == 2 * size:
        return outputs[:, None] // 2, None
    ratio = _scale(size, out, False, scale, FLOAT32)
    positions = np.floor((outputs.astype(FLOAT32) + FLOAT32.type(shift)) * ratio).astype(np.int64)
    return np.minimum(positions, size - 1)[:, None], None


def _linear(size: int, out: int, align_corners: bool, scale: Scale, dtype: DType) -> Table:
    """Two taps."""
    if out == size:
        return np.arange(out)[:, None], None
    source = np.maximum(_source(size, out, align_corners, scale, dtype), 0)
    low = np.minimum(source.astype(np.int64), size - 1)
    part = np.clip(source - low.astype(dtype), 0, 1).astype(dtype)
    return np.stack([low, np.minimum(low + 1, size - 1)], 1), np.stack([1 - part, part], 1)


def _keys(x: np.ndarray, a: float) -> np.ndarray:
    """Keys' cubic convolution kernel (IEEE Trans. ASSP 29, 1981) with free parameter `a`."""
    x = np.abs(x)
    inner = ((a + 2) * x - (a + 3)) * x * x + 1
    outer = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x < 1, inner, np.where(x < 2, outer, 0))


def _cubic(size: int, out: int, align_corners: bool, scale: Scale, dtype: DType) -> Table:
    """Four taps, clamped to the border; the parameter is OpenCV's -0.75."""
    source = _source(size, out, align_corners, scale, dtype)
    low = np.minimum(np.floor(source).astype(np.int64), size - 1)
    part = np.clip(source - low.astype(dtype), 0, 1)
    offsets = np.arange(-1, 3)
    weights = _keys(part[:, None] - offsets.astype(dtype), -0.75)
    return np.clip(low[:, None] + offsets, 0, size - 1), weights.astype(dtype)


def _antialiased(
    size: int,
    out: int,
    align_corners: bool,
    scale: Scale,
    dtype: DType,
    *,
    function: Callable[[np.ndarray], np.ndarray],
    width: int,
) -> Table:
    """As many taps as the filter covers; those beyond the border are omitted, and the weights sum to one.

    `width` is the support of `function`; both are stretched by the scale when the image shrinks.
    """
    kind = dtype.type
    ratio = _scale(size, out, align_corners, scale, dtype)
    stretch = max(ratio, kind(1))
    support = kind(width * 0.5) * stretch
    centre = ratio * (np.arange(out).astype(dtype) + kind(0.5))
    low = np.maximum((centre - support + kind(0.5)).astype(np.int64), 0)
    high = np.minimum((centre + support + kind(0.5)).astype(np.int64), size)
    table = low[:, None] + np.arange(max((high - low).max(initial=0), 1))
    present = table < high[:, None]
    weights = function((table.astype(dtype) - centre[:, None] + kind(0.5)) * (kind(1) / stretch)) * present
    total = weights.sum(1, keepdims=True)
    weights = weights / np.where(total == 0, 1, total)
    return np.where(present, table, -1), weights.astype(dtype)


def _fixed(table: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """(table, int32 weights in units of 2**-bits, bits), as torch resizes uint8 images.

    The largest weight has 15 bits. An input that an output reads twice, at a border, has one weight.
    """
    first = (table[:, :, None] == table[:, None, :]).argmax(1)
    merged = np.zeros_like(weights)
    np.add.at(merged, (np.arange(len(table))[:, None], first), weights)
    greatest = float(merged.max(initial=0))
    bits = next((b for b in range(22) if int(0.5 + greatest * 2 ** (b + 1)) >= 1 << 15), 22)
    return table, (merged * 2.0**bits + np.copysign(0.5, merged)).astype(np.int32), bits


# (input size, output size, align_corners, the user's scale, dtype of the coordinates) -> the table of one axis
Rule = Callable[[int, int, bool, Scale, DType], Table]


def _upsample(
    self: Array,
    output_size: Sequence[int],
    align_corners: bool = False,
    scales_d: Scale = None,
    scales_h: Scale = None,
    scales_w: Scale = None,
    scales: Scale = None,
    *,
    rule: Rule,
) -> Array:
    """(N, C, *sizes) to `output_size`. Integers (images) are rounded after each axis, from the last, as in Pillow."""
    factors = _factors(len(output_size), scales_d, scales_h, scales_w, scales)
    wide, dtype = (np.dtype(np.int32), FLOAT64) if is_int(self) else (opmath(self.dtype),) * 2
    x, axes = self, list(range(2, self.ndim))[::-1]
    if not is_int(self):
        axes.sort(key=lambda a: output_size[a - 2] / self.shape[a])  # shrinking axes first: less work
    for axis in axes:
        table, weights = rule(x.shape[axis], output_size[axis - 2], align_corners, factors[axis - 2], dtype)
        if weights is None:
            x = read(x, axis, table[:, 0])
        elif not is_int(self):
            x = weigh(cast(x, wide), axis, table, weights)
        else:
            table, weights, bits = _fixed(table, weights)
            limits = jnp.iinfo(self.dtype)
            total = weigh(cast(x, wide), axis, table, weights)
            x = jnp.clip((total + (1 << bits >> 1)) >> bits, limits.min, limits.max)
    return cast(x, self.dtype)


def _upsample_backward(
    grad_output: Array,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool = False,
    scales_d: Scale = None,
    scales_h: Scale = None,
    scales_w: Scale = None,
    scales: Scale = None,
    *,
    rule: Rule,
) -> Array:
    """The gradient of an image of `input_size`, by the transposed sums of `_upsample`."""
    factors = _factors(len(output_size), scales_d, scales_h, scales_w, scales)
    x = cast(grad_output, opmath(grad_output.dtype))
    for axis in sorted(range(2, x.ndim), key=lambda a: input_size[a] / grad_output.shape[a]):
        size = input_size[axis]
        table, weights = rule(size, x.shape[axis], align_corners, factors[axis - 2], x.dtype)
        x = weigh(x, axis, *transposed(table, size, weights))
    return cast(x, grad_output.dtype)


_corner, _centre = partial(_nearest, shift=0.0), partial(_nearest, shift=0.5)
_triangle = partial(_antialiased, function=lambda x: np.maximum(1 - np.abs(x), 0), width=2)
_pillow_cubic = partial(_antialiased, function=partial(_keys, a=-0.5), width=4)
_lanczos = partial(_antialiased, function=lambda x: np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0), width=6)

# Functions that differ only in the filter; `upsample_linear` also serves `bilinear2d` and `trilinear3d`.
upsample_nearest = partial(_upsample, rule=_corner)
upsample_nearest_backward = partial(_upsample_backward, rule=_corner)
upsample_nearest_exact = partial(_upsample, rule=_centre)
upsample_nearest_exact_backward = partial(_upsample_backward, rule=_centre)
upsample_linear = partial(_upsample, rule=_linear)
upsample_linear_backward = partial(_upsample_backward, rule=_linear)
upsample_cubic = partial(_upsample, rule=_cubic)
upsample_cubic_backward = partial(_upsample_backward, rule=_cubic)
upsample_linear_aa = partial(_upsample, rule=_triangle)
upsample_linear_aa_backward = partial(_upsample_backward, rule=_triangle)
upsample_cubic_aa = partial(_upsample, rule=_pillow_cubic)
upsample_cubic_aa_backward = partial(_upsample_backward, rule=_pillow_cubic)
upsample_lanczos_aa = partial(_upsample, rule=_lanczos)
upsample_lanczos_aa_backward = partial(_upsample_backward, rule=_lanczos)
