"""Recurrent networks, whose results do not need all steps of the input to be described."""

from __future__ import annotations

from typing import Any


def two_steps(values: list[Any]) -> list[Any]:
    """The arguments of a recurrent network with the first two steps of its input.

    torch's Meta kernel loops over all steps, which takes seconds for a thousand.
    """
    x, sizes, batch_first = values[0], values[1], values[-1]
    if x.dim() == 3:
        axis = 1 if batch_first else 0
        return [x.narrow(axis, 0, min(2, x.size(axis))), *values[1:]]
    if x.dim() == 2 and sizes.sum() == len(x) and (sizes[1:] <= sizes[:-1]).all():  # packed
        return [x[: int(sizes[:2].sum())], sizes[:2], *values[2:]]
    return values
