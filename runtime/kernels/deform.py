"""Deformable convolution: each tap of the kernel reads the image at an offset, optionally weighted by a mask.

Dai et al., Deformable Convolutional Networks, 2017; with the mask, Zhu et al., Deformable ConvNets v2, 2019.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


def deform_conv2d(
    input: Array,
    weight: Array,
    offset: Array,
    mask: Array,
    bias: Array,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> Array:
    """The convolution, (n, out, h', w').

    Args:
        input: (n, c, h, w).
        weight: (out, c / groups, kh, kw).
        offset: (n, 2 * offset_groups * kh * kw, h', w'), the vertical and horizontal offset of each tap.
        mask: (n, offset_groups * kh * kw, h', w'); not read without `use_mask`.
        bias: (out,).
    """
    n, channels, height, width = input.shape
    out, _, kh, kw = weight.shape
    down, across = offset.shape[2:]
    taps, dtype = kh * kw, input.dtype
    moves = offset.reshape(n, offset_groups, taps, 2, down, across)
    rows = (jnp.arange(kh) * dilation_h).repeat(kw)[:, None, None] + (jnp.arange(down) * stride_h - pad_h)[:, None]
    columns = jnp.tile(jnp.arange(kw) * dilation_w, kh)[:, None, None] + (jnp.arange(across) * stride_w - pad_w)
    y = rows.astype(dtype) + moves[:, :, :, 0]
    x = columns.astype(dtype) + moves[:, :, :, 1]
    image = input.reshape(n, offset_groups, -1, height, width)
    read = bilinear(image, y, x)  # (n, groups of offsets, taps, down, across, channels)
    if use_mask:
        read = read * mask.reshape(n, offset_groups, taps, down, across, 1)
    read = read.transpose(0, 1, 5, 2, 3, 4).reshape(n, groups, channels // groups, taps, down, across)
    kernel = weight.reshape(groups, out // groups, channels // groups, taps)
    result = jnp.einsum("ngctyx,goct->ngoyx", read, kernel, precision="highest")
    return result.reshape(n, out, down, across) + bias[:, None, None]


def _deform_conv2d_backward(
    grad: Array,
    input: Array,
    weight: Array,
    offset: Array,
    mask: Array,
    bias: Array,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> tuple[Array, ...]:
    """The gradients of input, weight, offset, mask and bias."""
    rest = (stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups, offset_groups, use_mask)
    _, pull = jax.vjp(lambda x, w, o, m, b: deform_conv2d(x, w, o, m, b, *rest), input, weight, offset, mask, bias)
    return pull(grad)


def bilinear(image: Array, y: Array, x: Array) -> Array:
    """Interpolate the image at real positions, zero outside: (n, g, c, h, w) at (n, g, ...) to (n, g, ..., c)."""
    height, width = image.shape[3:]
    batch = np.arange(image.shape[0]).reshape(-1, 1, *[1] * (y.ndim - 2))
    group = np.arange(image.shape[1]).reshape(-1, *[1] * (y.ndim - 2))
    top, left = jnp.floor(y), jnp.floor(x)
    inside = (y > -1) & (y < height) & (x > -1) & (x < width)
    total = jnp.zeros((), image.dtype)
    for row, down in ((top, 1 - (y - top)), (top + 1, y - top)):
        for column, across in ((left, 1 - (x - left)), (left + 1, x - left)):
            valid = inside & (row >= 0) & (row < height) & (column >= 0) & (column < width)
            i = jnp.where(valid, row, 0).astype(np.int32)
            j = jnp.where(valid, column, 0).astype(np.int32)
            weight = jnp.where(valid, down * across, 0)
            total = total + image[batch, group, :, i, j] * weight[..., None]
    return total
