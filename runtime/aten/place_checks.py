"""Checks of integers that state a place in an axis."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def index_in_axis(input_sizes: Sequence[int], dim: int, index: int) -> None:
    """Raise torch's error for an index beyond the axis that it selects from."""
    size = input_sizes[dim]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {[*input_sizes]} at dimension "
            f"{dim % len(input_sizes)}"
        )


def index_in_axis_of(self: torch.Tensor, dim: int, index: int) -> None:
    """As `index_in_axis`, for an axis of a tensor; other errors are left to the operator."""
    if -self.dim() <= dim < self.dim():
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
    if -rank <= dim < rank and not 1 <= k <= (self.size(dim) if self.dim() else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim % rank}")


def slice_of_length(
    grad_output: torch.Tensor, input_sizes: Sequence[int], dim: int, start: int, end: int, step: int
) -> None:
    """Raise torch's error for a gradient of another length than the slice."""
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
