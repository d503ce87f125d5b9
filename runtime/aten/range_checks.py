"""Checks of the numbers that state a range, or the range of random integers."""

from __future__ import annotations

import math
from typing import Any

import torch

# Bits of the significand, including the hidden one: up to this power of 2, all integers are exact.
_DIGITS = {torch.float16: 11, torch.bfloat16: 8, torch.float32: 24, torch.float64: 53}


def finite_range(min: Any, max: Any) -> None:
    """Raise torch's error for the range of a histogram that is not finite, or not ordered."""
    if not (math.isfinite(min) and math.isfinite(max)):
        raise RuntimeError(f"torch.histc: range of [{min:g}, {max:g}] is not finite")
    if min > max:
        raise RuntimeError("torch.histc: max must be larger than min")


def probability(dropout_p: float) -> None:
    """Raise torch's error for a number that is no probability."""
    if not 0 <= dropout_p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p:g}")


def integer_range(low: int, high: int, dtype: Any) -> None:
    """Raise torch's error for an empty range of random integers, or one that a dtype (or tensor) does not hold."""
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    dtype = getattr(dtype, "dtype", dtype)
    if not isinstance(dtype, torch.dtype):  # the default of a schema is int64, by its number
        dtype = torch.int64
    if dtype in _DIGITS or dtype.is_complex:
        return
    least, most = (0, 1) if dtype is torch.bool else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
    for name, bound in (("from", low), ("to - 1", high - 1)):
        if not least <= bound <= most:
            raise RuntimeError(f"{name} is out of bounds for {_NAMES.get(dtype, str(dtype))}")


# The names of the types in C++, which torch prints.
_NAMES = {
    torch.bool: "bool",
    torch.uint8: "unsigned char",
    torch.int8: "signed char",
    torch.int16: "short",
    torch.int32: "int",
    torch.int64: "long",
}


def integers_below(high: int, dtype: Any) -> None:
    """As `integer_range` from 0."""
    integer_range(0, high, dtype)


def integer_range_like(self: torch.Tensor, low: int, high: int, dtype: torch.dtype | None) -> None:
    """As `integer_range`, by default in the dtype of a tensor."""
    integer_range(low, high, self if dtype is None else dtype)


def integers_below_like(self: torch.Tensor, high: int, dtype: torch.dtype | None) -> None:
    """As `integer_range_like` from 0."""
    integer_range(0, high, self if dtype is None else dtype)


def random_range(self: torch.Tensor, from_: int, to: int | None) -> None:
    """As `integer_range`, for the dtype of a written tensor. Without `to`, the range ends with the largest integer of
    the dtype."""
    if to is not None:
        integer_range(from_, to, self.dtype)


def random_below(self: torch.Tensor, to: int) -> None:
    """As `random_range` from 0."""
    integer_range(0, to, self.dtype)


def slope_of_result(negative_slope: float, self_is_result: bool) -> None:
    """Raise torch's error for the gradient of an activation that was computed in place with a negative slope: the sign
    of its result does not tell that of its argument."""
    if self_is_result and negative_slope < 0:
        x = torch.zeros(1, device="cpu")
        torch.ops.aten.leaky_relu_backward(x, x, negative_slope, True)


def slope_of_elu(alpha: float, is_result: bool) -> None:
    """As `slope_of_result`."""
    if is_result and alpha < 0:
        x = torch.zeros(1, device="cpu")
        torch.ops.aten.elu_backward(x, alpha, 1, 1, True, x)


def slope_of_rrelu(lower: float, upper: float, training: bool, self_is_result: bool) -> None:
    """As `slope_of_result`, for the mean slope, which is used where none was drawn."""
    if not training or upper - lower <= 1e-6:
        slope_of_result((lower + upper) / 2, self_is_result)
