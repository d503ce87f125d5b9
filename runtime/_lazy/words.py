"""Numbers as inputs of a program: the 32-bit words that travel, and what the program makes of them.

All numbers of a program are one array of words, because each array that is passed costs a transfer of its own.
"""

from __future__ import annotations

import math
from struct import pack, unpack
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class Words(NamedTuple):
    """The form of a number, or of a small array, among the words of a program."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def length(self) -> int:
        """How many words it takes."""
        return math.prod(self.shape) * max(self.dtype.itemsize // 4, 1)

    def value(self, words: jax.Array) -> jax.Array:
        """The number, of its words."""
        dtype = self.dtype
        if dtype.kind == "c":
            part = Words((*self.shape, 2), np.dtype(f"f{dtype.itemsize // 2}")).value(words)
            return jax.lax.complex(part[..., 0], part[..., 1])
        if dtype.kind == "b":
            return (words != 0).reshape(self.shape)
        wide = dtype.itemsize // 4
        return jax.lax.bitcast_convert_type(words.reshape((*self.shape, *([wide] if wide > 1 else []))), dtype)


def words_of_number(value: Any) -> tuple[int, ...]:
    """The words of a Python number, in the 32-bit form that dispatch gives it.

    Raises:
        KeyError: it is no Python number.
        OverflowError: it is an int of more than 32 bits.
    """
    return _NUMBERS[value.__class__](value)


def _float(value: float) -> tuple[int, ...]:
    try:
        return unpack("<I", pack("<f", value))
    except OverflowError:
        return unpack("<I", pack("<f", math.copysign(math.inf, value)))


_NUMBERS: dict[type, Any] = {
    float: _float,
    int: lambda value: unpack("<I", pack("<i", _narrow(value))),
    bool: lambda value: (int(value),),
    complex: lambda value: (*_float(value.real), *_float(value.imag)),
}


def _narrow(value: int) -> int:
    if not -(2**31) <= value < 2**31:
        raise OverflowError(value)
    return value


def words_of_array(array: Any) -> list[int]:
    """The words of a NumPy number or array."""
    flat = np.asarray(array).reshape(-1)
    return (flat.astype(np.uint32) if flat.dtype.kind == "b" else flat.view(np.uint32)).tolist()


def carrier(dtype: np.dtype) -> np.dtype:
    """The dtype of at least 32 bits that holds any number of a dtype."""
    if dtype.itemsize >= 4 or dtype.kind == "b":
        return dtype
    if dtype.kind == "u":
        return np.dtype(np.uint32)
    return np.dtype(np.int32 if jnp.issubdtype(dtype, np.integer) else np.float32)
