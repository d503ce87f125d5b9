"""The geometry of sliding windows: their number and starts, as torch defines them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.words import Array

Sizes = int | Sequence[int]


def spread(values: Sizes, rank: int, default: Sizes = ()) -> tuple[int, ...]:
    """One value per dimension, from one for all, one for each, or none (then from `default`)."""
    if isinstance(values, int):
        return (values,) * rank
    if not values:
        return spread(default, rank)
    return tuple(values) * rank if len(values) == 1 else tuple(values)


class WindowAxis(NamedTuple):
    """The windows along one axis of `size` elements: `windows` of them, `stride` apart, with `kernel` taps each."""

    size: int
    kernel: int
    stride: int
    padding: int
    dilation: int
    windows: int

    @property
    def is_open(self) -> bool:
        """Whether the size is a symbolic dimension, in which case all windows end inside the padding."""
        return not isinstance(self.size, int)

    @property
    def pads(self) -> tuple[int, int]:
        """Padding below and above such that every window is inside."""
        if self.is_open:
            return self.padding, self.padding
        end = (self.windows - 1) * self.stride + self.dilation * (self.kernel - 1) + 1
        return self.padding, max(end - self.padding - self.size, 0)

    @property
    def step(self) -> int:
        """The stride of a slice with one tap of each window. XLA's partitioner (JAX 0.10) reads the wrong element of a
        split axis where a slice with a stride has only one."""
        return 1 if self.windows == 1 else self.stride

    @property
    def starts(self) -> Any:
        """The first tap of each window, negative in the padding."""
        return (jnp if self.is_open else np).arange(self.windows) * self.stride - self.padding

    @property
    def firsts(self) -> Any:
        """The first tap of each window that is not in the padding."""
        return self.starts + self.dilation * (-(self.starts // self.dilation)).clip(0)


def windows(
    sizes: Sequence[int], kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> list[WindowAxis]:
    """The windows of each axis. With `ceil_mode` the last may end outside the padding, but not start there."""
    rank = len(sizes)
    result = []
    options = (spread(kernel, rank), spread(stride, rank, kernel), spread(padding, rank), spread(dilation, rank))
    for size, k, s, p, d in zip(sizes, *options, strict=True):
        free = size + 2 * p - d * (k - 1) - 1
        count = (free + (s - 1 if ceil_mode else 0)) // s + 1
        if ceil_mode and (count - 1) * s >= size + p:
            count -= 1
        result.append(WindowAxis(size, k, s, p, d, count))
    return result


def taps(x: Array, padding: Any, axes: Sequence[WindowAxis]) -> Iterator[Array]:
    """The elements of every window over the last axes, one of all windows at a time."""
    lead = x.ndim - len(axes)
    x = lax.pad(x, padding, [(0, 0, 0)] * lead + [(*axis.pads, 0) for axis in axes])
    strides = (1,) * lead + tuple(axis.step for axis in axes)
    for tap in itertools.product(*(range(axis.kernel) for axis in axes)):
        start = [t * axis.dilation for t, axis in zip(tap, axes, strict=True)]
        stop = [s + (axis.windows - 1) * axis.stride + 1 for s, axis in zip(start, axes, strict=True)]
        yield lax.slice(x, (*(0,) * lead, *start), (*x.shape[:lead], *stop), strides)


def covered(size: Any, count: int) -> Array:
    """The elements that each window of `adaptive` covers, for an axis of any (symbolic) size: bool[count, size]."""
    places, outputs = jnp.arange(size)[None], jnp.arange(count)[:, None]
    return (places >= outputs * size // count) & (places < -(-(outputs + 1) * size // count))


def adaptive(size: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts and ends of `count` windows that cover an axis, overlapping if `size` is not a multiple of `count`."""
    outputs = np.arange(count)
    return outputs * size // count, -(-(outputs + 1) * size // count)
