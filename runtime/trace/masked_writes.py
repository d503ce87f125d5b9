"""`x[mask] = values` in a trace, where the number of chosen elements is unknown.

torch lists the places of a mask, and one value for each. A `torch.where` of known shapes writes the same row to every
place, or the rows in order, and so does its gradient. The number of rows is an assertion of the program. Rows that
were read by a mask, as in `x[mask] *= 2`, are computed at every place (`masked_reads.py`).
"""

from __future__ import annotations

from types import EllipsisType
from typing import Any

import torch

from .._torch.functorch import unwrapped
from ..storage.tensors import cell_of
from .async_errors import Assertion
from .core import current_trace, is_unknown, user_line
from .masked_reads import ChosenRows, row_of_places
from .transfer import read

MASKS = (torch.bool, torch.uint8)


def set_masked(x: torch.Tensor, index: tuple[Any, ...], value: Any) -> Any:
    """`x[index] = value` by an index of one unknown mask and slices.

    Returns None; or NotImplemented for other indices, and for Python numbers, for which the kernel of torch's operator
    needs no places.
    """
    if not isinstance(value, torch.Tensor) or value.device != x.device or not (value.dim() or value.requires_grad):
        return NotImplemented
    if (found := _at_mask(x, index)) is None:
        return NotImplemented
    view, mask, inner = found
    row: torch.Tensor | None
    if isinstance(value, ChosenRows):
        if value.dtype != view.dtype or value.row_axes != inner:
            return NotImplemented
        same = value.places is read(unwrapped(mask))
        row = value.rows if same else rows_in_order(value.in_order(), mask, inner, value.mask.sum())
    elif value.dtype != view.dtype and value.numel() != 1:
        return NotImplemented
    else:
        row = row_of_places(value, mask.dim(), inner)
        row = rows_in_order(value, mask, inner) if row is None else row
    new = torch.where(mask.bool().reshape(*mask.shape, *[1] * inner), row.to(view.dtype), view)
    if new.shape != view.shape:
        return NotImplemented
    view.copy_(new)
    return None


def get_masked(x: torch.Tensor, index: tuple[Any, ...]) -> Any:
    """`x[index]` by an index of one unknown mask and slices; NotImplemented for other indices."""
    found = _at_mask(x, index)
    return NotImplemented if found is None else ChosenRows.of(*found)


def _at_mask(x: torch.Tensor, index: tuple[Any, ...]) -> tuple[torch.Tensor, torch.Tensor, int] | None:
    """The part of x from which an index of one unknown mask chooses, the mask, and the number of axes of a row.

    Returns:
        None for other indices.
    """
    places = [k for k, part in enumerate(index) if is_unknown_mask(part)]
    rest = [part for k, part in enumerate(index) if k not in places]
    if len(places) != 1 or not all(part is None or type(part) in (int, slice, EllipsisType) for part in rest):
        return None
    lead, mask, tail = index[: places[0]], index[places[0]], index[places[0] + 1 :]
    view = x[(*lead, *[slice(None)] * mask.dim(), *tail)]
    spanned = x.dim() - mask.dim() - sum(type(part) in (int, slice) for part in rest)  # axes of an ellipsis
    first = sum(part is None or type(part) is slice for part in lead) + (spanned if ... in lead else 0)
    fits = view.shape[first : first + mask.dim()] == mask.shape
    return (view, mask, view.dim() - first - mask.dim()) if fits else None


def rows_in_order(
    value: torch.Tensor, mask: torch.Tensor, inner: int, count: torch.Tensor | None = None
) -> torch.Tensor:
    """What each place of an unknown mask gets, to be broadcast with the tensor that is written.

    Args:
        value: its axis before the last `inner` ones counts the places at which the mask is true, in order.
        mask: its axes stand in place of that axis.
        inner: the number of axes of a row.
        count: how many of the places of `value` count; by default all.

    Raises:
        RuntimeError: the mask is true elsewhere than at that many places. In a compiled function this is an assertion;
            a pure one does not check it, and repeats the last row.
    """
    while value.dim() > inner + 1 and value.shape[0] == 1:  # torch ignores leading axes of one element
        value = value.squeeze(0)
    axis = value.dim() - inner - 1
    chosen = mask.bool().flatten()
    if (trace := current_trace()) is not None and trace.asserts:
        otherwise = f"shape mismatch: value tensor of shape {[*value.shape]} cannot be broadcast to the mask's places"
        holds = read(unwrapped(chosen.sum() == (value.shape[axis] if count is None else count)))
        trace.conditions.append((holds, Assertion("RuntimeError", otherwise, user_line())))
    if not value.shape[axis]:  # a row to select, which is written nowhere
        value = torch.cat([value, value.new_zeros((*value.shape[:axis], 1, *value.shape[axis + 1 :]))], axis)
    rank = (chosen.cumsum(0) - 1).clamp(0, value.shape[axis] - 1)
    return value.index_select(axis, rank).unflatten(axis, mask.shape)


def is_unknown_mask(part: Any) -> bool:
    """Whether a part of an index is a mask with axes, on the device, whose value a trace does not know."""
    if not isinstance(part, torch.Tensor) or part.dtype not in MASKS or not part.dim() or part.device.type != "jax":
        return False
    return is_unknown(cell_of(unwrapped(part)).content)
