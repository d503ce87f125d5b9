"""Arguments that are parts of larger tensors, such as minibatches `data[i : i + 32]` of a data set on the device.

Such a view shares its memory with the rest, so a program for it depends on where it starts. A function that only reads
it gets a copy instead, and one program serves all parts.
"""

from __future__ import annotations

from typing import Any

import torch

from ..storage.cell import Cell

_Tensor: Any = torch.Tensor  # its properties are descriptors
OF_MEMORY = (  # functions that tell where the memory of a tensor is, or read beyond it
    *(torch.as_strided, _Tensor.as_strided, _Tensor.as_strided_, torch.as_strided_copy, torch.as_strided_scatter),
    *(_Tensor.storage_offset, _Tensor.data_ptr, _Tensor.untyped_storage, _Tensor.storage, _Tensor.set_),
    *(_Tensor._base.__get__, _Tensor._is_view),
)


def is_part(tensor: torch.Tensor, cell: Cell) -> bool:
    """Whether an argument is a contiguous part of an array, at most half of it, which a copy can replace: its memory
    alone differs."""
    plain = tensor.__class__ is torch.Tensor and not tensor.requires_grad and not tensor.__dict__
    small = plain and 2 * tensor.nbytes <= cell.nbytes and cell.aval.sharding is None
    return small and tensor.is_contiguous() and not tensor.is_neg()


def copy_of(tensor: torch.Tensor, parts: dict[int, torch.Tensor], arguments: list[object]) -> torch.Tensor:
    """A copy of an argument; the same one for an argument that is passed twice, as an earlier one of `parts`."""
    earlier = next((arguments[i] for i, part in parts.items() if part is tensor), None)
    if isinstance(earlier, torch.Tensor):
        return earlier
    with torch.no_grad():
        return tensor.clone()
