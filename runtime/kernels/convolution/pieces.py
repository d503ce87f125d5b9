"""Convolutions as several dense two-dimensional ones, which XLA's CPU backend computes with Eigen's products."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax.numpy as jnp
from jax import lax

from tenax.kernels.convolution import eigen
from tenax.kernels.convolution.geometry import Function, Geometry
from tenax.words import Array, cast, opmath

# Groups of few channels are merged into blocks of up to this many, with zero weights between groups: smaller products
# are no faster in Eigen, and each block is a convolution to compile.
MERGED = 32


def _merged(groups: int, channels: int) -> int:
    """The number of groups in a block."""
    most = max(1, MERGED // channels)
    return next(m for m in range(min(most, groups), 0, -1) if groups % m == 0)


def count(groups: int, channels: int) -> int:
    """The number of convolutions that the `_by_group` methods run, with `channels` per group."""
    return groups // _merged(groups, channels)


def _each_group(one: Function, geometry: Geometry, x: Array, weight: Array) -> Array:
    """Apply a function of (image or output, weight) to each block of groups."""
    groups, merged = geometry.groups, _merged(geometry.groups, max(weight.shape[0] // geometry.groups, weight.shape[1]))
    if merged > 1:
        inside = jnp.eye(merged, dtype=weight.dtype)
        apart = weight.reshape(groups // merged, merged, -1, 1, *weight.shape[1:])
        apart = apart * inside.reshape(1, merged, 1, merged, *(1,) * (weight.ndim - 1))
        weight = apart.reshape(weight.shape[0], merged * weight.shape[1], *weight.shape[2:])
    dense = geometry._replace(groups=1)
    blocks = groups // merged
    parts = zip(jnp.split(x, blocks, 1), jnp.split(weight, blocks, 0), strict=True)
    return lax.concatenate([one(dense, *part) for part in parts], 1)


def output_by_group(geometry: Geometry, image: Array, weight: Array) -> Array:
    """(N, Ci, *image) and (Co, Ci/groups, *kernel) to (N, Co, *out)."""
    return _each_group(output_by_plane if geometry.rank == 3 else eigen.output, geometry, image, weight)


def image_by_group(geometry: Geometry, output: Array, weight: Array) -> Array:
    """(N, Co, *out) and (Co, Ci/groups, *kernel) to (N, Ci, *image)."""
    return _each_group(image_by_plane if geometry.rank == 3 else eigen.image, geometry, output, weight)


def weight_by_group(geometry: Geometry, output: Array, image: Array) -> Array:
    """(N, Co, *out) and (N, Ci, *image) to (Co, Ci/groups, *kernel)."""
    one = weight_by_plane if geometry.rank == 3 else eigen.weight
    dense, groups = geometry._replace(groups=1), geometry.groups
    parts = zip(jnp.split(output, groups, 1), jnp.split(image, groups, 1), strict=True)
    return lax.concatenate([one(dense, *part) for part in parts], 0)


def _planes(geometry: Geometry, image: Array) -> Callable[[int], Array]:
    """A function from a tap along the first axis to the planes that it reads: (N*out, Ci, *plane)."""
    g = geometry
    padded = lax.pad(image, jnp.zeros((), image.dtype), [(0, 0, 0), (0, 0, 0), (*g.pads[0], 0), (0, 0, 0), (0, 0, 0)])
    padded = padded.swapaxes(1, 2)

    def read(tap: int) -> Array:
        start = tap * g.dilation[0]
        x = lax.slice_in_dim(padded, start, start + (g.out[0] - 1) * g.stride[0] + 1, g.stride[0], 1)
        return x.reshape(-1, *x.shape[2:])

    return read


def _flat(output: Array) -> Array:
    """(N, Co, *out) to (N*out, Co, *plane)."""
    return output.swapaxes(1, 2).reshape(-1, output.shape[1], *output.shape[3:])


def output_by_plane(geometry: Geometry, image: Array, weight: Array) -> Array:
    """The output of a 3-d convolution: each tap along the first axis is a convolution of planes."""
    g, batch = geometry, image.shape[0]
    wide, weight = (cast(x, opmath(x.dtype)) for x in (image, weight))
    read = _planes(g, wide)
    terms = [eigen.output(g.planes, read(tap), weight[:, :, tap]) for tap in range(g.kernel[0])]
    total = cast(functools.reduce(lax.add, terms), image.dtype)
    return total.reshape(batch, g.out[0], *total.shape[1:]).swapaxes(1, 2)


def image_by_plane(geometry: Geometry, output: Array, weight: Array) -> Array:
    """(N, Co, *out) of three dimensions to (N, Ci, *image)."""
    g, batch = geometry, output.shape[0]
    wide, weight = (cast(x, opmath(x.dtype)) for x in (output, weight))
    flat = _flat(wide)

    def term(tap: int) -> Array:
        x = eigen.image(g.planes, flat, weight[:, :, tap])
        x = x.reshape(batch, g.out[0], *x.shape[1:])
        low, step = tap * g.dilation[0] - g.padding[0], g.stride[0]
        ends = (low, g.image[0] - low - (g.out[0] - 1) * step - 1, step - 1)
        return lax.pad(x, jnp.zeros((), x.dtype), [(0, 0, 0), ends, (0, 0, 0), (0, 0, 0), (0, 0, 0)])

    return cast(functools.reduce(lax.add, map(term, range(g.kernel[0]))), output.dtype).swapaxes(1, 2)


def weight_by_plane(geometry: Geometry, output: Array, image: Array) -> Array:
    """(N, Co, *out) and (N, Ci, *image) of three dimensions to (Co, Ci, *kernel)."""
    g = geometry
    wide, flat = cast(image, opmath(image.dtype)), _flat(cast(output, opmath(output.dtype)))
    read = _planes(g, wide)
    return cast(jnp.stack([eigen.weight(g.planes, flat, read(tap)) for tap in range(g.kernel[0])], 2), output.dtype)
