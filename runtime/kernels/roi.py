"""Regions of interest: each box of an image is divided into bins, and each bin reduced to one number per channel.

Girshick, Fast R-CNN, 2015 (`pool`); He et al., Mask R-CNN, 2017 (`align`); Dai et al., R-FCN, 2016 (`ps`: each bin has
its own channels). Bins of different boxes differ in size, so a loop visits the elements of all bins together, with as
many steps as the largest bin has elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from tenax.kernels import loops
from tenax.words import cast, opmath


class SampleAxis(NamedTuple):
    """The samples of the bins along one axis."""

    start: Array  # (k, 1), start of each box
    bins: Array  # (bins,), bin numbers
    size: Array  # (k, 1), size of a bin
    steps: Array  # (k, 1) samples in a bin
    extent: int  # of the image

    def at(self, i: Array) -> tuple[tuple[Array, Array], ...]:
        """Sample `i` of each bin, (k, bins), as two positions in the image and their weights."""
        i = cast(i, self.size.dtype)
        place = self.start + self.bins * self.size + (i + 0.5) * self.size / self.steps
        valid = (i < self.steps) & (place >= -1) & (place <= self.extent)
        place = jnp.clip(place, 0, self.extent - 1)
        low = jnp.floor(place)
        high = jnp.minimum(low + 1, self.extent - 1)
        part = place - low
        weights = (jnp.where(valid, 1 - part, 0), jnp.where(valid, part, 0))
        return tuple((jnp.where(valid, p, 0).astype(np.int32), w) for p, w in zip((low, high), weights, strict=True))


def _axis(low: Array, high: Array, bins: int, samples: int, extent: int, aligned: bool) -> SampleAxis:
    length = (high - low)[:, None]
    if not aligned:
        length = jnp.maximum(length, 1)
    size = length / bins
    steps = jnp.full_like(size, samples) if samples > 0 else jnp.ceil(length / bins)
    return SampleAxis(low[:, None], jnp.arange(bins, dtype=low.dtype), size, steps, extent)


def _axes(
    rois: Array, scale: Array, bins: tuple[int, int], samples: int, image: tuple[int, ...], half: bool, aligned: bool
) -> tuple[Array, SampleAxis, SampleAxis]:
    """(image number of each box, y axis, x axis)."""
    shift = 0.5 if half else 0.0
    corners = rois[:, 1:] * cast(scale, rois.dtype) - shift
    x, y = (_axis(corners[:, i], corners[:, i + 2], bins[1 - i], samples, image[1 - i], aligned) for i in (0, 1))
    return rois[:, 0].astype(np.int32), y, x


def _over(y: SampleAxis, x: SampleAxis, step: Callable[..., Array], start: Array) -> Array:
    """Fold `step(row, column, weight, carry)` over the elements that samples read; weights average over each bin."""
    count = jnp.maximum(y.steps * x.steps, 1)[:, :, None]
    rows, columns = (jnp.max(a.steps, initial=0).astype(np.int32) for a in (y, x))

    def body(t: Array, carry: Array) -> Array:
        for i, down in y.at(t // columns):
            for j, across in x.at(t % columns):
                carry = step(i[:, :, None], j[:, None, :], down[:, :, None] * across[:, None, :] / count, carry)
        return carry

    return loops.fori_loop(0, rows * columns, body, start)


def roi_align(
    input: Array,
    rois: Array,
    spatial_scale: Array,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Array:
    """The mean of bilinear samples in each bin, (k, c, pooled_height, pooled_width).

    Args:
        input: (n, c, h, w).
        rois: (k, 5), each the number of an image and x1, y1, x2, y2.
        spatial_scale: factor from the coordinates of the boxes to those of `input`.
        sampling_ratio: samples along each axis of a bin; if 0 or negative, as many as it has pixels.
        aligned: whether pixels are points at the centres of squares, and boxes may be smaller than a pixel.
    """
    image = cast(input, opmath(input.dtype)).transpose(0, 2, 3, 1)
    bins = pooled_height, pooled_width
    b, y, x = _axes(cast(rois, image.dtype), spatial_scale, bins, sampling_ratio, input.shape[2:], aligned, aligned)

    def step(i: Array, j: Array, weight: Array, total: Array) -> Array:
        return total + image[b[:, None, None], i, j] * weight[..., None]

    start = jnp.zeros((len(rois), *bins, input.shape[1]), image.dtype)
    return cast(_over(y, x, step, start).transpose(0, 3, 1, 2), input.dtype)


def _roi_align_backward(
    grad: Array,
    rois: Array,
    spatial_scale: Array,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Array:
    """The gradient of the image: each sample adds its part at the positions from which it was read."""
    g = cast(grad, opmath(grad.dtype)).transpose(0, 2, 3, 1)
    bins = pooled_height, pooled_width
    b, y, x = _axes(cast(rois, g.dtype), spatial_scale, bins, sampling_ratio, (height, width), aligned, aligned)

    def step(i: Array, j: Array, weight: Array, total: Array) -> Array:
        return total.at[b[:, None, None], i, j].add(g * weight[..., None])

    total = _over(y, x, step, jnp.zeros((batch_size, height, width, channels), g.dtype))
    return cast(total.transpose(0, 3, 1, 2), grad.dtype)


def ps_roi_align(
    input: Array, rois: Array, spatial_scale: Array, pooled_height: int, pooled_width: int, sampling_ratio: int
) -> tuple[Array, Array]:
    """`roi_align` in which each bin reads channels of its own, and the channel from which each number was read."""
    bins = pooled_height, pooled_width
    n, channels, height, width = input.shape
    image = cast(input, opmath(input.dtype)).transpose(0, 2, 3, 1).reshape(n, height, width, -1, *bins)
    b, y, x = _axes(cast(rois, image.dtype), spatial_scale, bins, sampling_ratio, (height, width), True, True)
    p, q = np.arange(pooled_height)[:, None], np.arange(pooled_width)

    def step(i: Array, j: Array, weight: Array, total: Array) -> Array:
        return total + image[b[:, None, None], i, j, :, p, q] * weight[..., None]

    start = jnp.zeros((len(rois), *bins, image.shape[3]), image.dtype)
    result = cast(_over(y, x, step, start).transpose(0, 3, 1, 2), input.dtype)
    return result, jnp.broadcast_to(jnp.arange(channels, dtype=np.int32).reshape(result.shape[1:]), result.shape)


def _ps_roi_align_backward(
    grad: Array,
    rois: Array,
    channel_mapping: Array,
    spatial_scale: Array,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Array:
    """The gradient of the image."""
    g = cast(grad, opmath(grad.dtype)).transpose(0, 2, 3, 1)
    bins = pooled_height, pooled_width
    b, y, x = _axes(cast(rois, g.dtype), spatial_scale, bins, sampling_ratio, (height, width), True, True)
    p, q = np.arange(pooled_height)[:, None], np.arange(pooled_width)

    def step(i: Array, j: Array, weight: Array, total: Array) -> Array:
        return total.at[b[:, None, None], i, j, :, p, q].add(g * weight[..., None])

    total = _over(y, x, step, jnp.zeros((batch_size, height, width, g.shape[3], *bins), g.dtype))
    return cast(total.reshape(batch_size, height, width, channels).transpose(0, 3, 1, 2), grad.dtype)


def _edges(low: Array, high: Array, bins: int, extent: int) -> tuple[Array, Array]:
    """Start and (exclusive) end of bins, (k, bins). Corners of boxes are rounded to integers, both inclusive."""
    start, stop = (jnp.trunc(c + jnp.copysign(0.5, c)) for c in (low, high))  # C's round: halves away from zero
    size = (jnp.maximum(stop - start + 1, 1) / bins)[:, None]
    number = jnp.arange(bins, dtype=low.dtype)
    first, last = jnp.floor(number * size), jnp.ceil((number + 1) * size)
    edges = (jnp.clip(edge + start[:, None], 0, extent).astype(np.int32) for edge in (first, last))
    return tuple(edges)  # type: ignore[return-value]


def roi_pool(
    input: Array, rois: Array, spatial_scale: Array, pooled_height: int, pooled_width: int
) -> tuple[Array, Array]:
    """The maximum of each bin, and its flat position in the channel, -1 for an empty bin."""
    channels, height, width = input.shape[1:]
    corners = rois[:, 1:] * cast(spatial_scale, rois.dtype)
    b = rois[:, 0].astype(np.int32)
    left, right = _edges(corners[:, 0], corners[:, 2], pooled_width, width)
    top, bottom = _edges(corners[:, 1], corners[:, 3], pooled_height, height)
    image = input.transpose(0, 2, 3, 1)
    rows, columns = jnp.max(bottom - top, initial=0), jnp.max(right - left, initial=0)

    def step(t: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        best, at = carry
        i, j = (top + t // columns)[:, :, None], (left + t % columns)[:, None, :]
        valid = (i < bottom[:, :, None]) & (j < right[:, None, :])
        i, j = jnp.where(valid, i, 0), jnp.where(valid, j, 0)
        value = image[b[:, None, None], i, j]
        better = valid[..., None] & (value > best)
        return jnp.where(better, value, best), jnp.where(better, (i * width + j)[..., None], at)

    empty = (top >= bottom)[:, :, None] | (left >= right)[:, None, :]
    least = cast(jnp.float32(-np.finfo(np.float32).max), input.dtype)  # whatever the dtype, as in torchvision
    shape = (len(rois), pooled_height, pooled_width, channels)
    best = jnp.broadcast_to(jnp.where(empty, 0, least).astype(input.dtype)[..., None], shape)
    best, at = loops.fori_loop(0, rows * columns, step, (best, jnp.full(shape, -1, np.int32)))
    return best.transpose(0, 3, 1, 2), at.transpose(0, 3, 1, 2)


def _roi_pool_backward(
    grad: Array,
    rois: Array,
    argmax: Array,
    spatial_scale: Array,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Array:
    """The gradient of the image: that of each bin goes to its maximum."""
    b = rois[:, 0].astype(np.int32)[:, None, None, None]
    total = jnp.zeros((batch_size, channels, height * width), grad.dtype)
    part = jnp.where(argmax < 0, 0, grad)
    total = total.at[b, np.arange(channels)[:, None, None], jnp.maximum(argmax, 0)].add(part)
    return total.reshape(batch_size, channels, height, width)
