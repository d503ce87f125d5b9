"""Numbers as inputs of a program: encoded on the host as 32-bit words, and decoded in the program.

All numbers of a program are passed as one array of words, because each array costs a transfer of its own.
"""

from __future__ import annotations

import math
from struct import pack, unpack
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..dtypes import holds


class Words(NamedTuple):
    """The shape and dtype of a number, or of a small array, that is encoded as words."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def length(self) -> int:
        """The number of words."""
        return math.prod(self.shape) * max(self.dtype.itemsize // 4, 1)

    def value(self, words: jax.Array) -> jax.Array:
        """Decode the number from its words."""
        dtype = self.dtype
        if dtype.kind == "c":
            part = Words((*self.shape, 2), np.dtype(f"f{dtype.itemsize // 2}")).value(words)
            return jax.lax.complex(part[..., 0], part[..., 1])
        if dtype.kind == "b":
            return (words != 0).reshape(self.shape)
        wide = dtype.itemsize // 4
        return jax.lax.bitcast_convert_type(words.reshape((*self.shape, *([wide] if wide > 1 else []))), dtype)


def words_of_number(value: Any, beside: np.dtype | None = None, wide: bool = False) -> tuple[int, ...]:
    """The words of a Python number, converted to 32 bits as in dispatch; with `wide`, those of a float of 64 bits.

    Raises:
        KeyError: it is not a Python number.
        OverflowError: it is an int of more than 32 bits, or tensors of the dtype `beside` may be unable to hold it.
    """
    if beside is not None and not holds(beside, value):
        raise OverflowError(value)
    return unpack("<II", pack("<d", value)) if wide else _NUMBERS[value.__class__](value)


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
    """The dtype of at least 32 bits that can represent all values of a dtype; bool stays bool."""
    if dtype.itemsize >= 4 or dtype.kind == "b":
        return dtype
    if dtype.kind == "u":
        return np.dtype(np.uint32)
    return np.dtype(np.int32 if jnp.issubdtype(dtype, np.integer) else np.float32)
