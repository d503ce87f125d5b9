"""The mapping between torch's dtypes and NumPy's."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import torch

_NAMES = (
    "bool uint4 uint8 uint16 uint32 uint64 int4 int8 int16 int32 int64 float16 float32 float64 complex64 complex128 "
    "bfloat16 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu"
).split()

TO_NUMPY: dict[torch.dtype, np.dtype] = {
    getattr(torch, name): np.dtype(getattr(ml_dtypes, name, name)) for name in _NAMES
}
TO_TORCH: dict[np.dtype, torch.dtype] = {numpy: dtype for dtype, numpy in TO_NUMPY.items()}

# torch.from_numpy does not support the dtypes of ml_dtypes; such data is passed as integers of the same width.
CARRIER: dict[torch.dtype, torch.dtype] = {
    dtype: torch.int16 if numpy.itemsize == 2 else torch.uint8
    for dtype, numpy in TO_NUMPY.items()
    if numpy.type.__module__.startswith("ml_dtypes")
}


def numpy_dtype(dtype: torch.dtype) -> np.dtype:
    """The NumPy dtype of a torch dtype.

    Raises:
        NotImplementedError: JAX has no such type (complex32, …). Python would replace a TypeError of `x + y`.
    """
    try:
        return TO_NUMPY[dtype]
    except KeyError:
        names = ", ".join(_NAMES)
        raise NotImplementedError(f"jax: JAX has no equivalent of {dtype}; expected one of {names}") from None


def holds(dtype: np.dtype, number: Any) -> bool:
    """Whether torch may convert a Python number to a dtype: `c10::overflows` is false."""
    if dtype.kind == "b" or (type(number) is not complex and 0 <= number <= 127):
        return True
    if type(number) is complex:
        return holds(dtype, number.real) and (holds(dtype, number.imag) if dtype.kind == "c" else number.imag == 0)
    low, high, infinite = number_limits(dtype, type(number) is int)
    if low <= number <= high:
        return True
    return dtype.kind not in "iu" and (number != number or (infinite and abs(number) == math.inf))


@cache
def number_limits(dtype: np.dtype, whole: bool) -> tuple[Any, Any, bool]:
    """The least and greatest number that a dtype takes, whole ones wrapping around, and whether it has infinities."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return -limits.max if whole and dtype.kind == "u" else limits.min, limits.max, False
    part = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
    most = float(ml_dtypes.finfo(part).max)
    return -most, most, bool(np.isinf(part.type(math.inf)))


def torch_dtype(dtype: Any) -> torch.dtype:
    """The torch dtype of a NumPy or JAX dtype.

    Raises:
        TypeError: torch has no such type (int2, float4, …).
    """
    try:
        return TO_TORCH[np.dtype(dtype)]
    except (KeyError, TypeError):
        raise TypeError(f"jax: torch has no equivalent of {dtype}; expected one of {', '.join(_NAMES)}") from None
