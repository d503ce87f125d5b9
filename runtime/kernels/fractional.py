"""Fractional max pooling: windows at pseudo-random positions (Graham, arXiv:1412.6071)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

import jax.numpy as jnp
from jax import lax

from tenax.kernels.pool import Best, better, following, nothing
from tenax.kernels.unpool import per_plane
from tenax.kernels.window import Sizes, spread
from tenax.words import Array, cast


def _fractional_starts(sample: Array, size: int, kernel: int, count: int) -> Array:
    """Starts of `count` windows at pseudo-random distances, (planes, count)."""
    if count < 2:
        return jnp.full((*sample.shape, count), size - kernel, jnp.int32)
    alpha = lax.full((), (size - kernel) / (count - 1), sample.dtype)
    steps = lax.iota(sample.dtype, count - 1)
    shifted = cast((steps + sample[:, None]) * alpha, jnp.int32) - cast(sample * alpha, jnp.int32)[:, None]
    return jnp.concatenate([shifted, jnp.full((*sample.shape, 1), size - kernel, jnp.int32)], axis=1)


def _fractional_max_pool(
    self: Array, kernel_size: Sizes, output_size: Sizes, random_samples: Array, *, order: Sequence[int]
) -> Best:
    """Maxima of windows at random positions of each plane, and their int64 positions.

    `random_samples` in [0, 1) are (N, C, rank); `order[i]` is the number of the sample of axis i.
    """
    rank = len(order)
    kernel, counts = spread(kernel_size, rank), spread(output_size, rank)
    sizes = self.shape[self.ndim - rank :]
    planes = per_plane(self, rank)
    samples = random_samples.reshape(-1, rank)[: planes.shape[0]]  # torch also accepts samples of a longer batch
    places = jnp.zeros((planes.shape[0], 1, 1), jnp.int32)
    for number, size, k, count in zip(order, sizes, kernel, counts, strict=True):
        starts = _fractional_starts(samples[:, number], size, k, count)[:, None, :, None, None]
        along = starts + lax.iota(jnp.int32, k)
        along = places[:, :, None, :, None] * size + along
        places = along.reshape(planes.shape[0], places.shape[1] * count, places.shape[2] * k)
    flat = places.reshape(planes.shape[0], prod(places.shape[1:]))
    values = jnp.take_along_axis(planes, flat, axis=1, mode="clip").reshape(places.shape)
    values, places = lax.reduce((lax.stop_gradient(values), places), nothing(self.dtype), better, (2,))
    shape = (*self.shape[: self.ndim - rank], *counts)
    return following(self, (values.reshape(shape), places.reshape(shape)), rank)


fractional_max_pool2d = partial(_fractional_max_pool, order=(1, 0))
fractional_max_pool3d = partial(_fractional_max_pool, order=(0, 1, 2))
