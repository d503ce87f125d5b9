"""Max pooling: the maxima of windows with their flat positions, their gradients, and the partial inverse.

torch chooses the first of equal values, and the last NaN over any number. This rule is associative, so a window is
reduced tap by tap or axis by axis, and never materialized.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from math import prod

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels.graft import graft
from tenax.kernels.taps import read
from tenax.kernels.window import Sizes, WindowAxis, adaptive, covered, spread, taps, windows
from tenax.words import INT64, Array, DType, Gradients, as_long, cast, extremes, is_float, opmath, with_derivative

# A value and its flat position in its plane; int32 suffices for positions.
Best = tuple[Array, Array]

# The position of padding, greater than every real one.
NOWHERE = np.iinfo(np.int32).max

# Windows of up to this many taps are one fused chain of selects; larger ones are reduced axis by axis.
UNROLLED = 16


def _next(best: Best, tap: Best) -> Best:
    """The better of the best so far and a tap at a higher position."""
    (x, i), (y, j) = best, tap
    later = y > x
    if is_float(x):
        later |= y != y
    return jnp.where(later, y, x), jnp.where(later, j, i)


def better(a: Best, b: Best) -> Best:
    """The better of two candidates, in any order."""
    (x, i), (y, j) = a, b
    later = (y > x) | ((y == x) & (j < i))
    if is_float(x):
        later = jnp.where(y != y, (x == x) | (j > i), later & (x == x))
    return jnp.where(later, y, x), jnp.where(later, j, i)


def nothing(dtype: DType) -> Best:
    """The identity of `better`."""
    # `jnp.asarray` would convert a Python number to 32 bits first.
    lowest = lax.full((), extremes(dtype)[0], dtype)
    return lowest, lax.full((), NOWHERE, jnp.int32)


def _placed(x: Array, rank: int) -> Best:
    """`x` with the flat position of each element in the plane of its last `rank` axes."""
    plane = x.shape[x.ndim - rank :]
    return x, jnp.broadcast_to(lax.iota(jnp.int32, prod(plane)).reshape(plane), x.shape)


def _by_taps(x: Array, axes: Sequence[WindowAxis]) -> Best:
    """The best of every window, one tap of all windows at a time."""
    (values, places), (least, nowhere) = _placed(x, len(axes)), nothing(x.dtype)
    return reduce(_next, zip(taps(values, least, axes), taps(places, nowhere, axes), strict=True))


def _by_axes(x: Array, axes: Sequence[WindowAxis]) -> Best:
    """The best of every window, one axis at a time: work for the sum of the kernel sizes instead of their product."""
    best = _placed(x, len(axes))
    for number, axis in enumerate(axes, x.ndim - len(axes)):

        def along(value: int, number: int = number) -> tuple[int, ...]:
            return (1,) * number + (value,) + (1,) * (x.ndim - number - 1)

        pads = [axis.pads if n == number else (0, 0) for n in range(x.ndim)]
        sizes = (along(axis.kernel), along(axis.stride), pads, None, along(axis.dilation))
        best = lax.reduce_window(best, nothing(x.dtype), better, *sizes)
    return best


def _following(self: Array, best: Best, rank: int) -> Best:
    """The best, with int64 positions, where values have the derivative of the selected elements of `self`: JAX cannot
    differentiate a reduction of pairs."""
    values, places = best[0], as_long(best[1])
    if not is_float(self) or values.size == 0:
        return values, places
    lead = self.shape[: self.ndim - rank]
    taken = jnp.take_along_axis(self.reshape(*lead, -1), places.reshape(*lead, -1), -1, mode="clip")
    return graft(values, taken.reshape(values.shape)), places


def _max_pool(self: Array, axes: Sequence[WindowAxis]) -> Best:
    """Values and int64 positions of the windows over the last axes of `self`."""
    few = prod(axis.kernel for axis in axes) <= UNROLLED and not any(axis.is_open for axis in axes)
    values, places = _by_taps(self, axes) if few else _by_axes(lax.stop_gradient(self), axes)
    if any(axis.pads != (0, 0) for axis in axes):
        # If no element exceeded the padding, torch returns the first position of the window.
        first = jnp.zeros((), dtype=jnp.int32)
        for axis in axes:
            first = first[..., None] * axis.size + jnp.asarray(axis.firsts, dtype=jnp.int32)
        places = jnp.where(places == NOWHERE, first, places)
    return (values, as_long(places)) if few else _following(self, (values, places), len(axes))


def _max_pool_with_indices(
    self: Array,
    kernel_size: Sizes,
    stride: Sizes = (),
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    *,
    rank: int,
) -> Best:
    """Windows over the last `rank` axes: values, and int64 positions in the plane or volume."""
    return _max_pool(self, windows(self.shape[-rank:], kernel_size, stride, padding, dilation, ceil_mode))


max_pool2d_with_indices = partial(_max_pool_with_indices, rank=2)
max_pool3d_with_indices = partial(_max_pool_with_indices, rank=3)


def _adaptive_max_pool(self: Array, output_size: Sizes, *, rank: int) -> Best:
    """Values and int64 positions of `output_size` windows of nearly equal length that cover the last `rank` axes."""
    best = _placed(lax.stop_gradient(self), rank)
    lead = self.ndim - rank
    sizes = self.shape[lead:]
    counts = spread(output_size, rank)
    if 0 in counts:
        shape = (*self.shape[:lead], *counts)
        return jnp.zeros(shape, self.dtype), jnp.zeros(shape, INT64)
    if not all(isinstance(size, int) for size in sizes):
        least = nothing(self.dtype)
        for number, (size, count) in enumerate(zip(sizes, counts, strict=True), lead):
            inside = covered(size, count).reshape(count, size, *(1,) * (self.ndim - number - 1))
            held = tuple(jnp.where(inside, jnp.expand_dims(v, number), e) for v, e in zip(best, least, strict=True))
            best = lax.reduce(held, least, better, (number + 1,))
        return _following(self, best, rank)
    if all(size % count == 0 for size, count in zip(sizes, counts, strict=True)):
        steps = [size // count for size, count in zip(sizes, counts, strict=True)]
        return _max_pool(self, windows(sizes, steps, steps, 0, 1, False))
    for number, (size, count) in enumerate(zip(sizes, counts, strict=True), lead):
        starts, ends = adaptive(size, count)
        # A shorter window repeats its last element, which does not change the maximum.
        table = np.minimum(starts[:, None] + np.arange((ends - starts).max()), ends[:, None] - 1)
        taken = tuple(read(v, number, table) for v in best)
        best = lax.reduce(taken, nothing(self.dtype), better, (number + 1,))
    return _following(self, best, rank)


adaptive_max_pool2d = partial(_adaptive_max_pool, rank=2)
adaptive_max_pool3d = partial(_adaptive_max_pool, rank=3)


def _per_plane(x: Array, rank: int) -> Array:
    """(..., *plane) as (planes, elements)."""
    lead = x.ndim - rank
    return x.reshape(prod(x.shape[:lead]), prod(x.shape[lead:]))


def _written(method: str, values: Array, indices: Array, rank: int, size: int) -> Array:
    """Planes of `size` zeros, into which the values are written at their flat positions: by `set` or `add`."""

    def plane(values: Array, places: Array) -> Array:
        return getattr(jnp.zeros(size, values.dtype).at[places], method)(values, mode="drop")

    return jax.vmap(plane)(_per_plane(values, rank), _per_plane(cast(indices, jnp.int32), rank))


def _max_pool_backward(grad_output: Array, self: Array, indices: Array, *, rank: int) -> Array:
    """The gradient of `self`: that of each output goes to the element it came from, by one scatter for each plane."""
    grad, size = cast(grad_output, opmath(grad_output.dtype)), prod(self.shape[self.ndim - rank :])
    return cast(_written("add", grad, indices, rank, size).reshape(self.shape), grad_output.dtype)


adaptive_max_pool2d_backward = partial(_max_pool_backward, rank=2)
adaptive_max_pool3d_backward = partial(_max_pool_backward, rank=3)


def max_unpool2d(self: Array, indices: Array, output_size: Sequence[int]) -> Array:
    """(..., *sizes) to (..., *output_size): values written back to their flat positions; the rest is zero."""
    rank = len(output_size)

    def value(x: Array, indices: Array) -> Array:
        result = _written("set", x, indices, rank, prod(output_size))
        return result.reshape(*x.shape[: x.ndim - rank], *output_size)

    def gradients(grad: Array, result: Array, x: Array, indices: Array) -> Gradients:
        def of_x() -> Array:
            places = _per_plane(cast(indices, jnp.int32), rank)
            return jnp.take_along_axis(_per_plane(grad, rank), places, -1, mode="fill", fill_value=0).reshape(x.shape)

        return {"x": of_x}

    return with_derivative(value, gradients, x=self, indices=indices)


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
    planes = _per_plane(self, rank)
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
    return _following(self, (values.reshape(shape), places.reshape(shape)), rank)


fractional_max_pool2d = partial(_fractional_max_pool, order=(1, 0))
fractional_max_pool3d = partial(_fractional_max_pool, order=(0, 1, 2))
