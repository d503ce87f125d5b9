"""Sampling of images and volumes at the points of a grid (`F.grid_sample`, `F.affine_grid`).

`jax.scipy.ndimage.map_coordinates` has no cubic interpolation.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod

import jax
import jax.numpy as jnp
from jax import lax

from tenax.words import Array, cast, opmath

# ATen's numbers for the modes.
BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)

# Positions along an axis (integral floats), and the weight of each.
Taps = list[tuple[Array, Array]]


def _unnormalized(x: Array, size: int, align_corners: bool) -> Array:
    """Convert coordinates in [-1, 1] to pixels."""
    return (x + 1) / 2 * (size - 1) if align_corners else ((x + 1) * size - 1) / 2


def _clipped(x: Array, size: int) -> Array:
    """Clip to [0, size - 1]; NaN becomes 0. As in torch, the gradient is zero at the border and beyond."""
    return jnp.where(x > 0, jnp.where(x < size - 1, x, size - 1), 0)


def _reflected(x: Array, size: int, align_corners: bool) -> Array:
    """Reflect at the centres of the border pixels, or at their edges."""
    low, span = (0.0, float(size - 1)) if align_corners else (-0.5, float(size))
    if span == 0:
        return jnp.zeros_like(x)
    x = jnp.where(x < low, low - x, x - low)
    flips, extra = jnp.floor(x / span), lax.rem(x, jnp.full_like(x, span))
    return jnp.where(flips % 2 == 0, extra + low, span - extra + low)


def _inside(x: Array, size: int, padding_mode: int, align_corners: bool) -> Array:
    """Coordinates moved into the image according to the padding mode; `ZEROS` leaves them unchanged."""
    if padding_mode == REFLECTION:
        x = _reflected(x, size, align_corners)
    return x if padding_mode == ZEROS else _clipped(x, size)


def _cubic_weights(t: Array) -> list[Array]:
    """Keys' kernel with a = -0.75 at the distances t + 1, t, 1 - t, 2 - t."""
    a = -0.75

    def near(x: Array) -> Array:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Array) -> Array:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _taps(x: Array, size: int, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Taps:
    """The positions that the samples read along one axis, with weights."""
    x = _unnormalized(x, size, align_corners)
    if interpolation_mode == BICUBIC:
        low = jnp.floor(x)
        weights = _cubic_weights(x - low)
        return [(_inside(low + (k - 1), size, padding_mode, align_corners), w) for k, w in enumerate(weights)]
    x = _inside(x, size, padding_mode, align_corners)
    if interpolation_mode == NEAREST:
        return [(jnp.round(x), jnp.ones_like(x))]
    low = jnp.floor(x)
    return [(low, low + 1 - x), (low + 1, x - low)]


def grid_sampler(input: Array, grid: Array, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Array:
    """(N, C, *sizes) at the points (N, *out, rank), whose coordinates are in reverse order of `sizes`; ATen's modes."""
    sizes = input.shape[2:]
    compute = opmath(input.dtype)
    grid = cast(grid, compute)
    points = [grid[..., k].reshape(grid.shape[0], prod(grid.shape[1:-1])) for k in reversed(range(len(sizes)))]
    options = (interpolation_mode, padding_mode, align_corners)
    taps = [_taps(x, size, *options) for x, size in zip(points, sizes, strict=True)]
    image = input.reshape(*input.shape[:2], prod(sizes))
    total = jnp.zeros((*input.shape[:2], points[0].shape[1]), compute)
    for corner in itertools.product(*taps):
        inside = jnp.ones(points[0].shape, bool)
        place = jnp.zeros(points[0].shape, jnp.int32)
        weight = jnp.ones(points[0].shape, compute)
        for (x, w), size in zip(corner, sizes, strict=True):
            within = (x >= 0) & (x <= size - 1)
            inside &= within
            # Clipped before the cast, so that a far point does not overflow the integer.
            place = place * size + cast(jnp.clip(x, 0, size - 1), jnp.int32)
            # Outside, torch skips the samples of a volume; those of an image are zeros times a weight that may be NaN.
            weight = weight * (jnp.where(within, w, 0) if len(sizes) == 3 else w)
        value = jax.vmap(lambda plane, at: plane.at[:, at].get(mode="promise_in_bounds"))(image, place)
        total = total + jnp.where(inside[:, None], cast(value, compute), 0) * weight[:, None]
    return cast(total.reshape(*input.shape[:2], *grid.shape[1:-1]), input.dtype)


def grid_sampler_backward(
    grad_output: Array,
    input: Array,
    grid: Array,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Array | None, Array | None]:
    """Gradients of image and grid, as set in `output_mask`; for the grid, zeros instead of None, as torch expects."""
    compute = opmath(input.dtype)

    def of_input(x: Array) -> Array:
        return grid_sampler(x, grid, interpolation_mode, padding_mode, align_corners)

    def of_grid(x: Array) -> Array:
        return grid_sampler(wide, x, interpolation_mode, padding_mode, align_corners)

    wide, grad = cast(input, compute), cast(grad_output, compute)
    grad_input = cast(jax.linear_transpose(of_input, wide)(grad)[0], input.dtype) if output_mask[0] else None
    if not output_mask[1]:
        return grad_input, jnp.zeros_like(grid)
    return grad_input, cast(jax.vjp(of_grid, cast(grid, compute))[1](grad)[0], grid.dtype)


def affine_grid_generator(theta: Array, size: Sequence[int], align_corners: bool) -> Array:
    """The grid (N, *sizes, rank) of the affine maps `theta` (N, rank, rank + 1), for `size` (N, C, *sizes)."""
    sizes = size[2:]
    rank = len(sizes)
    grid = theta[:, :, rank].reshape(size[0], *(1,) * rank, rank)
    for axis, n in enumerate(sizes):
        # n points in [-1, 1], whose ends are the centres of the border pixels, or their edges.
        steps = (2 * lax.iota(theta.dtype, n) - (n - 1)) / (max(n - 1, 1) if align_corners else n)
        column = theta[:, :, rank - 1 - axis].reshape(size[0], *(1,) * rank, rank)
        grid = grid + steps.reshape(n, *(1,) * (rank - axis)) * column
    return grid
