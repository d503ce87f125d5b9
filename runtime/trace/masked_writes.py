"""`x[mask] = row` in a trace, where the number of chosen elements is unknown.

torch lists the places of a mask, and one value for each. Where every place gets the same row, the write is a
`torch.where` of known shapes, and so is its gradient.
"""

from __future__ import annotations

from types import EllipsisType
from typing import Any

import torch

from .._torch.functorch import unwrapped
from ..storage.tensors import cell_of
from .core import is_unknown

MASKS = (torch.bool, torch.uint8)


def set_masked(x: torch.Tensor, index: tuple[Any, ...], value: Any) -> Any:
    """`x[index] = value` by an index of one unknown mask and slices.

    Returns None; or NotImplemented for other indices, for a value for each place, and for Python numbers, for which
    the kernel of torch's operator needs no places.
    """
    if not isinstance(value, torch.Tensor) or value.device != x.device or not (value.dim() or value.requires_grad):
        return NotImplemented
    places = [k for k, part in enumerate(index) if _is_unknown_mask(part)]
    rest = [part for k, part in enumerate(index) if k not in places]
    if len(places) != 1 or not all(part is None or type(part) in (int, slice, EllipsisType) for part in rest):
        return NotImplemented
    lead, mask, tail = index[: places[0]], index[places[0]], index[places[0] + 1 :]
    view = x[(*lead, *[slice(None)] * mask.dim(), *tail)]
    spanned = x.dim() - mask.dim() - sum(type(part) in (int, slice) for part in rest)  # axes of an ellipsis
    first = sum(part is None or type(part) is slice for part in lead) + (spanned if ... in lead else 0)
    inner = view.dim() - first - mask.dim()
    row = row_of_places(value, mask.dim(), inner) if value.dtype == view.dtype or value.numel() == 1 else None
    if row is None or view.shape[first : first + mask.dim()] != mask.shape:
        return NotImplemented
    new = torch.where(mask.bool().reshape(*mask.shape, *[1] * inner), row.to(view.dtype), view)
    if new.shape != view.shape:
        return NotImplemented
    view.copy_(new)
    return None


def row_of_places(value: torch.Tensor, axes: int, inner: int) -> torch.Tensor | None:
    """What every place of a mask gets, to be broadcast with the tensor that is written.

    Args:
        value: one row; its axis before the last `inner` ones, which counts places, is missing or has size 1.
        axes: the number of axes of the mask, which stand in place of that axis.
        inner: the number of axes of a row.

    Returns:
        None if there is a value for each place.
    """
    if value.numel() == 1:
        return value.reshape(())
    if value.dim() <= inner:
        return value
    first = value.dim() - inner - 1
    while first and value.shape[0] == 1:  # torch ignores leading axes of one element
        value, first = value.squeeze(0), first - 1
    if value.shape[first] != 1:
        return None
    return value.reshape(*value.shape[:first], *[1] * axes, *value.shape[first + 1 :])


def _is_unknown_mask(part: Any) -> bool:
    """Whether a part of an index is a mask with axes, on the device, whose value a trace does not know."""
    if not isinstance(part, torch.Tensor) or part.dtype not in MASKS or not part.dim() or part.device.type != "jax":
        return False
    return is_unknown(cell_of(unwrapped(part)).content)
