"""Scatter to flat positions of a plane: the gradients of max pooling, and its partial inverse."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

import jax
import jax.numpy as jnp
from jax import lax

from tenax.kernels.platform import choose
from tenax.words import Array, Gradients, cast, opmath, with_derivative


def per_plane(x: Array, rank: int) -> Array:
    """(..., *plane) as (planes, elements)."""
    lead = x.ndim - rank
    return x.reshape(prod(x.shape[:lead]), prod(x.shape[lead:]))


def _by_plane(shape: Sequence[int], rank: int, grad: Array, indices: Array) -> Array:
    """One scatter for each plane, as a batch."""
    size = prod(shape[len(shape) - rank :])

    def plane(values: Array, places: Array) -> Array:
        return jnp.zeros(size, grad.dtype).at[places].add(values, mode="drop")

    return jax.vmap(plane)(per_plane(grad, rank), per_plane(cast(indices, jnp.int32), rank)).reshape(shape)


def _flat(shape: Sequence[int], rank: int, grad: Array, indices: Array) -> Array:
    """One scatter to positions in the whole array, which takes XLA's CPU backend half the time."""
    total, size = prod(shape), prod(shape[len(shape) - rank :])
    if not total:
        return jnp.zeros(shape, grad.dtype)
    places = per_plane(cast(indices, jnp.int32 if total < 2**31 else jnp.int64), rank)
    first = lax.broadcasted_iota(places.dtype, places.shape, 0) * size
    places = jnp.where((places >= 0) & (places < size), first + places, total)
    return jnp.zeros(total, grad.dtype).at[places.reshape(-1)].add(grad.reshape(-1), mode="drop").reshape(shape)


def _max_pool_backward(grad_output: Array, self: Array, indices: Array, *, rank: int) -> Array:
    """The gradient of `self`: that of each output goes to the element it came from."""
    wide, shape = cast(grad_output, opmath(grad_output.dtype)), self.shape
    total = choose(partial(_flat, shape, rank), partial(_by_plane, shape, rank), wide, indices)
    return cast(total, grad_output.dtype)


adaptive_max_pool2d_backward = partial(_max_pool_backward, rank=2)
adaptive_max_pool3d_backward = partial(_max_pool_backward, rank=3)


def max_unpool2d(self: Array, indices: Array, output_size: Sequence[int]) -> Array:
    """(..., *sizes) to (..., *output_size): values written back to their flat positions; the rest is zero."""
    rank = len(output_size)

    def value(x: Array, indices: Array) -> Array:
        def plane(values: Array, places: Array) -> Array:
            return jnp.zeros(prod(output_size), x.dtype).at[places].set(values, mode="drop")

        result = jax.vmap(plane)(per_plane(x, rank), per_plane(cast(indices, jnp.int32), rank))
        return result.reshape(*x.shape[: x.ndim - rank], *output_size)

    def gradients(grad: Array, result: Array, x: Array, indices: Array) -> Gradients:
        def of_x() -> Array:
            places = per_plane(cast(indices, jnp.int32), rank)
            return jnp.take_along_axis(per_plane(grad, rank), places, -1, mode="fill", fill_value=0).reshape(x.shape)

        return {"x": of_x}

    return with_derivative(value, gradients, x=self, indices=indices)
