"""Checks of integers that state a place in an axis, and of numbers that state a range (`check` in the specs)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch


def index_in_axis(input_sizes: Sequence[int], dim: int, index: int) -> None:
    """Raise torch's error for an index beyond the axis that it selects from; other errors are left to the operator."""
    size = input_sizes[dim] if -len(input_sizes) <= dim < len(input_sizes) else None
    if size is not None and not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {[*input_sizes]} at dimension "
            f"{dim % len(input_sizes)}"
        )


def index_in_axis_of(self: torch.Tensor, dim: int, index: int) -> None:
    """As `index_in_axis`, for an axis of a tensor."""
    index_in_axis(self.size(), dim, index)


def part_of_axis(self: torch.Tensor, dim: int, start: int, length: int) -> None:
    """Raise torch's error for elements beyond the axis; other errors are left to the operator."""
    if not -self.dim() <= dim < self.dim():
        return
    size = self.size(dim)
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [-{size}, {size}], but got {start})")
    first = start + size if start < 0 else start
    if not 0 <= first <= size - length:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")


def rank_in_axis(self: torch.Tensor, k: int, dim: int) -> None:
    """Raise torch's error for a rank beyond the number of elements; other errors are left to the operator."""
    rank = max(self.dim(), 1)
    size = (self.size(dim) if self.dim() else 1) if -rank <= dim < rank else 0
    if size and not 1 <= k <= size:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim % rank}")


def slice_of_length(
    grad_output: torch.Tensor, input_sizes: Sequence[int], dim: int, start: int, end: int, step: int
) -> None:
    """Raise torch's error for a gradient of another length than the slice; other errors are left to the operator."""
    if not -len(input_sizes) <= dim < len(input_sizes) == grad_output.dim():
        return
    count, shape = len(range(*slice(start, end, step).indices(input_sizes[dim]))), [*grad_output.shape]
    if count == shape[dim]:
        return
    dim %= len(input_sizes)
    if count == 1:
        part = [*input_sizes[:dim], 1, *input_sizes[dim + 1 :]]
        raise RuntimeError(f"output with shape {part} doesn't match the broadcast shape {shape}")
    raise _other_length(count, shape[dim], dim)


def _other_length(ours: int, theirs: int, dim: int) -> RuntimeError:
    return RuntimeError(
        f"The size of tensor a ({ours}) must match the size of tensor b ({theirs}) at non-singleton dimension {dim}"
    )


def slice_of_size(
    self: torch.Tensor, src: torch.Tensor, dim: int, start: int | None, end: int | None, step: int
) -> None:
    """Raise torch's error for a source of another size than the slice; other errors are left to the operator."""
    if -self.dim() <= dim < self.dim() and step > 0:
        part = [*self.size()]
        part[dim] = len(range(*slice(start, end, step).indices(part[dim])))
        _require_size(src, part)


def diagonal_of_size(self: torch.Tensor, src: torch.Tensor, offset: int, dim1: int, dim2: int) -> None:
    """Raise torch's error for a source of another size than the diagonal; other errors are left to the operator."""
    found = _diagonal(self.size(), offset, dim1, dim2)
    if found is not None:
        _require_size(src, found)


def diagonal_of_length(
    grad_output: torch.Tensor, input_sizes: Sequence[int], offset: int, dim1: int, dim2: int
) -> None:
    """Raise torch's error for a gradient of another size than the diagonal; other errors are left to the operator."""
    found = _diagonal(input_sizes, offset, dim1, dim2)
    if found is not None and [*grad_output.shape] != found and grad_output.dim() == len(found):
        for dim, (ours, theirs) in enumerate(zip(found, grad_output.shape, strict=True)):
            if ours != theirs and 1 not in (ours, theirs):
                raise _other_length(ours, theirs, dim)


def _diagonal(size: Sequence[int], offset: int, dim1: int, dim2: int) -> list[int] | None:
    """The size of a diagonal; None if there are no such axes."""
    rank = len(size)
    if not (-rank <= dim1 < rank and -rank <= dim2 < rank) or dim1 % rank == dim2 % rank:
        return None
    plane = dim1 % rank, dim2 % rank
    rows, columns = (size[d] for d in plane)
    side = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    return [*(n for d, n in enumerate(size) if d not in plane), side]


def _require_size(src: torch.Tensor, part: list[int]) -> None:
    if [*src.size()] != part:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {[*src.size()]}, slice size = {part}"
        )


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


# The names of the types in C++, which torch prints.
_NAMES = {
    torch.bool: "bool",
    torch.uint8: "unsigned char",
    torch.int8: "signed char",
    torch.int16: "short",
    torch.int32: "int",
    torch.int64: "long",
}


def integer_range(high: int, dtype: Any, low: int = 0) -> None:
    """Raise torch's error for an empty range of random integers, or one that a dtype (or tensor) does not hold."""
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    dtype = getattr(dtype, "dtype", dtype)
    if not isinstance(dtype, torch.dtype):  # the default of a schema is int64, by its number
        dtype = torch.int64
    if dtype.is_floating_point or dtype.is_complex:
        return
    least, most = (0, 1) if dtype is torch.bool else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
    for name, bound in (("from", low), ("to - 1", high - 1)):
        if not least <= bound <= most:
            raise RuntimeError(f"{name} is out of bounds for {_NAMES.get(dtype, str(dtype))}")


def integer_range_like(self: torch.Tensor, high: int, dtype: torch.dtype | None, low: int = 0) -> None:
    """As `integer_range`, by default in the dtype of a tensor."""
    integer_range(high, self if dtype is None else dtype, low)


def random_range(self: torch.Tensor, to: int | None, from_: int = 0) -> None:
    """As `integer_range`, for the dtype of a written tensor. Without `to`, the range ends with the largest integer of
    the dtype."""
    if to is not None:
        integer_range(to, self.dtype, from_)


def slope_of_result(negative_slope: float, self_is_result: bool) -> None:
    """Raise torch's error for the gradient of an activation that was computed in place with a negative slope: the sign
    of its result does not tell that of its argument."""
    if self_is_result and negative_slope < 0:
        x = torch.zeros(1, device="cpu")
        torch.ops.aten.leaky_relu_backward(x, x, negative_slope, True)


def alpha_of_celu(alpha: float) -> None:
    """Raise torch's error for a division by zero."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")


def slope_of_elu(alpha: float, is_result: bool) -> None:
    """As `slope_of_result`."""
    if is_result and alpha < 0:
        x = torch.zeros(1, device="cpu")
        torch.ops.aten.elu_backward(x, alpha, 1, 1, True, x)


def slope_of_rrelu(lower: float, upper: float, training: bool, self_is_result: bool) -> None:
    """As `slope_of_result`, for the mean slope, which is used where none was drawn."""
    if not training or upper - lower <= 1e-6:
        slope_of_result((lower + upper) / 2, self_is_result)
