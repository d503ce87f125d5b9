"""What each call of a compiled step does on the host before its program runs: it reads the numbers of optimizers'
groups and steps schedulers, in the order of the traced run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..trace.symbols import NumberGuards

EntryId = tuple[int, Any]  # of an entry of a container: the id of the container, and the key


class GroupNumber(NamedTuple):
    """A number of an optimizer's group that each call passes to the program."""

    group: dict[str, Any]
    key: str
    position: int | None = None  # where the entry is a tuple

    def value(self) -> float:
        """The number now."""
        entry = self.group[self.key]
        return entry if self.position is None else entry[self.position]


class HostCall(NamedTuple):
    """A call that each call of the compiled step makes on the host."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(frozen=True, slots=True)
class HostScript:
    """The host's part of a compiled step."""

    entries: tuple[GroupNumber | HostCall, ...]
    choices: NumberGuards  # what the run decided by the numbers

    def peek(self) -> list[float]:
        """The numbers as they are before the calls are made."""
        return [entry.value() for entry in self.entries if isinstance(entry, GroupNumber)]

    def play(self) -> list[float]:
        """Make the calls; the numbers, each read at its place among them."""
        numbers = []
        for entry in self.entries:
            if isinstance(entry, GroupNumber):
                numbers.append(entry.value())
            else:
                entry.function(*entry.args, **entry.kwargs)
        return numbers

    def passed(self) -> set[EntryId]:
        """The entries of groups that are inputs."""
        return {(id(n.group), n.key) for n in self.entries if isinstance(n, GroupNumber)}


@dataclass(slots=True)
class PassedNumbers:
    """The numbers of optimizers' groups that a function's programs take as inputs because of what a run showed.

    Learning rates that are set outside are inputs in any case.
    """

    scheduled: set[EntryId] = field(default_factory=set)  # numbers other than learning rates, that schedulers change
    own: set[EntryId] = field(default_factory=set)  # learning rates that the function itself sets

    def __bool__(self) -> bool:
        return bool(self.scheduled or self.own)

    def update(self, more: PassedNumbers) -> None:
        """Add further ones."""
        self.scheduled |= more.scheduled
        self.own |= more.own
