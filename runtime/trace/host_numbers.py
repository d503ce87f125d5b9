"""Host numbers that a run computes with, both in Python and in its program.

The program of a run is valid for other numbers if they lead to the same decisions (`if beta > 0.5`), and if Python
arithmetic on them neither raises nor exceeds 64 bits. Both are checked before each call by replaying the recorded
arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


@dataclass(frozen=True, eq=False, slots=True)
class HostNumber:
    """A number whose value is known during the run."""

    value: Any  # during the run
    place: int | None = None  # index among the inputs, or -1 - index among the steps; None for a constant


class _Step(NamedTuple):
    function: Callable[..., Any]
    operands: tuple[HostNumber, ...]
    kind: type  # of the result


@dataclass(slots=True)
class HostNumbers:
    """The arithmetic of a run on its host numbers, and the values that it read."""

    inputs: list[float] = field(default_factory=list)  # the values during the run
    steps: list[_Step] = field(default_factory=list)
    failing: set[int] = field(default_factory=set)  # the steps that could fail for other numbers
    read: list[HostNumber] = field(default_factory=list)  # the numbers whose values the run read
    typed: bool = False  # whether other numbers may have other types
    given: bool = False  # whether the run returns or stores computed numbers
    _order: list[int] | None = None  # the steps needed for `failing` and `read`

    def __bool__(self) -> bool:
        return bool(self.read or self.failing or self.typed)

    def input(self, value: float) -> int:
        """Add an input and return its index."""
        self.inputs.append(value)
        return len(self.inputs) - 1

    def compute(self, function: Callable[..., Any], operands: tuple[HostNumber, ...], kind: type) -> HostNumber:
        """Compute and record a step of arithmetic.

        Raises:
            ArithmeticError: raised by Python.
            ValueError: raised by Python, or the result has another type or is an int of more than 64 bits.
        """
        value = function(*(number.value for number in operands))
        if not _fits(value, kind):
            raise ValueError(f"expected {kind.__name__} of 64 bits, got {value!r}")
        if kind is int or function.__name__ in ("truediv", "floordiv", "mod", "pow"):
            self.failing.add(len(self.steps))
        self.steps.append(_Step(function, operands, kind))
        return HostNumber(value, -len(self.steps))

    def ask(self, number: HostNumber) -> Any:
        """Read the value of a number; the run then depends on it."""
        self.read.append(number)
        return number.value

    def needed_inputs(self) -> set[int]:
        """The inputs on whose values the program depends, and not only on decisions."""
        return self._inputs_of((), [number for number in self.read if not isinstance(number.value, bool)])

    def checked_inputs(self) -> set[int]:
        """The inputs that `hold` depends on."""
        return self._inputs_of(self.failing, self.read)

    def _inputs_of(self, steps: Iterable[int], numbers: Sequence[HostNumber]) -> set[int]:
        operands = [operand for i in self._needed(steps, numbers) for operand in self.steps[i].operands]
        return {n.place for n in (*numbers, *operands) if n.place is not None and n.place >= 0}

    def hold(self, inputs: Sequence[float]) -> bool:
        """Whether the program of the run is valid for other inputs."""
        if not all(_fits(new, type(old)) for new, old in zip(inputs, self.inputs, strict=True)):
            return False
        if self._order is None:
            self._order = self._needed(self.failing, self.read)
        try:
            values = self._values(inputs, self.read, self._order)
        except (ArithmeticError, ValueError):
            return False
        return all(repr(v) == repr(n.value) for v, n in zip(values, self.read, strict=True))  # of NaN and -0.0 too

    def value(self, number: HostNumber, inputs: Sequence[float]) -> Any:
        """Recompute a number of the run for other inputs, for which the program is valid."""
        return self._values(inputs, [number], self._needed((), [number]))[0]

    def _values(self, inputs: Sequence[float], numbers: Sequence[HostNumber], order: Sequence[int]) -> list[Any]:
        results: dict[int, Any] = {}

        def value(number: HostNumber) -> Any:
            place = number.place
            return number.value if place is None else inputs[place] if place >= 0 else results[-1 - place]

        for i in order:
            function, operands, kind = self.steps[i]
            given = [*map(value, operands)]
            if kind is int and function.__name__ in ("pow", "lshift") and given[1] > 64 and abs(given[0]) > 1:
                raise OverflowError("an int of more than 64 bits")  # which might take minutes
            results[i] = function(*given)
            if not _fits(results[i], kind):
                raise ValueError(f"expected {kind.__name__} of 64 bits, got {results[i]!r}")
        return [value(number) for number in numbers]

    def _needed(self, steps: Iterable[int], numbers: Sequence[HostNumber]) -> list[int]:
        needed = {*steps, *(-1 - n.place for n in numbers if n.place is not None and n.place < 0)}
        for i in reversed(range(len(self.steps))):
            if i in needed:
                places = [n.place for n in self.steps[i].operands]
                needed.update(-1 - place for place in places if place is not None and place < 0)
        return sorted(needed)


def _fits(value: Any, kind: type) -> bool:
    return type(value) is kind and (not isinstance(value, int) or -(2**63) <= value < 2**63)
