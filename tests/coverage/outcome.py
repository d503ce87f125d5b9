"""Outcomes: the result of one check of one entry in one dtype."""

from __future__ import annotations

from dataclasses import dataclass

# The letters in results files, with their names on the dashboard.
LETTERS = {
    "p": "pass",
    "f": "fail",
    "c": "crash",
    "t": "timeout",
    "s": "skip",
    "n": "not applicable",
    "-": "not run",
}
BAD = frozenset("fct")
MESSAGE_LENGTH = 240


@dataclass(frozen=True)
class Outcome:
    """A letter of `LETTERS`, with the message of a failure or the reason of a skip."""

    letter: str
    why: str = ""

    def __post_init__(self) -> None:
        if self.letter not in LETTERS:
            raise ValueError(f"outcome {self.letter!r}: unknown; expected one of {''.join(LETTERS)}")
        if self.letter in "fcts" and not self.why:
            raise ValueError(f"outcome {self.letter!r}: no reason given; a reader must be able to check it")

    @property
    def bad(self) -> bool:
        return self.letter in BAD


class UnsuitableError(Exception):
    """The check cannot use the sample, because CPU torch does not support it; the message is the reason."""


class InapplicableError(UnsuitableError):
    """The check does not apply to the sample: nothing requires a gradient, or the result is not a tensor."""


PASS = Outcome("p")


def fail(why: str) -> Outcome:
    return Outcome("f", shorten(why))


def skip(why: str) -> Outcome:
    return Outcome("s", shorten(why))


def inapplicable(why: str) -> Outcome:
    return Outcome("n", shorten(why))


def shorten(text: str) -> str:
    """One line of bounded length, without addresses that change from run to run."""
    line = " ".join(text.split())
    return line if len(line) <= MESSAGE_LENGTH else line[: MESSAGE_LENGTH - 1] + "…"


def blame(error: BaseException) -> str:
    """`Type: first line of the message`."""
    lines = str(error).strip().splitlines()
    return shorten(f"{type(error).__name__}: {lines[0] if lines else ''}")
