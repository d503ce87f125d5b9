"""Fills of whole tensors with one number, without any computation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from ..dtypes import numpy_dtype
from ..holding import narrow_number
from ..storage.avals import LazyFill
from ..storage.spec import lazy_bits
from ..storage.tensors import cell_of
from .memory import Tensor
from .registry import kernel_of


def fill_whole(self: Tensor, value: Any) -> bool:
    """Fill a tensor that covers its whole storage, without computing; False if the fill needs a computation."""
    cell = cell_of(self)
    if cell.mixed or lazy_bits(self) or self.numel() * self.element_size() != cell.nbytes:
        return False
    if not self.is_contiguous() and not torch.ops.aten.is_non_overlapping_and_dense.default(self):
        return False
    if type(value) not in (bool, int, float, complex):
        return False
    cell.replace(LazyFill(cell.aval, narrow_number(value, cell.dtype)))
    return True


_CPP_NAMES = {
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "int32": "int",
    "float64": "double",
    "float32": "float",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
}


def converted(value: Any, dtype: np.dtype) -> Any:
    """Convert a Python number to the value that an element of `dtype` would have; negatives wrap in unsigned dtypes.

    Raises:
        RuntimeError: the dtype cannot hold the number (torch's `checked_convert`).
    """
    if type(value) is float and dtype.char in "fd" and -1e38 < value < 1e38:  # common, and ten times faster
        return dtype.type(value).item()
    try:
        if isinstance(value, complex) and dtype.kind not in "bc":
            if value.imag:
                raise OverflowError
            value = value.real
        if dtype.kind == "u" and type(value) is int and -(most := int(np.iinfo(dtype).max)) <= value < 0:
            value += most + 1
        with np.errstate(over="raise" if dtype.name == "float32" else "ignore"):
            return dtype.type(value).item()
    except (OverflowError, ValueError, TypeError, FloatingPointError):
        name = _CPP_NAMES.get(dtype.name, dtype.name)
        raise RuntimeError(f"value cannot be converted to type {name} without overflow: {value}") from None


def fill_scalar(self: Tensor, value: Any) -> Tensor:
    if type(value) in (bool, int, float, complex):
        value = converted(value, numpy_dtype(self.dtype))
    if not fill_whole(self, value):
        kernel_of("fill_.Scalar")(self, value)
    return self


def conspicuous(dtype: torch.dtype) -> Any:
    """The value of uninitialized elements in torch's deterministic mode: NaN or the greatest integer, which exposes
    programs that read them; zero if `torch.utils.deterministic.fill_uninitialized_memory` is off."""
    if not torch.utils.deterministic.fill_uninitialized_memory:  # type: ignore[attr-defined]
        return 0
    if dtype.is_floating_point or dtype.is_complex:
        return math.nan
    return True if dtype is torch.bool else torch.iinfo(dtype).max


def zero(self: Tensor) -> Tensor:
    return fill_scalar(self, 0)
