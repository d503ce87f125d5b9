"""Sliding blocks as columns, and their sum back into an image (`nn.Unfold`, `nn.Fold`)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from jax import lax

from tenax.kernels.taps import read, transposed, weigh
from tenax.kernels.window import WindowAxis, windows
from tenax.words import Array, cast, opmath


def _table(axis: WindowAxis) -> np.ndarray:
    """The positions (kernel * count,) that the taps of an axis read in its padded image."""
    return (np.arange(axis.kernel)[:, None] * axis.dilation + np.arange(axis.windows) * axis.stride).ravel()


def im2col(
    self: Array, kernel_size: Sequence[int], dilation: Sequence[int], padding: Sequence[int], stride: Sequence[int]
) -> Array:
    """(..., C, H, W) to (..., C * kh * kw, blocks).

    `lax.conv_general_dilated_patches` multiplies by ones and zeros, so an infinity in a (4, 4) image makes 12 of the 36
    elements of its (2, 2) blocks NaN.
    """
    if min(padding) < 0:
        found = f"pad_height: {padding[0]} pad_width: {padding[-1]}"
        raise RuntimeError(f"padding should be non-negative, but got {found}")
    rows, columns = windows(self.shape[-2:], kernel_size, stride, padding, dilation, False)
    pads = [(0, 0, 0)] * (self.ndim - 2) + [(a.padding, a.padding, 0) for a in (rows, columns)]
    x = lax.pad(self, cast(0, self.dtype), pads)
    x = read(read(x, self.ndim - 2, _table(rows)), self.ndim - 1, _table(columns))
    planes = prod(self.shape[:-2])
    x = x.reshape(planes, rows.kernel, rows.windows, columns.kernel, columns.windows).transpose(0, 1, 3, 2, 4)
    return x.reshape(*self.shape[:-3], self.shape[-3] * rows.kernel * columns.kernel, rows.windows * columns.windows)


def col2im(
    self: Array,
    output_size: Sequence[int],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Array:
    """(..., C * kh * kw, blocks) to (..., C, *output_size): each pixel sums the blocks that contain it."""
    axes = windows(output_size, kernel_size, stride, padding, dilation, False)
    rows, columns = axes
    channels = self.shape[-2] // (rows.kernel * columns.kernel)
    planes = prod(self.shape[:-2]) * channels
    x = cast(self, opmath(self.dtype))
    x = x.reshape(planes, rows.kernel, columns.kernel, rows.windows, columns.windows).transpose(0, 1, 3, 2, 4)
    x = x.reshape(planes, rows.kernel * rows.windows, columns.kernel * columns.windows)
    for number, axis in enumerate(axes, 1):
        size = axis.size + 2 * axis.padding
        table, _ = transposed(_table(axis)[:, None], size)
        x = weigh(x, number, table[axis.padding : size - axis.padding])
    return cast(x.reshape(*self.shape[:-2], channels, *output_size), self.dtype)
