"""Traces steps of torch's optimizers and schedulers.

A learning rate is a Python number, and a scheduler computes the next one. The number becomes an input of the program,
and the scheduler's step a host call before it.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
import numpy as np
import torch
from torch.optim import optimizer as optimizers

from .. import patches
from ..errors import TraceError
from ..storage.placement import put
from ..storage.tensors import NAME, wrap
from ..trace.core import SYMBOLIC_TYPES, alias_array
from ..trace.data_checks import patched_data_checks
from ..trace.host_numbers import HostNumber, HostNumbers
from ..trace.symbols import symbolic_number
from ..trace.tracing import Trace
from .host_script import (
    HostScript,
    PassedNumber,
    PassedNumbers,
    ScriptEntry,
    can_be_passed,
    group_number,
    groups_of,
)
from .optimizer_parts import replaced_parts
from .sources import MISSING, EntryId, Source, StateChange, put_at, same_value
from .state_graph import StateGraph

ScriptEntries = list[ScriptEntry]


class HostScriptRecorder:
    """Records the host script of a traced run."""

    def __init__(self, trace: Trace, state: StateGraph, passed: PassedNumbers) -> None:
        self.state = state
        self.entries: ScriptEntries = []
        self.numbers = GroupNumbers(trace, state, passed, self.entries)
        self.schedulers = SchedulerSteps(self.entries, state, self.numbers)
        self.symbols: dict[EntryId, Any] = {}  # symbolic numbers put into entries

    @contextlib.contextmanager
    def attached(self) -> Iterator[None]:
        """Record while the function is traced."""
        numbers, state = self.numbers, self.state
        with contextlib.ExitStack() as undo:
            undo.callback(numbers.restore)
            for handle in (
                optimizers.register_optimizer_step_pre_hook(numbers.substitute),
                optimizers.register_optimizer_step_post_hook(numbers.restore),
            ):
                undo.callback(handle.remove)
            for _, scheduler in state.reached.schedulers.values():
                undo.enter_context(patches.of_object(scheduler, "step", self.schedulers.recorded(scheduler)))
            undo.enter_context(replaced_parts(state))
            undo.enter_context(patched_data_checks())
            yield
            self.schedulers.verify()

    def finish(self) -> tuple[HostScript, tuple[jax.Array, ...]]:
        """The script, and the placeholder arrays of its numbers in the trace."""
        return HostScript(tuple(self.entries), self.numbers.choices), tuple(self.numbers.placeholders)

    def pass_entries(self) -> None:
        """Put symbolic numbers into the entries that are inputs; they are restored when the run ends."""
        symbols = self.numbers.within(self.state)
        self.symbols = {source.entry: symbol for source, symbol in symbols}
        for source, symbol in symbols:
            put_at(source, symbol)
        self.numbers.pass_groups()

    def changes(self) -> list[StateChange]:
        """What the run changed in Python, except symbolic numbers that are still where they were put."""
        changes = [(change, change.place.entry) for change in self.state.changes()]
        deleted = {entry for change, entry in changes if change.new is MISSING}  # including reordered ones
        symbols = self.symbols | {entry: symbol for entry, (_, symbol) in self.numbers.put.items()}
        return [c for c, entry in changes if entry in deleted or symbols.get(entry, MISSING) is not c.new]

    def recomputed(self) -> set[EntryId]:
        """The group entries that a call passes as inputs or that its schedulers change."""
        numbers = (n for n in self.entries if isinstance(n, PassedNumber) and n.in_group)
        return {n.place.entry for n in numbers if isinstance(n.place, Source)} | self.schedulers.changed

    def missing(self, changed: Iterable[Source]) -> PassedNumbers:
        """The numbers that turned out to vary but were not inputs; `changed` are the entries that the run changed.

        Raises:
            TraceError: the function and a scheduler both set the same number.
        """
        own = set()
        passed = self.numbers.passed
        varying = self.recomputed() | (passed.scheduled - passed.entries - passed.constant)
        for source in changed:
            entry = source.entry
            if entry in varying and not same_value(self.schedulers.left.get(entry), source.container[source.key]):
                if entry in self.schedulers.changed:
                    raise TraceError(
                        f"a compiled function sets {source.path} itself, which a scheduler moves; "
                        "leave it to one of them"
                    )
                own.add(entry)
        groups = groups_of(self.state)
        new = self.schedulers.changed - passed.scheduled
        scheduled = {(i, k) for i, k in new if k != "lr" and can_be_passed(groups.get(i, {}), k)}
        new, again = self.numbers.changed - passed.entries - passed.constant, self.numbers.changed & passed.entries
        return PassedNumbers(scheduled, entries={*own, *new}, constant={*again})


class GroupNumbers:
    """Replaces the numbers in optimizer groups by inputs during steps."""

    def __init__(self, trace: Trace, state: StateGraph, passed: PassedNumbers, entries: ScriptEntries) -> None:
        """`entries` is the script to which the numbers are appended."""
        self.trace, self.passed, self.entries = trace, passed, entries
        self.groups = groups_of(state)  # that existed before the run
        early = passed.scheduled | {(number, "lr") for number in self.groups}
        self.early = early - passed.entries - passed.constant  # inputs from the beginning: the function may read them
        self.put: dict[EntryId, tuple[Any, Any]] = {}  # the values of these numbers, and the symbolic ones put for them
        self.thread = threading.get_ident()  # the hooks are called on every thread
        self.choices = HostNumbers()
        self.placeholders: list[jax.Array] = []
        self.changed: set[EntryId] = set()  # the entries that a step sets although they hold inputs
        self._originals: list[tuple[dict[str, Any], str, Any, Any, int]] = []  # with what replaces them

    def substitute(self, optimizer: Any, *_: Any) -> None:
        """Put inputs into the groups of an optimizer that is about to step."""
        if threading.get_ident() != self.thread:
            return
        for group in optimizer.param_groups:
            if not any(p.device.type == NAME for p in group["params"]):
                continue
            if group.get("capturable") is False and not group.get("fused"):
                self._set(group, "capturable", True)
            own, constant = self.passed.entries, self.passed.constant
            if isinstance(group.get("lr"), (int, float)) and (id(group), "lr") not in constant:
                self._set(group, "lr", self._learning_rate(group))
            varying = (self.passed.scheduled | own) - constant
            for key in [k for k in group if (id(group), k) in varying]:  # the same order on all ranks
                value = group[key]
                if key == "lr" or not can_be_passed(group, key) or _is_symbolic(value):
                    continue
                held = {key: value} if (id(group), key) in own else group
                self._set(group, key, self.of_group(held, key))

    def restore(self, *_: Any) -> None:
        """Restore the numbers."""
        if threading.get_ident() != self.thread:
            return
        while self._originals:
            group, key, value, given, version = self._originals.pop()
            if group.get(key) is not given or _writes(given) != version:  # the step or its hook set it
                self.changed.add((id(group), key))
            group[key] = value

    def _set(self, group: dict[str, Any], key: str, value: Any) -> None:
        if value is group[key]:  # computed by the function
            return
        self._originals.append((group, key, group[key], value, _writes(value)))
        group[key] = value

    def _learning_rate(self, group: dict[str, Any]) -> Any:
        """The learning rate as a tensor if the optimizer accepts one, else as a symbolic number."""
        rate = group["lr"]
        own = (id(group), "lr") in self.passed.entries or id(group) not in self.groups
        number = group_number({"lr": rate} if own else group, "lr")
        dtype = _dtype_of_rate(group)
        if not (group.get("capturable") or group.get("fused")):
            return rate if _is_symbolic(rate) else self._symbol(number, dtype=dtype)
        if _is_symbolic(rate):
            array = rate.node.given if rate.node.given.dtype == dtype else rate.node.array.astype(dtype)
        else:
            array = self._input(number, dtype=dtype)[0]
        index = next(p.device.index or 0 for p in group["params"] if p.device.type == NAME)
        return wrap(jax.device_put(array, jax.local_devices()[index]), index) if index else wrap(array)

    def pass_groups(self) -> None:
        """Put symbolic numbers into the groups for those that are inputs outside of steps."""
        for number, group in self.groups.items():
            for key in [key for key in group if (number, key) in self.early and not _is_symbolic(group[key])]:
                if can_be_passed(group, key) or type(group[key]) is int:
                    self.put[number, key] = group[key], self.of_group(group, key)
                    group[key] = self.put[number, key][1]

    def take_back(self) -> None:
        """Put the values back, for a scheduler, whose step each call makes with them."""
        for (number, key), (value, symbol) in self.put.items():
            if self.groups[number].get(key) is symbol:
                self.groups[number][key] = value

    def of_group(self, group: dict[str, Any], key: str) -> Any:
        """The symbolic number, or the tuple of them, for an entry of a group."""
        value = group[key]
        if isinstance(value, tuple):
            return tuple(self._symbol(group_number(group, key, i)) for i in range(len(value)))
        return self._symbol(group_number(group, key), dtype=_dtype_of_rate(group) if key == "lr" else np.float64)

    def among(self, arguments: Sequence[Any]) -> dict[int, Any]:
        """The symbolic numbers that replace numeric arguments, by position."""
        return {i: self._symbol(PassedNumber(i), arguments) for i in self.passed.among(arguments)}

    def within(self, state: StateGraph) -> list[tuple[Source, Any]]:
        """The entries of a state that are inputs, with the symbolic numbers that replace them."""
        return [(source, self._symbol(PassedNumber(source))) for source in self.passed.within(state)]

    def _symbol(self, number: PassedNumber, arguments: Sequence[Any] = (), dtype: Any = np.float64) -> Any:
        array, host = self._input(number, arguments, dtype)
        return symbolic_number(array, self.choices, host, type(number.value(arguments)))

    def _input(
        self, number: PassedNumber, arguments: Sequence[Any] = (), dtype: Any = np.float64
    ) -> tuple[jax.Array, HostNumber | None]:
        """Make a number an input: return its placeholder array and its value before the script runs, or None if a host
        call precedes it."""
        early = all(isinstance(entry, PassedNumber) for entry in self.entries)
        self.entries.append(number)
        value = number.value(arguments)
        with jax.ensure_compile_time_eval():
            array = alias_array(put(np.asarray(value, dtype), 0))
        self.placeholders.append(array)
        self.trace.aliases.add(id(array))
        place = self.choices.input(value)
        if not number.in_group:
            self.choices.typed = True
        return array, HostNumber(value, place) if early else None


def _dtype_of_rate(group: dict[str, Any]) -> Any:
    """The dtype in which a program takes a learning rate: float32, unless parameters of the group have 64 bits."""
    wide = any(p.dtype in (torch.float64, torch.complex128) for p in group.get("params", ()))
    return np.float64 if wide else np.float32


def _is_symbolic(value: Any) -> bool:
    """Whether the function computed an entry of a group, a number or a tuple, from numbers that are inputs."""
    return any(type(x) in SYMBOLIC_TYPES for x in (value if isinstance(value, tuple) else (value,)))


def _writes(value: Any) -> int:
    """The number of writes to a tensor."""
    return value._version if isinstance(value, torch.Tensor) else 0


class SchedulerSteps:
    """Records the steps of learning rate schedulers and what they change."""

    def __init__(self, entries: ScriptEntries, state: StateGraph, numbers: GroupNumbers) -> None:
        """`entries` is the script to which the steps are appended; `numbers` are those of the groups that they move."""
        self.entries, self.numbers = entries, numbers
        self._schedulers = [*state.reached.schedulers.values()]
        self._epochs = self._now()
        self.changed: set[EntryId] = set()
        self.left: dict[EntryId, Any] = {}  # the values that schedulers left in group entries
        self._stepping = False

    def recorded(self, scheduler: Any) -> Callable[..., Any]:
        """A scheduler's `step` that also records itself."""
        step, groups = scheduler.step, scheduler.optimizer.param_groups

        def record(*args: Any, **kwargs: Any) -> Any:
            if self._stepping:  # a composite scheduler steps its parts itself
                return step(*args, **kwargs)
            self.verify()
            self.numbers.take_back()
            before = [dict(g) for g in groups]
            self._stepping = True
            try:
                result = step(*args, **kwargs)
            finally:
                self._stepping = False
            self._epochs = self._now()
            self.entries.append(functools.partial(step, *args, **kwargs))
            for old, group in zip(before, groups, strict=True):
                changed = {k for k, v in group.items() if k not in old or not same_value(old[k], v)}
                self.changed.update((id(group), k) for k in changed)
                self.left.update(((id(group), k), v) for k, v in group.items())
            self.numbers.pass_groups()
            return result

        return record

    def _now(self) -> list[Any]:
        attributes = (object.__getattribute__(scheduler, "__dict__") for _, scheduler in self._schedulers)
        return [held.get("last_epoch") for held in attributes]  # not as the function's reads

    def verify(self) -> None:
        """Raise TraceError if a scheduler has stepped without a record, by a method that was looked up before."""
        for (path, _), old, new in zip(self._schedulers, self._epochs, self._now(), strict=True):
            if old != new:
                raise TraceError(
                    f"a compiled function steps {path} other than by {path}.step(), which its program would not do "
                    "again; call that, and keep no reference to the method"
                )
