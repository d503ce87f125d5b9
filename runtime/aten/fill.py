"""Fills of whole tensors with one number, without any computation."""

from __future__ import annotations

import math
from typing import Any

import torch

from ..dtypes import holds, numpy_dtype
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
    cell.replace(LazyFill(cell.aval, value))
    return True


def converted(value: Any, dtype: torch.dtype, count: int) -> Any:
    """Convert a Python number to the value that the `count` elements of a tensor would have on the CPU.

    Raises:
        RuntimeError: the dtype cannot hold the number.
    """
    kind = numpy_dtype(dtype)
    if type(value) is float and kind.char in "fd" and -1e38 < value < 1e38:  # common, and ten times faster
        return kind.type(value).item()
    if type(value) is int and kind.kind == "i" and holds(kind, value):
        return value
    filled = torch.full((min(count, 2),), value, dtype=dtype, device="cpu")  # one element has rules of its own
    return filled[0].item() if count else 0


def fill_scalar(self: Tensor, value: Any) -> Tensor:
    if type(value) in (bool, int, float, complex):
        value = converted(value, self.dtype, self.numel())
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
