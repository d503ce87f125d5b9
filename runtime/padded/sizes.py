"""Symbolic sizes: their values in padded arrays, and their true values.

Along an axis of symbolic size, the first elements of a padded array are those of the true array, and the rest are
arbitrary.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax

from .._jax import size_with

# A size that may shrink when a symbol grows: then a padded array might be smaller than the true one.
_MAY_SHRINK = re.compile(r"mod|max|min|- *(?:\d+\*)?[a-z]")


class NotPaddableError(Exception):
    """An operation that cannot be computed on padded arrays; the text names the primitive."""


class Sizes:
    """The values of symbols in a program for rounded sizes."""

    def __init__(self, rounded: Mapping[str, int], true: Mapping[str, Any]) -> None:
        """The true values may be traced scalars."""
        self._rounded, self._true = rounded, true

    def padded(self, size: Any) -> int:
        """A size in padded arrays."""
        if not is_symbol(size):
            return int(size)
        if _MAY_SHRINK.search(str(size)):
            raise NotPaddableError(f"size {size}")
        return int(size_with(size, self._rounded))

    def shape(self, sizes: Sequence[Any]) -> tuple[int, ...]:
        """A shape in padded arrays."""
        return tuple(map(self.padded, sizes))

    def true(self, size: Any) -> Any:
        """A true size: a Python int or a scalar array."""
        return size_with(size, self._true) if is_symbol(size) else int(size)

    def is_true(self, x: jax.Array, axis: int, size: Any) -> jax.Array:
        """A mask of the shape of `x`: which elements are those of the true array, along one axis of a size."""
        positions = lax.broadcasted_iota(np.int32, x.shape, axis)
        return lax.lt(positions, lax.broadcast(lax.convert_element_type(self.true(size), np.int32), x.shape))

    def masked(self, x: jax.Array, sizes: Sequence[Any], axes: Sequence[int], filler: Any) -> jax.Array:
        """`x` with the rest along symbolic ones of these axes replaced by a number."""
        for axis in axes:
            if is_symbol(sizes[axis]):
                x = lax.select(self.is_true(x, axis, sizes[axis]), x, lax.full_like(x, filler))
        return x


def is_symbol(size: Any) -> bool:
    """Whether a size is a symbol or contains one."""
    return not isinstance(size, int | np.integer)


def is_symbolic(aval: Any) -> bool:
    """Whether a size of an abstract value is a symbol or contains one."""
    return any(map(is_symbol, getattr(aval, "shape", ())))
