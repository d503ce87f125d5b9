"""Places of a program from which recording does not pay, because sizes change each time.

A program of lazy mode serves one combination of sizes. Where each step has other sizes (the tokens of an expert, the
nodes of a batch of graphs), each step would compile programs, while eager operations have programs that serve many
sizes. A place is the line whose barrier ended the tape before: it is known before the next operation is recorded.
"""

from __future__ import annotations

from .programs import TapeProgram
from .recorded import RecordedOp

_COMPILED = 16  # programs of known operations, but new sizes, after which a place counts as changing; two runs of
# programs that exist already count against one
_HELD = 1024  # places; a full table is cleared


class Place:
    """What was run after one place."""

    def __init__(self) -> None:
        self.operations: set[int] = set()  # hashes of the names of the operations of each program
        self.compiled = 0.0

    def note(self, program: TapeProgram, compiled: bool) -> None:
        """Note a run of a program, and whether it was compiled for it."""
        if not compiled:
            self.compiled = max(self.compiled - 0.5, 0)
            return
        operations = hash(tuple([e.name for e in program.key[0] if e.__class__ is RecordedOp]))
        if operations in self.operations:
            self.compiled += 1
        self.operations.add(operations)

    @property
    def changes(self) -> bool:
        """Whether sizes keep changing after it."""
        return self.compiled >= _COMPILED


class Places:
    """The places of a thread."""

    def __init__(self) -> None:
        self._places: dict[str, Place] = {}
        self.last = ""  # the place after which the current tape began

    def note(self, program: TapeProgram, compiled: bool, cause: str) -> None:
        """Note a run of a program, and the place that ended its tape."""
        if len(self._places) >= _HELD:
            self._places.clear()
        self._places.setdefault(self.last, Place()).note(program, compiled)
        self.last = cause

    def changes(self) -> bool:
        """Whether sizes keep changing after the place that ended the last tape."""
        place = self._places.get(self.last)
        return place is not None and place.changes

    @property
    def changing(self) -> tuple[str, ...]:
        """The places after which sizes keep changing."""
        return tuple([name for name, place in self._places.items() if place.changes])
