"""Whether an executable may donate an array that is passed to it: only if nothing else holds a reference to it.

Only its cell and the operand list of the call reference an unshared array, so its reference count tells. What a count
means depends on the interpreter: CPython 3.14 passes local variables without counting them, so a fixed threshold would
donate arrays that a program still holds. Therefore one function reads all counts, from a list, and they are calibrated
when this module is imported: an object is held in each way that occurs, and each holder must increase its count. If one
does not, nothing is donated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from sys import getrefcount
from typing import Any

from ..storage.cell import Cell, FreshCell


def _counts(objects: list[Any], positions: Iterable[int]) -> Iterator[int]:
    # No Python frame holds the object meanwhile, so the count cannot depend on how an interpreter treats frames.
    return map(getrefcount, map(objects.__getitem__, positions))


def has_at_most(objects: list[Any], references: int) -> bool:
    """Whether no object of a list has more than `references` references besides the list's; False if not calibrated."""
    return _in_list is not None and max(_counts(objects, range(len(objects)))) <= _in_list + references


def held_elsewhere(
    arrays: list[Any], positions: Sequence[int], cells: Iterable[Cell], at_hand: bool = False
) -> list[int]:
    """The positions of arrays that are referenced by anything besides the list and their cells.

    Args:
        arrays: the operands of a call.
        positions: positions of the arrays that it would donate.
        cells: the cells of these arrays.
        at_hand: whether each of the cells has its `array` set, as is usual; this allows a faster check.
    """
    if _in_list is None:
        return [*positions]
    if at_hand and max(_counts(arrays, positions), default=0) <= _in_list + 2:
        return []
    counts = zip(positions, _counts(arrays, positions), cells, strict=True)
    # A cell holds its array as its content, and once more as `array`.
    return [i for i, count, cell in counts if count > _in_list + 1 + (cell.array is not None)]


def held_by_list_only(objects: list[Any], positions: Sequence[int]) -> list[int]:
    """The positions of objects that nothing but the list references."""
    counts = zip(positions, _counts(objects, positions), strict=True)
    return [i for i, count in counts if _in_list is not None and count <= _in_list]


def is_available() -> bool:
    """Whether arrays can be donated in this interpreter."""
    return _in_list is not None


class _Probe:
    """A stand-in for an array during calibration."""


def _suspended(cell: Cell) -> Iterator[Any]:
    """A suspended generator with the array among its local variables."""

    def generator() -> Iterator[Any]:
        array = cell.content
        yield
        yield array

    holder = generator()
    next(holder)
    return holder


# The ways in which a program can hold an array; each function returns an object that holds the array of a cell.
_HOLDERS: tuple[Callable[[Cell], Any], ...] = (
    lambda cell: [cell.content],
    lambda cell: FreshCell(cell.content, cell.aval),  # type: ignore[arg-type]
    lambda cell: (lambda array: lambda: array)(cell.content),
    _suspended,
)


def _call(at_hand: bool) -> tuple[Cell, list[Any]]:
    """A cell, and the operand list of a call that passes its array."""
    cell = FreshCell(_Probe(), None)  # type: ignore[arg-type]
    if not at_hand:
        cell.array = None
    return cell, [cell.content]


def _count(operands: list[Any]) -> int:
    return next(_counts(operands, (0,)))


def _count_beside_a_name(cell: Cell, operands: list[Any]) -> int:
    array = cell.content
    count = _count(operands)
    assert array is operands[0]
    return count


def calibrate() -> int | None:
    """The reference count of an object that only a list holds; None if another holder does not increase the count."""
    in_list = _count([_Probe()])
    for at_hand in (False, True):
        unshared = in_list + 1 + at_hand
        cell, operands = _call(at_hand)
        if _count(operands) != unshared or _count_beside_a_name(cell, operands) != unshared + 1:
            return None
        for hold in _HOLDERS:
            holder = hold(cell)
            if _count(operands) <= unshared:
                return None
            del holder
    return in_list


_in_list = calibrate()
