"""The form of all messages about faults in specs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Fault:
    """`file:line: what is wrong; what was expected`."""

    file: str
    line: int
    wrong: str
    expected: str = ""

    def __str__(self) -> str:
        text = f"{self.file}:{self.line}: {self.wrong}"
        return f"{text}; expected {self.expected}" if self.expected else text


class Unreadable(Fault):
    """A fault of a file as a whole: none of its entries is known, so nothing can be generated."""


class SpecError(Exception):
    """Raised for a fault after which the generator cannot continue."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault
