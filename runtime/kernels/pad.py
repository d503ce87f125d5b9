"""Padding of the last dimensions, by a constant, by reflection and by repeating the border; negative amounts cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jax import lax

from tenax.kernels.taps import read, transposed, weigh
from tenax.words import Array, cast, opmath

# (size, amount before, amount after) -> the position that each element of the padded axis shows
Rule = Callable[[int, int, int], np.ndarray]


def constant_pad_nd(self: Array, pad: Sequence[int], value: Array | float = 0) -> Array:
    """Amounts (before, after) from the last dimension to the first."""
    amounts = list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    config = [(0, 0, 0)] * (self.ndim - len(amounts)) + [(before, after, 0) for before, after in amounts]
    return lax.pad(self, cast(value, self.dtype), config)


def _reflected(size: int, before: int, after: int) -> np.ndarray:
    """Mirrored at the border's elements, which are not repeated."""
    return size - 1 - np.abs(size - 1 - np.abs(np.arange(-before, size + after)))


def _replicated(size: int, before: int, after: int) -> np.ndarray:
    """The border's elements repeated."""
    return np.clip(np.arange(-before, size + after), 0, size - 1)


def _pad(self: Array, padding: Sequence[int], rule: Rule) -> Array:
    for k in range(len(padding) // 2):
        axis = self.ndim - 1 - k
        self = read(self, axis, rule(self.shape[axis], padding[2 * k], padding[2 * k + 1]))
    return self


def _pad_backward(grad_output: Array, self: Array, padding: Sequence[int], rule: Rule) -> Array:
    """Each element of `self` sums the gradients of the places that show it."""
    x = cast(grad_output, opmath(grad_output.dtype))
    for k in range(len(padding) // 2):
        axis = self.ndim - 1 - k
        size = self.shape[axis]
        table = rule(size, padding[2 * k], padding[2 * k + 1])[:, None]
        x = weigh(x, axis, transposed(table, size)[0])
    return cast(x, grad_output.dtype)


def reflection_pad(self: Array, padding: Sequence[int]) -> Array:
    """Pad the last `len(padding) / 2` dimensions by reflection."""
    return _pad(self, padding, _reflected)


def replication_pad(self: Array, padding: Sequence[int]) -> Array:
    """Pad the last `len(padding) / 2` dimensions by their border."""
    return _pad(self, padding, _replicated)


def reflection_pad_backward(grad_output: Array, self: Array, padding: Sequence[int]) -> Array:
    """The gradient of `self` in `reflection_pad`."""
    return _pad_backward(grad_output, self, padding, _reflected)


def replication_pad_backward(grad_output: Array, self: Array, padding: Sequence[int]) -> Array:
    """The gradient of `self` in `replication_pad`."""
    return _pad_backward(grad_output, self, padding, _replicated)
