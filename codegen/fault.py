"""The form of all messages about faults in specs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
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


def one_of(given: str, known: Iterable[str], *, many: bool = False) -> str:
    """What was expected instead of an unknown name: the names that are spelled similarly; if none is, all, or nothing
    if there are `many`."""
    known = [*known]
    near = difflib.get_close_matches(given, known, 3) or ([] if many else known)
    return ("one of " if len(near) > 1 else "") + ", ".join(f"`{name}`" for name in near)


class SpecError(Exception):
    """Raised for a fault after which the generator cannot continue."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault
