"""Padding of the last dimensions with a constant, by reflection or by replication; negative amounts crop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels.taps import read, transposed, weigh
from tenax.words import Array, cast, opmath

# (positions in the padded axis, relative to the first element; size of the axis) -> the position that each reads
Rule = Callable[[Any, Any], Any]


def constant_pad_nd(self: Array, pad: Sequence[int], value: Array | float = 0) -> Array:
    """Pad by amounts (before, after), from the last dimension to the first."""
    amounts = list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    config = [(0, 0, 0)] * (self.ndim - len(amounts)) + [(before, after, 0) for before, after in amounts]
    return lax.pad(self, cast(value, self.dtype), config)


def _reflected(places: Any, size: Any) -> Any:
    """Reflect at the border elements, which are not repeated."""
    return size - 1 - abs(size - 1 - abs(places))


def _replicated(places: Any, size: Any) -> Any:
    """Repeat the border elements."""
    return places.clip(0, size - 1)


def _shown(rule: Rule, size: int, before: int, after: int) -> np.ndarray:
    return rule(np.arange(-before, size + after), size)


def _pad(self: Array, padding: Sequence[int], *, rule: Rule) -> Array:
    """Pad the last `len(padding) / 2` dimensions; `jnp.pad` rejects negative amounts."""
    for k in reversed(range(len(padding) // 2)):  # the last axis at the end: its pieces are short copies
        axis, before, after = self.ndim - 1 - k, padding[2 * k], padding[2 * k + 1]
        size: Any = self.shape[axis]
        if isinstance(size, int):
            self = read(self, axis, _shown(rule, size, before, after))
        else:  # a symbolic dimension
            places = jnp.arange(size + before + after, dtype=jnp.int32) - before
            self = jnp.take(self, rule(places, jnp.asarray(size, jnp.int32)), axis, mode="clip")
    return self


def _pad_backward(grad_output: Array, self: Array, padding: Sequence[int], *, rule: Rule) -> Array:
    """Sum for each element of `self` the gradients of the positions that read it."""
    x = cast(grad_output, opmath(grad_output.dtype))
    for k in range(len(padding) // 2):
        axis = self.ndim - 1 - k
        size = self.shape[axis]
        table = _shown(rule, size, padding[2 * k], padding[2 * k + 1])[:, None]
        x = weigh(x, axis, transposed(table, size)[0])
    return cast(x, grad_output.dtype)


reflection_pad = partial(_pad, rule=_reflected)
reflection_pad_backward = partial(_pad_backward, rule=_reflected)
replication_pad = partial(_pad, rule=_replicated)
replication_pad_backward = partial(_pad_backward, rule=_replicated)
