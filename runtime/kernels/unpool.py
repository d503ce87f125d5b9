"""Scatter to flat positions of a plane: the gradients of max pooling, and its partial inverse."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

import jax
import jax.numpy as jnp

from tenax.words import Array, Gradients, cast, opmath, with_derivative


def per_plane(x: Array, rank: int) -> Array:
    """(..., *plane) as (planes, elements)."""
    lead = x.ndim - rank
    return x.reshape(prod(x.shape[:lead]), prod(x.shape[lead:]))


def _max_pool_backward(grad_output: Array, self: Array, indices: Array, *, rank: int) -> Array:
    """The gradient of `self`: that of each output goes to the element it came from, by one scatter for each plane."""
    grad, size = cast(grad_output, opmath(grad_output.dtype)), prod(self.shape[self.ndim - rank :])

    def plane(values: Array, places: Array) -> Array:
        return jnp.zeros(size, grad.dtype).at[places].add(values, mode="drop")

    total = jax.vmap(plane)(per_plane(grad, rank), per_plane(cast(indices, jnp.int32), rank))
    return cast(total.reshape(self.shape), grad_output.dtype)


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
