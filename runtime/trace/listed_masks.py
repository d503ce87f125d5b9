"""Masks of an index that are known in a trace: `x[:, [True, False]]`, NumPy arrays of bools, and masks on the CPU.

torch uploads such a mask and reads from the device where it is true. A trace cannot read that back, so the mask is
replaced by the positions of its true elements, which are the same index.
"""

from __future__ import annotations

from types import EllipsisType
from typing import Any

import numpy as np
import torch

from .masked_writes import MASKS


def with_listed_masks(x: torch.Tensor, index: Any) -> Any:
    """The index with positions in place of known masks; the same object if there are none.

    A mask whose shape does not fit is kept, so that torch raises its error.
    """
    parts = index if isinstance(index, tuple) else (index,)
    if not any(isinstance(part, (list, np.ndarray, torch.Tensor)) for part in parts):
        return index
    masks = [_mask(part) for part in parts]
    if all(mask is None for mask in masks):
        return index
    taken = [axes_of(part) if mask is None else mask.dim() for part, mask in zip(parts, masks, strict=True)]
    listed: list[Any] = []
    axis = 0
    for part, mask, axes in zip(parts, masks, taken, strict=True):
        if isinstance(part, EllipsisType):
            axis += x.dim() - sum(taken)
        if mask is None:
            listed.append(part)
        elif x.shape[axis : axis + axes] != mask.shape:
            return index
        else:
            listed.extend(mask.nonzero(as_tuple=True))
        axis += axes
    return tuple(listed)


def axes_of(part: Any) -> int:
    """The number of tensor axes that a part of an index consumes."""
    if part is None or isinstance(part, (bool, EllipsisType)):
        return 0
    if isinstance(part, (int, slice)):
        return 1
    tensor = part if isinstance(part, torch.Tensor) else torch.as_tensor(part)
    return tensor.dim() if tensor.dtype in MASKS else 1


def _mask(part: Any) -> torch.Tensor | None:
    """A list of bools, an array of bools or a mask on the CPU, as a tensor with axes; None for everything else."""
    if isinstance(part, torch.Tensor):
        return part if part.device.type == "cpu" and part.dtype in MASKS and part.dim() else None
    if isinstance(part, np.ndarray):
        return torch.from_numpy(part) if part.dtype == np.bool_ and part.ndim else None
    listed = isinstance(part, list) and bool(part) and all(isinstance(p, (bool, np.bool_)) for p in part)
    return torch.tensor(part) if listed else None
