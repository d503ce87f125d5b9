"""Places of a program from which recording does not pay, because sizes change each time.

A program of lazy mode serves one combination of sizes. Where each step has other sizes (the tokens of an expert, the
nodes of a batch of graphs), each step would compile programs, while the sizes of a single eager operation recur much
sooner. A place is the line whose barrier ended the tape before: it is known before the next operation is recorded.
"""

from __future__ import annotations

from .programs import TapeProgram
from .recorded import RecordedOp

_COMPILED = 4  # programs of known operations, but new sizes, after which recording pauses; two runs of programs that
# exist already count against one
_STEPS = 4  # how many times it pauses at first; each further program that is compiled doubles that
_HELD = 1024  # places; a full table is cleared


class AfterPlace:
    """What ran after one place."""

    def __init__(self) -> None:
        self._operations: set[int] = set()  # hashes of the names of the operations of each program
        self._compiled = 0.0
        self._next = _STEPS
        self.left = 0  # how many times more recording pauses here

    def note(self, program: TapeProgram, compiled: bool) -> None:
        """Note a run of a program, and whether it was compiled for it."""
        if not compiled:
            self._compiled, self._next = max(self._compiled - 0.5, 0), max(self._next // 2, _STEPS)
            return
        operations = hash(tuple([e.name for e in program.key[0] if e.__class__ is RecordedOp]))
        if operations not in self._operations:
            self._operations.add(operations)
            return
        self._compiled += 1
        if self._compiled >= _COMPILED:
            self._compiled = _COMPILED - 1
            self.left, self._next = self._next, 2 * self._next


class ChangingSizes:
    """The places of a thread."""

    def __init__(self) -> None:
        self._places: dict[str, AfterPlace] = {}
        self.last = ""  # the place after which the current tape began

    def note(self, program: TapeProgram, compiled: bool, cause: str) -> None:
        """Note a run of a program, and the place that ended its tape."""
        if len(self._places) >= _HELD:
            self._places.clear()
        self._places.setdefault(self.last, AfterPlace()).note(program, compiled)
        self.last = cause

    def pauses(self) -> bool:
        """Whether recording pauses after the place that ended the last tape. Called once each time."""
        place = self._places.get(self.last)
        if place is None or not place.left:
            return False
        place.left -= 1
        return True

    @property
    def changing(self) -> tuple[str, ...]:
        """The places after which recording pauses now."""
        return tuple([name for name, place in self._places.items() if place.left])
