"""Where a tape is cut that no barrier cuts: a loop is found by what recurs, and cut at the same place each time."""

from __future__ import annotations

import weakref

from ..storage.cell import Cell
from .recorded import RecordedOp

SHORTEST = 256  # operations between two cuts
LONGEST = 4096  # without a cut
_TAIL = 12  # operations in a row that say where a loop without writes is


class Cuts:
    """When to cut the tape of a thread.

    A loop that trains overwrites what it has overwritten before, by the same operation: there it is cut. A loop that
    writes nothing is cut where a sequence of operations recurs, once it is long. Another loop is found when the place
    of the last one does not come up in time.
    """

    def __init__(self) -> None:
        self.after = SHORTEST  # how many operations may be recorded before `due` is asked
        self._usual = 0  # how many operations there were at the last cut
        self._place: tuple[RecordedOp, weakref.ref[Cell]] | None = None
        self._tail: list[RecordedOp] = []

    def barrier(self, ops: int) -> None:
        """The program ended a step of so many operations by itself: it is not cut until it records many more."""
        self.after = max(self.after, 2 * ops)

    @property
    def longest(self) -> int:
        """How many operations may be recorded without a cut."""
        return max(LONGEST, 2 * self.after)

    def due(self, ops: list[RecordedOp], op: RecordedOp, target: Cell | None, again: bool) -> bool:
        """Whether the tape is cut before an operation is recorded.

        Args:
            ops: what it holds.
            op: the operation.
            target: the first cell that it writes.
            again: whether that cell holds what the same operation wrote, on this tape.
        """
        if not self._ends(ops, op, target, again):
            return False
        self._usual = len(ops)
        return True

    def _ends(self, ops: list[RecordedOp], op: RecordedOp, target: Cell | None, again: bool) -> bool:
        if self._place is not None and op is self._place[0] and target is self._place[1]():
            return True
        if self._tail and ops[-_TAIL:] == self._tail:
            return True
        if target is not None and again and len(ops) >= 2 * self._usual:
            self._place, self._tail = (op, weakref.ref(target)), []
            return True
        if len(ops) >= self.longest + _TAIL * bool(target):
            self._place, self._tail = None, ops[-_TAIL:]
            return True
        return False
