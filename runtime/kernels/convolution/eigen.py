"""The functions of `library`, so stated that XLA's CPU backend computes them with Eigen.

XLA exchanges image and kernel where the kernel has more pixels than the image, before padding, and reverses the window.
Its CPU backend computes a reversed window with a plain loop, which takes up to a thousand times as long. So such an
image is padded in memory first; the cost is that copy. The image of windows that do not overlap, as in the gradient of
a patch embedding, is one matrix product without the zeros between the windows.

Eigen takes two to six times as long for an odd number of channels, such as three, when there are 17 to 32 outputs. Then
channels of zeros are added to make it a multiple of four.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod

import jax.numpy as jnp
from jax import lax

from tenax.kernels.convolution import library
from tenax.kernels.convolution.geometry import Geometry
from tenax.words import Array


def in_memory(x: Array, pads: Sequence[tuple[int, int]], steps: Sequence[int] | None = None) -> Array:
    """`x` with its last axes padded, with elements `steps` apart, and materialized."""
    steps = steps or (1,) * len(pads)
    config = [(0, 0, 0)] * (x.ndim - len(pads))
    config += [(low, high, step - 1) for (low, high), step in zip(pads, steps, strict=True)]
    return lax.optimization_barrier(lax.pad(x, jnp.zeros((), x.dtype), config))


def _exact(geometry: Geometry, image: Array) -> tuple[Geometry, Array]:
    """The geometry without padding, and the image that its windows fill."""
    padded = in_memory(image, geometry.pads)
    return geometry._replace(image=padded.shape[2:], padding=(0,) * geometry.rank), padded


def has_odd_channels(geometry: Geometry, weight: Array) -> bool:
    """Whether the number of channels of the image makes Eigen slow."""
    outputs, inputs = weight.shape[:2]
    return geometry.groups == 1 and inputs % 2 == 1 and inputs > 1 and 16 < outputs <= 32


def output(geometry: Geometry, image: Array, weight: Array) -> Array:
    """(N, Ci, *image) and (Co, Ci/groups, *kernel) to (N, Co, *out)."""
    if prod(geometry.kernel) > prod(geometry.image):
        geometry, image = _exact(geometry, image)
    if has_odd_channels(geometry, weight):
        more = [(0, 0, 0), (0, -weight.shape[1] % 4, 0), *[(0, 0, 0)] * geometry.rank]
        image, weight = (lax.pad(x, jnp.zeros((), x.dtype), more) for x in (image, weight))
    return library.output(geometry, image, weight)


def image(geometry: Geometry, output_: Array, weight: Array) -> Array:
    """(N, Co, *out) and (Co, Ci/groups, *kernel) to (N, Ci, *image)."""
    g = geometry
    if g.groups > 1 or prod(g.kernel) <= prod(g.out):
        return library.image(g, output_, weight)
    if g.apart:
        return _image_of_windows(g, output_, weight)
    axes = zip(g.image, g.padding, g.out, g.stride, g.kernel, g.dilation, strict=True)
    pads = [(d * (k - 1) - p, n + p - (o - 1) * s - 1) for n, p, o, s, k, d in axes]
    padded = in_memory(output_, pads, g.stride)
    ones, zeros = (1,) * g.rank, (0,) * g.rank
    reverse = Geometry(ones, zeros, g.dilation, 1, padded.shape[2:], g.kernel, g.image, g.precision)
    return library.output(reverse, padded, lax.rev(weight.swapaxes(0, 1), tuple(range(2, weight.ndim))))


def _image_of_windows(geometry: Geometry, output_: Array, weight: Array) -> Array:
    """As `image`, for windows that do not overlap: (N, *out, Ci, *kernel) is moved to its places."""
    g = geometry
    windows = lax.dot_general(output_, weight, (((1,), (0,)), ((), ())))
    gaps = [(0, s - (k - 1) * d - 1, d - 1) for s, k, d in zip(g.stride, g.kernel, g.dilation, strict=True)]
    windows = lax.pad(windows, jnp.zeros((), windows.dtype), [(0, 0, 0)] * (g.rank + 2) + gaps)
    pairs = itertools.chain.from_iterable((1 + i, g.rank + 2 + i) for i in range(g.rank))
    whole = windows.transpose(0, g.rank + 1, *pairs)
    whole = whole.reshape(*whole.shape[:2], *(o * s for o, s in zip(g.out, g.stride, strict=True)))
    axes = zip(g.image, g.padding, g.out, g.stride, strict=True)
    ends = [(-p, n + p - o * s, 0) for n, p, o, s in axes]
    return lax.pad(whole, jnp.zeros((), whole.dtype), [(0, 0, 0), (0, 0, 0), *ends])


def weight(geometry: Geometry, output_: Array, image_: Array) -> Array:
    """(N, Co, *out) and (N, Ci, *image) to (Co, Ci/groups, *kernel)."""
    if prod(geometry.out) > prod(geometry.image):
        geometry, image_ = _exact(geometry, image_)
    return library.weight(geometry, output_, image_)
