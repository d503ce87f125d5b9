"""Operators that return a copy of their operand's memory, not only of its elements."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from .memory import elements
from .registry import kernel_of

Tensor = torch.Tensor


def as_strided_scatter(
    self: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """A copy of `self` in a copy of its memory, with a strided window replaced by `src`.

    Raises:
        RuntimeError: `self` requires a gradient and is not contiguous: torch has no derivative for that.
    """
    if self.requires_grad and not self.is_contiguous():
        raise RuntimeError(
            "as_strided_scatter is currently only supported for contiguous inputs that require a gradient"
        )
    if _covers(self) and not _repeats(size, stride):
        return kernel_of("as_strided_scatter")(self, src, size, stride, storage_offset)
    copied = _copied(self)
    copied.as_strided(size, stride, storage_offset).copy_(src)
    return copied


def as_strided_scatter_out(
    self: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
    *,
    out: Tensor,
) -> Tensor:
    """As `as_strided_scatter`, copied into `out`."""
    result = as_strided_scatter(self, src, size, stride, storage_offset)
    return out.resize_(result.size()).copy_(result) if out.size() != result.size() else out.copy_(result)


def copy(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """A copy of the memory of `self` with the values of `src`: functionalized programs take views of its result."""
    if _covers(self):
        return kernel_of("copy")(self, src)
    copied = _copied(self)
    copied.copy_(src)
    return copied


def foreach_copy(self: list[Tensor], src: list[Tensor], non_blocking: bool = False) -> list[Tensor]:
    """As `copy`, for each pair."""
    return [torch.ops.aten.copy.default(x, y) for x, y in zip(self, src, strict=True)]


def _covers(x: Tensor) -> bool:
    return x.is_contiguous() and x.numel() == elements(x)


def _copied(x: Tensor) -> Tensor:
    """The tensor on a copy of its memory."""
    if _repeats(x.size(), x.stride()):
        return x.clone()
    memory = x.as_strided((elements(x),), (1,), 0).clone()
    return memory.as_strided(x.size(), x.stride(), x.storage_offset())


def _repeats(size: Sequence[int], stride: Sequence[int]) -> bool:
    return any(n > 1 and step == 0 for n, step in zip(size, stride, strict=True))
