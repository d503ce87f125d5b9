"""Tables of torch's interpolation filters: the inputs that each output along one axis reads, and their weights.

Coordinates are computed in `dtype`, as in torch: positions in a float32 image are rounded to float32. The formulas are
those of ATen/native/UpSample.h; the antialiasing ones follow Pillow's `ImagingResample`, and widen the filter when an
image shrinks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from tenax.words import FLOAT32, DType

Table = tuple[np.ndarray, np.ndarray | None]
Scale = float | None


def factors(rank: int, scales_d: Scale, scales_h: Scale, scales_w: Scale, scales: Scale) -> tuple[Scale, ...]:
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


def nearest(size: int, out: int, scale: Scale, shift: float) -> Table:
    """One tap. `shift` is 0 for torch's legacy `nearest` and 0.5 for `nearest-exact`; always in float32."""
    outputs = np.arange(out)
    if out == size:
        return outputs[:, None], None
    if out == 2 * size:
        return outputs[:, None] // 2, None
    ratio = _scale(size, out, False, scale, FLOAT32)
    positions = np.floor((outputs.astype(FLOAT32) + FLOAT32.type(shift)) * ratio).astype(np.int64)
    return np.minimum(positions, size - 1)[:, None], None


def linear(size: int, out: int, align_corners: bool, scale: Scale, dtype: DType) -> Table:
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


def cubic(size: int, out: int, align_corners: bool, scale: Scale, dtype: DType) -> Table:
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


def fixed(table: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """(table, int32 weights in units of 2**-bits, bits), as torch resizes uint8 images.

    The largest weight has 15 bits. An input that an output reads twice, at a border, has one weight.
    """
    first = (table[:, :, None] == table[:, None, :]).argmax(1)
    merged = np.zeros_like(weights)
    np.add.at(merged, (np.arange(len(table))[:, None], first), weights)
    greatest = float(merged.max(initial=0))
    bits = next((b for b in range(22) if int(0.5 + greatest * 2 ** (b + 1)) >= 1 << 15), 22)
    return table, (merged * 2.0**bits + np.copysign(0.5, merged)).astype(np.int32), bits


triangle = partial(_antialiased, function=lambda x: np.maximum(1 - np.abs(x), 0), width=2)
pillow_cubic = partial(_antialiased, function=partial(_keys, a=-0.5), width=4)
lanczos = partial(_antialiased, function=lambda x: np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0), width=6)
