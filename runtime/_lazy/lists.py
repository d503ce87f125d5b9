"""The fast path of operators on lists of tensors in lazy mode, as dispatch/list_path.py is that of eager mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..dispatch.dispatcher import Dispatcher
from ..dispatch.list_path import ListCall, UnusualArgumentError
from ..storage.cell import Cell
from .kernels import RecordedCall, calls_of
from .words import words_of_number


class RecordedListCall(ListCall):
    """A call, taken apart for a tape: some operands are pending, and numbers are words."""

    __slots__ = ("tape", "words")

    def __init__(self, tape: Any, dispatcher: Dispatcher, values: Sequence[Any]) -> None:
        self.tape = tape
        self.words: list[int] = []
        super().__init__(dispatcher, values)

    def _number(self, value: Any) -> None:
        self.words += words_of_number(value)

    def _arrays(self, cells: Sequence[Cell]) -> list[Any]:
        if any(c.mixed or c.index for c in cells):
            raise UnusualArgumentError
        return [*map(self.tape.operand, cells)]


def list_call(tape: Any, dispatcher: Dispatcher, values: list[Any]) -> Callable[[], Any]:
    """What records the call of arguments in schema order.

    Raises: UnusualArgumentError, or whatever the arguments make of the questions that are asked of them.
    """
    with tape.lock:
        call = RecordedListCall(tape, dispatcher, values)
    entry = calls_of(dispatcher).get(call.key)
    return (
        partial(dispatcher.call, values, call.key)
        if entry is None
        else partial(_record, tape, dispatcher, entry, call, values)
    )


def _record(tape: Any, dispatcher: Dispatcher, entry: RecordedCall, call: RecordedListCall, values: list[Any]) -> Any:
    operands = [operand for operand in call.operands if operand is not None]
    cells, count = call.cells, entry.op.count
    with tape.lock:
        results = tape.record(entry.op, operands, call.words, entry.starts, cells[0] if cells else None)
        fresh = iter(results[count:])
        for cell, replaced in zip(cells, entry.op.replaces, strict=True):
            if replaced:
                next(fresh).overwrite(cell)
    made = entry.made(results[:count]) if count or not cells else None
    return dispatcher.returned(values, made) if cells else made
