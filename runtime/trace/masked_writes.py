"""What the places of a mask get in `x[mask] = values`, where the number of chosen elements is unknown.

torch lists the places of a mask, and one value for each. A `torch.where` of known shapes writes the same row to every
place, or the rows in order, and so does its gradient. The number of rows is an assertion of the program.
"""

from __future__ import annotations

import torch

from .._torch.functorch import unwrapped
from .async_errors import add_assertion
from .core import current_trace
from .transfer import read

MASKS = (torch.bool, torch.uint8)


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
        holds = chosen.sum() == (value.shape[axis] if count is None else count)
        add_assertion(read(unwrapped(holds)), "RuntimeError", otherwise)
    if not value.shape[axis]:  # a row to select, which is written nowhere
        value = torch.cat([value, value.new_zeros((*value.shape[:axis], 1, *value.shape[axis + 1 :]))], axis)
    rank = (chosen.cumsum(0) - 1).clamp(0, value.shape[axis] - 1)
    return value.index_select(axis, rank).unflatten(axis, mask.shape)
