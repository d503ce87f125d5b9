"""The fast paths of lazy mode, which record calls of operations that were recorded before.

As in dispatch/fast_path.py, there is one function for each schema shape. Operators on lists have a path of their own,
as in dispatch/list_path.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import jax

from .._torch.tensors import create_empty_tensor
from ..dispatch.dispatcher import Dispatcher
from ..dispatch.executable import Executable
from ..dispatch.fast_path import BITS, KEY_LINES, SPECIAL, KernelText, made_of, schema_shape
from ..dispatch.list_path import ListCall, UnusualArgumentError
from ..dispatch.operands import NUMBER_TYPES
from ..storage.avals import LazyFill
from ..storage.cell import Cell, PendingCell
from ..storage.placement import materialise
from ..storage.recording import recording
from .words import words_of_number

_HELD = 1 << 14


class RecordedCall:
    """What the fast path stores for a key: the operation, and where the views of its operands start."""

    __slots__ = ("executable", "op", "single", "starts")

    def __init__(self, executable: Executable, starts: Sequence[jax.Array]) -> None:
        self.executable, self.op = executable, executable.recorded
        self.single = executable.single
        self.starts = tuple(starts)

    def made(self, results: list[Any]) -> Any:
        """Make the new tensors of a call."""
        if self.single is None:
            return self.executable.finish(results, 0, PendingCell)
        size, dtype, aval = self.single
        tensor = create_empty_tensor(size, dtype)
        tensor.untyped_storage().cell = PendingCell(results[0], aval)  # type: ignore[attr-defined]
        return tensor

    def inplace(self, tape: Any, slots: list[int], words: Sequence[int], cell: Any) -> None:
        """Record a call that writes its first operand in place."""
        for result in tape.record(self.op, slots, words, self.starts):
            result.overwrite(cell)


class NotRecordableError(Exception):
    """The operation cannot be recorded, for example because an operand is not on the first device; it runs eagerly."""


def remember(dispatcher: Dispatcher, key: Any, executable: Executable, starts: Sequence[jax.Array]) -> None:
    """Make calls of this key take the fast path."""
    calls = dispatcher.recorded_calls
    if len(calls) >= _HELD:
        calls.clear()
    calls[key] = RecordedCall(executable, starts)


def recording_kernel(dispatcher: Dispatcher) -> Callable[..., Any]:
    """The kernel of an overload while its thread records."""
    shape = schema_shape(dispatcher.signature)
    assert shape is not None
    letters, names, defaults = shape
    calls = dispatcher.recorded_calls
    bits, inplace = dispatcher.signature.sees_bits, not dispatcher.signature.fresh

    def make(letters: str, numeric: Any) -> Callable[..., Any]:
        factory = _factory(letters, names, len(defaults), bits, inplace, numeric is not None)
        return factory(
            dispatcher, calls, NUMBER_TYPES, words_of_number, recording, defaults, numeric, NotRecordableError
        )

    return make(letters, make("TB" + letters[2:], None) if letters.startswith("TT") else None)


@cache
def _factory(
    letters: str, names: tuple[str, ...], optional: int, bits: bool, inplace: bool, numeric: bool
) -> Callable[..., Any]:
    source = _source(letters, names, optional, bits, inplace, numeric)
    return made_of(source, f"recording {letters}/{optional} {' '.join(names)}{' bits' * bits}{' inplace' * inplace}")


_NUMBER = "k{i} = type({a})\nif {a} is not None: words += words_of({a}, c0.aval.dtype)"
_KEYWORD = """
if {a} is d{i}:
    k{i} = None
else:
    k{i} = type({a}), {a} == d{i}
    if {a} is not None and not k{i}[1]: words += words_of({a}, c0.aval.dtype)
"""
_SPECIAL = """
if {a} in x{i}:
    k{i} = type({a}), {a}
else:
    k{i} = type({a}), {sign}, None
    words += words_of({a}, c0.aval.dtype{wide})
"""
_LINES = {**KEY_LINES, "N": _NUMBER, "B": "k{i} = type({a})\nwords += words_of({a})", "K": _KEYWORD}
_LINES |= {k: _SPECIAL.replace("{sign}", sign).replace("{wide}", wide) for k, (sign, wide) in SPECIAL.items()}
_LINES["M"] = "k{i} = len({a})\nfor n in {a}: words += words_of(n, c0.aval.dtype)"
_UNUSUAL = {
    "T": "c{i}.mixed or c{i}.index",
    "O": "({a} is not None and (c{i}.mixed or c{i}.index))",
}
_SLOT = "p{i} = c{i}.pending; slots.append(p{i}.slot if p{i} is not None and p{i}.tape is tape else tape.slot_of(c{i}))"
_TAKEN = {"T": _SLOT, "O": "if {a} is not None: " + _SLOT}


def _source(letters: str, keywords: tuple[str, ...], optional: int, bits: bool, inplace: bool, numeric: bool) -> str:
    text = KernelText(letters, keywords, optional)
    unusual = [text.each(_UNUSUAL, " or ")]
    unusual += [text.each(BITS, " or ")] if bits else []
    unusual += [f"({condition})" for condition in text.apart()] if inplace else []
    body = "return entry.made(tape.record(entry.op, slots, words, entry.starts))"
    if inplace:
        body = f"entry.inplace(tape, slots, words, c0); return {text.names[0]}"
    return f"""
def make(dispatcher, calls, number_types, words_of, recording, defaults, numeric, not_recordable):
    {text.constants}
    def kernel({text.parameters}):
        {f"if type(a1) in number_types: return numeric({text.passed})" if numeric else ""}
        if recording.tape.ahead: return dispatcher.call([{text.arguments}])
        key, words, slots = None, [], []
        try:
            {text.lines(_LINES)}
            key = ({text.key},)
            entry = calls[key]
        except (AttributeError, KeyError, TypeError, OverflowError):
            entry = None
        if entry is None or {" or ".join(unusual)}:
            return dispatcher.call([{text.arguments}], key)
        tape = recording.tape
        try:
            with tape.lock:
                if len(tape.ops) >= tape.cuts.after: tape.before(entry.op, {"c0" if inplace else "None"})
                {text.lines(_TAKEN, 16)}
                {body}
        except not_recordable:
            return dispatcher.call([{text.arguments}])
    return kernel
"""


class RecordedListCall(ListCall):
    """A call decomposed for a tape: its operands are cells, and its numbers are words."""

    __slots__ = ("words",)

    def __init__(self, dispatcher: Dispatcher, values: Sequence[Any]) -> None:
        self.words: list[int] = []
        super().__init__(dispatcher, values)
        # An optimizer's state is zero before its first step. As arrays, it makes that step the program of all others.
        for cell in self.cells:
            if cell.pending is None and cell.content.__class__ is LazyFill:
                cell.replace(materialise(cell.content, 0, shared=False))

    def _number(self, value: Any, wide: bool) -> None:
        self.words += words_of_number(value, self.beside, wide)

    def _arrays(self, cells: Sequence[Cell]) -> list[Any]:
        if any(c.mixed or c.index for c in cells):
            raise UnusualArgumentError
        return [*cells]


def list_call(tape: Any, dispatcher: Dispatcher, values: list[Any]) -> Callable[[], Any]:
    """A function that records the call; `values` are the arguments in schema order.

    Raises: UnusualArgumentError, or any error from inspecting unsuitable arguments.
    """
    call = RecordedListCall(dispatcher, values)
    entry = dispatcher.recorded_calls.get(call.key)
    return (
        partial(dispatcher.call, values, call.key)
        if entry is None
        else partial(_record, tape, dispatcher, entry, call, values)
    )


def _record(tape: Any, dispatcher: Dispatcher, entry: RecordedCall, call: RecordedListCall, values: list[Any]) -> Any:
    cells, count = call.cells, entry.op.count
    try:
        with tape.lock:
            tape.before(entry.op, cells[0] if cells else None)
            slots = [tape.slot_of(cell) for cell in call.operands if cell is not None]
            results = tape.record(entry.op, slots, call.words, entry.starts)
            fresh = iter(results[count:])
            for cell, replaced in zip(cells, entry.op.replaces, strict=True):
                if replaced:
                    next(fresh).overwrite(cell)
    except NotRecordableError:
        return dispatcher.call(values)
    made = entry.made(results[:count]) if count or not cells else None
    return dispatcher.returned(values, made) if cells else made
