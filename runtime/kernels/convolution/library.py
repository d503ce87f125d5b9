"""The three functions by `lax.conv_general_dilated`: every rank, stride, dilation and group count."""

from __future__ import annotations

import jax
from jax import lax

from tenax.kernels.convolution.geometry import Geometry
from tenax.words import Array


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
    shape = (output_.shape[0], weight.shape[1] * geometry.groups, *geometry.image)
    like = jax.ShapeDtypeStruct(shape, output_.dtype)
    return jax.linear_transpose(lambda x: output(geometry, x, weight), like)(output_)[0]


def weight(geometry: Geometry, output_: Array, image_: Array) -> Array:
    """(N, Co, *out) and (N, Ci, *image) to (Co, Ci/groups, *kernel)."""
    shape = (output_.shape[1], image_.shape[1] // geometry.groups, *geometry.kernel)
    like = jax.ShapeDtypeStruct(shape, output_.dtype)
    return jax.linear_transpose(lambda w: output(geometry, image_, w), like)(output_)[0]
