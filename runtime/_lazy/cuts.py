"""Cuts the tape of a loop that has no barriers: detects the loop by repetition and cuts at the same place each time."""

from __future__ import annotations

import weakref

from ..storage.cell import Cell
from .recorded import RecordedOp

SHORTEST = 256  # the fewest operations between two cuts
LONGEST = 4096  # the most operations without a cut
_TAIL = 12  # consecutive operations that identify a place in a loop without writes


class Cuts:
    """Decides when to cut the tape of a thread.

    A training loop overwrites the same cell by the same operation again, and is cut there. A loop without writes is
    cut, once the tape is long, where a sequence of operations recurs. If the known place does not come up in time, a
    new loop is searched for.
    """

    def __init__(self) -> None:
        self.after = SHORTEST  # the number of operations that are recorded before `due` is called
        self._usual = 0  # the number of operations at the last cut
        self._place: tuple[RecordedOp, weakref.ref[Cell]] | None = None
        self._tail: list[RecordedOp] = []

    def barrier(self, ops: int) -> None:
        """Note a barrier after a step of `ops` operations: no cut is made before twice as many are recorded."""
        self.after = max(self.after, 2 * ops)

    @property
    def longest(self) -> int:
        """The maximum number of operations without a cut."""
        return max(LONGEST, 2 * self.after)

    def due(self, ops: list[RecordedOp], op: RecordedOp, target: Cell | None, again: bool) -> bool:
        """Whether to cut the tape before recording an operation.

        Args:
            ops: the operations on the tape.
            op: the operation.
            target: the first cell that it writes.
            again: whether that cell holds a result of the same operation on this tape.
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
