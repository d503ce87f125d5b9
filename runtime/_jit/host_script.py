"""What each call of a compiled step does on the host before its program runs: it reads the numbers of optimizers'
groups and steps schedulers, in the order of the traced run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    """The numbers of optimizers' groups that a function's programs take as inputs because they were seen to change.

    Learning rates that are set outside are inputs in any case.
    """

    scheduled: set[EntryId] = field(default_factory=set)  # other numbers, which a scheduler or the user changes
    own: set[EntryId] = field(default_factory=set)  # learning rates that the function itself sets
    seen: dict[EntryId, Any] = field(default_factory=dict)  # what numbers were when a program was last traced

    def __bool__(self) -> bool:
        return bool(self.scheduled or self.own)

    def note(self, optimizers: Iterable[Any]) -> None:
        """Take numbers as inputs that changed since a program was last traced: a momentum that a scheduler moves."""
        for group in (group for optimizer in optimizers for group in optimizer.param_groups):
            for key, value in group.items():
                if key == "lr" or not can_be_passed(group, key):
                    continue
                entry = id(group), key
                if self.seen.setdefault(entry, value) != value:
                    self.scheduled.add(entry)
                    self.seen[entry] = value

    def update(self, more: PassedNumbers) -> None:
        """Add further ones."""
        self.scheduled |= more.scheduled
        self.own |= more.own


def can_be_passed(group: dict[str, Any], key: str) -> bool:
    """Whether an entry is made of floats and the optimizer is not fused: fused kernels take constants."""
    value = group.get(key)
    values = value if isinstance(value, tuple) else (value,)
    return not group.get("fused") and bool(values) and all(isinstance(v, float) for v in values)
