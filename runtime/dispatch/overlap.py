"""Tensors of one memory among the arguments of a call: what may overlap, and what a write to it may not do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from .overload import Call, Overload

# What writes one value wherever it writes.
_ONE_VALUE = {"fill_.Scalar", "zero_", "_foreach_zero_"}


def shares(call: Call) -> bool:
    """Whether a written array is passed a second time."""
    held = {id(c.held) for c in call.cells}
    return sum([id(o) in held for o in call.operands]) > len(call.cells) - call.positions.count(-1)


def overlaps(written: Sequence[torch.Tensor], reads: Sequence[Any]) -> Iterator[int]:
    """How far from a written tensor each other one starts that may overlap it: nothing where none does."""
    others = [*written, *pytree.tree_leaves(reads)]
    for i, target in enumerate(written):
        start, end = _extent(target)
        for other in others[i + 1 :]:
            if isinstance(other, torch.Tensor) and other.untyped_storage()._cdata == target.untyped_storage()._cdata:
                first, last = _extent(other)
                if first < end and start < last:
                    yield first - start


def _extent(tensor: torch.Tensor) -> tuple[Any, Any]:
    """The first byte of a tensor in its memory, and the one after its last."""
    start = tensor.storage_offset()
    last = sum([s * (n - 1) for n, s in zip(tensor.size(), tensor.stride(), strict=True)])
    return start * tensor.itemsize, (start + last + 1) * tensor.itemsize if tensor.numel() else start


def refuse_expanded(overload: Overload, written: Sequence[torch.Tensor]) -> None:
    """Torch's error for a write to an expanded tensor; what writes one value, or by index, is let through, as there."""
    if overload.name in _ONE_VALUE or "index_put" in overload.name:
        return
    for tensor in written:
        if tensor.numel() and any(s == 0 and n > 1 for n, s in zip(tensor.size(), tensor.stride(), strict=True)):
            raise RuntimeError(
                "unsupported operation: more than one element of the written-to tensor refers to a single memory "
                "location. Please clone() the tensor before performing the operation."
            )
