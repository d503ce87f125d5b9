"""The host script of a compiled step: before its program runs, each call reads numbers (such as those of optimizer
groups) and steps schedulers, in the order of the traced run."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..trace.host_numbers import HostNumbers
from .sources import MISSING, EntryId, Fetch, Source, argument_path, content_at, entry_path, is_told_by_key
from .state_graph import StateGraph
from .state_patterns import is_batch, may_have_pattern
from .wrappers import is_distributed, is_wrapper

Place = EntryId | str  # or the path of an entry whose container each call looks up again


class PassedNumber(NamedTuple):
    """A number that each call passes to the program."""

    place: Source | int  # an entry, such as an attribute or a variable, or the position of an argument
    in_group: bool = False  # whether the entry is one of an optimizer's parameter group
    item: int | None = None  # its position in an entry that is a tuple

    def value(self, arguments: Sequence[Any]) -> Any:
        """The number in a call with these arguments."""
        if isinstance(self.place, int):
            return arguments[self.place]
        entry = content_at(self.place.at(arguments))
        if not self.in_group or entry is MISSING:
            return entry
        return float(entry if self.item is None else entry[self.item])

    @property
    def path(self) -> str:
        """The path of the number, for messages."""
        return argument_path(self.place) if isinstance(self.place, int) else self.place.path


def group_number(group: dict[str, Any], key: str, item: int | None = None) -> PassedNumber:
    """A number in an optimizer's parameter group."""
    return PassedNumber(Source(group, key, f"{key} of an optimizer's group"), True, item)


HostCall = functools.partial[Any]  # a call that each call of the compiled step repeats
ScriptEntry = PassedNumber | HostCall


@dataclass(frozen=True, slots=True)
class HostScript:
    """The host script of a compiled step."""

    entries: tuple[ScriptEntry, ...]
    choices: HostNumbers  # the run's computations with the numbers, and decisions based on them

    def peek(self, arguments: Sequence[Any]) -> list[float]:
        """The numbers of a call before any host calls are made."""
        return [entry.value(arguments) for entry in self.entries if isinstance(entry, PassedNumber)]

    def numbers(self) -> list[PassedNumber]:
        """The numbers, in order."""
        return [entry for entry in self.entries if isinstance(entry, PassedNumber)]

    def difference(self, arguments: Sequence[Any]) -> str:
        """The numbers of a call for which the program is not valid, as text; empty if it is valid."""
        values = self.peek(arguments)
        if self.choices.hold(values):
            return ""
        checked = self.choices.checked_inputs()
        return "; ".join(
            f"{number.path} was {old!r} and is {new!r}"
            for i, (number, old, new) in enumerate(zip(self.numbers(), self.choices.inputs, values, strict=True))
            if type(old) is not type(new) or (i in checked and repr(old) != repr(new))
        )

    def play(self, arguments: Sequence[Any]) -> list[float]:
        """Make the host calls; return the numbers, each read at its position among these calls."""
        numbers = []
        for entry in self.entries:
            if isinstance(entry, PassedNumber):
                numbers.append(entry.value(arguments))
            else:
                entry()
        return numbers

    def needed(self) -> tuple[list[int], list[Source]]:
        """The positions of the arguments, and the entries, on whose values the program depends."""
        needed = self.choices.needed_inputs()
        places = [number.place for i, number in enumerate(self.numbers()) if i in needed and not number.in_group]
        return [x for x in places if isinstance(x, int)], [x for x in places if isinstance(x, Source)]

    def relocated(self, containers: Mapping[int, Fetch]) -> HostScript:
        """The same script with numbers in containers that each call fetches; see `Source.relocated`."""
        entries = (
            entry._replace(place=entry.place.relocated(containers))
            if isinstance(entry, PassedNumber) and isinstance(entry.place, Source) and not entry.in_group
            else entry
            for entry in self.entries
        )
        return HostScript(tuple(entries), self.choices)

    def passed(self) -> set[EntryId]:
        """The entries whose numbers are inputs."""
        return {n.place.entry for n in self.numbers() if isinstance(n.place, Source)}


@dataclass(slots=True)
class PassedNumbers:
    """The numbers that a function's programs take as inputs because they were seen to change: in optimizer groups,
    among the arguments, and in other entries.

    Learning rates that are set outside are always inputs.
    """

    scheduled: set[EntryId] = field(default_factory=set)  # other group numbers that a scheduler or the user changes
    seen: dict[Place, Any] = field(default_factory=dict)  # the values when a program was last traced
    arguments: set[int] = field(default_factory=set)  # positions among the leaves of the arguments, also of objects
    entries: set[Place] = field(default_factory=set)  # of attributes, dicts, variables; group numbers that steps set
    rebound: set[str] = field(default_factory=set)  # paths of entries whose containers each call looks up again
    constant: set[int | Place] = field(default_factory=set)  # numbers whose values programs depend on
    general: set[int | Place] = field(default_factory=set)  # inputs of a program that does not depend on their values
    given: dict[Any, list[Any]] = field(default_factory=dict)  # the arguments of the last trace, by structure

    def __bool__(self) -> bool:
        return bool(self.scheduled or self.entries or self.constant)

    def among(self, arguments: Sequence[Any]) -> list[int]:
        """The positions of the arguments of a call that are numeric inputs."""
        return [i for i in sorted(self.arguments) if i < len(arguments) and is_passable(arguments[i])]

    def note_arguments(self, structure: Any, arguments: list[Any]) -> None:
        """Note in what a call differs from the last trace of a call of this structure: such numbers become inputs, and
        such objects are compared by structure. Batches are so from the first call."""
        objects = {i: x for i, x in enumerate(arguments) if not is_told_by_key(x) and may_have_pattern(x)}
        given = [id(x) if i in objects else x if is_passable(x) else None for i, x in enumerate(arguments)]
        pairs = enumerate(zip(self.given.get(structure, given), given, strict=True))
        self.arguments |= {i for i, (old, new) in pairs if old != new} - self.constant
        self.arguments |= {i for i, x in objects.items() if is_batch(x)}
        self.given[structure] = given

    def within(self, state: StateGraph) -> list[Source]:
        """The entries of a state that are inputs."""
        return [source for source in numbers_of(state) if self._place(source) in self.entries] if self.entries else []

    def _place(self, source: Source) -> Place:
        """The identity of an entry across traces."""
        return source.path if source.path in self.rebound else source.entry

    def note_rebound(self, numbers: Mapping[str, Any]) -> None:
        """Identify numbers by path from now on if their containers are looked up again by each call."""
        for path in numbers.keys() - self.rebound:
            self.rebound.add(path)
            self.seen[path] = numbers[path]

    def note_state(self, state: StateGraph) -> None:
        """Make numbers inputs if they changed since a program was last traced: group numbers, such as a scheduled
        momentum, during the optimizer's steps, and others, such as a step counter, from the beginning."""
        groups = groups_of(state)
        for group in groups.values():
            passable = [key for key in group if key != "lr" and can_be_passed(group, key)]
            self.scheduled |= self._changed(((id(group), key), group[key]) for key in passable)
        others = (s for s in numbers_of(state) if id(s.container) not in groups or type(content_at(s)) is int)
        self.entries |= self._changed((self._place(s), content_at(s)) for s in others) - self.constant

    def _changed(self, numbers: Iterable[tuple[Any, Any]]) -> set[Any]:
        """The places of numbers that changed since a program was last traced."""
        changed = {place: value for place, value in numbers if self.seen.setdefault(place, value) != value}
        self.seen.update(changed)
        return {*changed}

    def settle(
        self, inputs: tuple[Iterable[int], Iterable[Source]], needed: tuple[Iterable[int], Iterable[Source]]
    ) -> None:
        """Make programs depend on the values of inputs that a run needed, unless another run did without."""
        taken, read = ({*positions, *map(self._place, sources)} for positions, sources in (inputs, needed))
        self.general |= taken - read
        self._hold(read - self.general)

    def hold_constant(self, positions: Iterable[int], sources: Iterable[Source]) -> None:
        """Make programs depend on the values of some arguments and entries, permanently."""
        self._hold({*positions, *map(self._place, sources)})

    def _hold(self, places: set[int | Place]) -> None:
        self.constant |= places
        self.arguments -= self.constant
        self.entries -= self.constant

    def update(self, more: PassedNumbers) -> None:
        """Add the group numbers of `more`."""
        self.scheduled |= more.scheduled
        self.constant |= more.constant
        self.entries = (self.entries | more.entries) - self.constant


def groups_of(state: StateGraph) -> dict[int, dict[str, Any]]:
    """The parameter groups of the optimizers of a state, by id."""
    return {id(group): group for _, optimizer in state.reached.optimizers.values() for group in optimizer.param_groups}


def numbers_of(state: StateGraph) -> Iterator[Source]:
    """The entries of a state whose numbers may be inputs."""
    for snapshot in state.snapshots:
        container = snapshot.container
        if snapshot.kind or type(container) not in (dict, types.CellType):
            continue
        for key, value in snapshot.content.items():
            if is_passable(value):
                yield Source(container, key, entry_path(snapshot.path, container, key))


def is_passable(value: Any) -> bool:
    """Whether an argument is a number that a 64-bit float holds exactly."""
    kind = type(value)
    return kind is float or (kind is int and -(2**53) < value < 2**53)


def can_be_passed(group: dict[str, Any], key: str) -> bool:
    """Whether an entry of a group consists of floats and may be an input: fused kernels on wrapper tensors other than
    DTensors need constants."""
    value = group.get(key)
    values = value if isinstance(value, tuple) else (value,)
    constants = group.get("fused") and any(is_wrapper(p) and not is_distributed(p) for p in group["params"])
    return not constants and bool(values) and all(isinstance(v, float) for v in values)
