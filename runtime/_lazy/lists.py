"""The fast path of operators on lists of tensors in lazy mode, as dispatch/list_path.py is that of eager mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..dispatch.dispatcher import Dispatcher
from ..dispatch.list_path import ListCall, UnusualArgumentError
from ..storage.cell import Cell
from .kernels import RecordedCall
from .words import words_of_number


class RecordedListCall(ListCall):
    """A call, taken apart for a tape: its operands are cells, and numbers are words."""

    __slots__ = ("words",)

    def __init__(self, dispatcher: Dispatcher, values: Sequence[Any]) -> None:
        self.words: list[int] = []
        super().__init__(dispatcher, values)

    def _number(self, value: Any) -> None:
        self.words += words_of_number(value)

    def _arrays(self, cells: Sequence[Cell]) -> list[Any]:
        if any(c.mixed or c.index for c in cells):
            raise UnusualArgumentError
        return [*cells]


def list_call(tape: Any, dispatcher: Dispatcher, values: list[Any]) -> Callable[[], Any]:
    """What records the call of arguments in schema order.

    Raises: UnusualArgumentError, or whatever the arguments make of the questions that are asked of them.
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
    with tape.lock:
        tape.before(entry.op, cells[0] if cells else None)
        slots = [tape.slot_of(cell) for cell in call.operands if cell is not None]
        results = tape.record(entry.op, slots, call.words, entry.starts)
        fresh = iter(results[count:])
        for cell, replaced in zip(cells, entry.op.replaces, strict=True):
            if replaced:
                next(fresh).overwrite(cell)
    made = entry.made(results[:count]) if count or not cells else None
    return dispatcher.returned(values, made) if cells else made
