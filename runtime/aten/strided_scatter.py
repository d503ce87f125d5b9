"""`as_strided_scatter`, which addresses the memory of its operand."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from .memory import elements
from .registry import kernel_of

Tensor = torch.Tensor


def as_strided_scatter(
    self: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """A copy of `self` in a copy of its memory, where a strided window is replaced by `src`.

    Raises:
        RuntimeError: `self` requires a gradient and is not contiguous, for which torch has no derivative.
    """
    if self.requires_grad and not self.is_contiguous():
        raise RuntimeError(
            "as_strided_scatter is currently only supported for contiguous inputs that require a gradient"
        )
    covers = self.is_contiguous() and self.numel() == elements(self)
    if covers and not _repeats(size, stride):
        return kernel_of("as_strided_scatter")(self, src, size, stride, storage_offset)
    if _repeats(self.size(), self.stride()):
        copy = self.clone()
    else:
        memory = self.as_strided((elements(self),), (1,), 0).clone()
        copy = memory.as_strided(self.size(), self.stride(), self.storage_offset())
    copy.as_strided(size, stride, storage_offset).copy_(src)
    return copy


def as_strided_scatter_out(
    self: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
    *,
    out: Tensor,
) -> Tensor:
    """The same, copied into `out`."""
    result = as_strided_scatter(self, src, size, stride, storage_offset)
    return out.resize_(result.size()).copy_(result) if out.size() != result.size() else out.copy_(result)


def _repeats(size: Sequence[int], stride: Sequence[int]) -> bool:
    return any(n > 1 and step == 0 for n, step in zip(size, stride, strict=True))
