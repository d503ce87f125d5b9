"""The three functions by `lax.conv_general_dilated`: every rank, stride, dilation and group count."""

from __future__ import annotations

import jax
from jax import lax

from tenax.kernels.convolution.geometry import Geometry
from tenax.words import Array, is_complex, is_float


def output(geometry: Geometry, image: Array, weight: Array) -> Array:
    """(N, Ci, *image) and (Co, Ci/groups, *kernel) to (N, Co, *out)."""
    g = geometry
    axes = zip(g.image, g.padding, g.out, g.stride, g.kernel, g.dilation, strict=True)
    # Use equal pads where the result is the same: cuDNN supports them without a copy.
    even = all(o == (i + 2 * p - d * (k - 1) - 1) // s + 1 for i, p, o, s, k, d in axes)
    pads = [(p, p) for p in g.padding] if even else g.pads
    axes_of_all = tuple(range(g.rank + 2))
    numbers = lax.ConvDimensionNumbers(axes_of_all, axes_of_all, axes_of_all)
    return lax.conv_general_dilated(
        image, weight, g.stride, pads, None, g.dilation, numbers, feature_group_count=g.groups
    )


def image(geometry: Geometry, output_: Array, weight: Array) -> Array:
    """(N, Co, *out) and (Co, Ci/groups, *kernel) to (N, Ci, *image)."""
    if not (is_float(output_) or is_complex(output_)):
        return _image_of_integers(geometry, output_, weight)
    shape = (output_.shape[0], weight.shape[1] * geometry.groups, *geometry.image)
    like = jax.ShapeDtypeStruct(shape, output_.dtype)
    return jax.linear_transpose(lambda x: output(geometry, x, weight), like)(output_)[0]


def _image_of_integers(geometry: Geometry, output_: Array, weight: Array) -> Array:
    """As `image`, written out: JAX transposes no function of integers."""
    g, spatial = geometry, tuple(range(2, weight.ndim))
    parts = weight.reshape(g.groups, -1, *weight.shape[1:]).swapaxes(1, 2)  # (groups, Ci/groups, Co/groups, *kernel)
    kernel = lax.rev(parts.reshape(-1, *parts.shape[2:]), spatial)
    pads = []
    for n, p, out, s, k, d in zip(g.image, g.padding, g.out, g.stride, g.kernel, g.dilation, strict=True):
        reach = d * (k - 1)
        pads.append((reach - p, n + p - (out - 1) * s - 1))
    numbers = lax.ConvDimensionNumbers(*[tuple(range(weight.ndim))] * 3)
    return lax.conv_general_dilated(
        output_, kernel, [1] * g.rank, pads, g.stride, g.dilation, numbers, feature_group_count=g.groups
    )


def weight(geometry: Geometry, output_: Array, image_: Array) -> Array:
    """(N, Co, *out) and (N, Ci, *image) to (Co, Ci/groups, *kernel)."""
    shape = (output_.shape[1], image_.shape[1] // geometry.groups, *geometry.kernel)
    like = jax.ShapeDtypeStruct(shape, output_.dtype)
    return jax.linear_transpose(lambda w: output(geometry, image_, w), like)(output_)[0]
