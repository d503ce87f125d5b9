"""Places of a program from which recording does not pay, because sizes change each time.

A program of lazy mode serves one combination of sizes. Where each step has other sizes (the tokens of an expert, the
nodes of a batch of graphs), each step would compile programs, while the sizes of a single eager operation recur much
sooner. A place is the line whose barrier ended the tape before: it is known before the next operation is recorded.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from .programs import TapeProgram
from .recorded import RecordedOp

_COMPILED = 4  # programs of known operations, but new sizes, after which recording pauses; two runs of programs that
# exist already count against one
_STEPS = 4  # how many times it pauses at first; each further program that is compiled doubles that
_HELD = 1024  # places; a full table is cleared


@dataclass(slots=True)
class Place:
    """What ran after a place."""

    operations: set[int] = field(default_factory=set)  # hashes of the names of the operations of each program
    compiled: float = 0.0
    pause: int = _STEPS  # how many times recording pauses here next
    left: int = 0  # how many times more it pauses now


class ChangingSizes:
    """The places of a thread."""

    def __init__(self) -> None:
        self._places: defaultdict[str, Place] = defaultdict(Place)
        self.last = ""  # the place after which the current tape began

    def note(self, program: TapeProgram, compiled: bool, cause: str) -> None:
        """Note a run of a program, whether it was compiled for it, and the place that ended its tape."""
        if len(self._places) >= _HELD:
            self._places.clear()
        place, self.last = self._places[self.last], cause
        if not compiled:
            place.compiled, place.pause = max(place.compiled - 0.5, 0), max(place.pause // 2, _STEPS)
            return
        operations = hash(tuple([e.name for e in program.key[0] if e.__class__ is RecordedOp]))
        if operations not in place.operations:
            place.operations.add(operations)
            return
        place.compiled += 1
        if place.compiled >= _COMPILED:
            place.compiled = _COMPILED - 1
            place.left, place.pause = place.pause, 2 * place.pause

    def pauses(self) -> bool:
        """Whether recording pauses after the place that ended the last tape. Called once each time."""
        place = self._places[self.last]
        paused = place.left > 0
        place.left -= paused
        return paused

    @property
    def changing(self) -> tuple[str, ...]:
        """The places after which recording pauses now."""
        return tuple([name for name, place in self._places.items() if place.left])
