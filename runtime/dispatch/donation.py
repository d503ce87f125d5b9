"""When eager operations and compiled programs donate: reuse the buffers of arrays that they overwrite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..storage.cell import Cell

_WORTHWHILE = 1 << 16  # bytes per array on average; allocating a smaller buffer is cheaper than counting
MANY = 16  # arrays of any size: counting references takes less time than allocating as many
_WORTHWHILE_ALONE = 1 << 20  # bytes, if an operation writes only one array: the fast path does not count references


def is_worthwhile(nbytes: int, arrays: int) -> bool:
    """Whether arrays of `nbytes` in total are large enough to check whether they can be donated."""
    return nbytes >= _WORTHWHILE * arrays


def is_worthwhile_in_eager(nbytes: int, arrays: int) -> bool:
    """As `is_worthwhile`, for the arrays that one eager operation writes."""
    return arrays >= MANY or nbytes >= (_WORTHWHILE_ALONE if arrays == 1 else _WORTHWHILE * arrays)


def is_held(
    operands: list[Any], donated: Sequence[int], positions: Sequence[int], cells: Sequence[Cell], at_hand: bool = False
) -> bool:
    """Whether anything but the operands of a call and its cells holds an array that the call would donate.

    Args:
        operands: what the call passes.
        donated: positions of the arrays to donate.
        positions: positions of the arrays of all written tensors; -1 for one whose array is not passed.
        cells: the cells of these.
        at_hand: as for `held_elsewhere`.
    """
    from .reference_counts import held_elsewhere

    of_donated: Iterable[Cell] = cells if len(donated) == len(positions) else _cells_at(donated, positions, cells)
    return bool(held_elsewhere(operands, donated, of_donated, at_hand))


def _cells_at(donated: Sequence[int], positions: Sequence[int], cells: Sequence[Cell]) -> Iterator[Cell]:
    # A generator, because the usual check of a step with hundreds of tensors does not need the cells.
    places = dict(zip(positions, cells, strict=True))
    yield from map(places.__getitem__, donated)


def repeat_until_done(write: Callable[[], Any]) -> None:
    """Write the results of a program whose operands were donated; start again if Ctrl-C interrupts it."""
    while True:
        try:
            write()
            return
        except KeyboardInterrupt:
            continue
