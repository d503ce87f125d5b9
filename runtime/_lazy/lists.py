"""The fast path of operators on lists of tensors in lazy mode; the counterpart of dispatch/list_path.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..dispatch.dispatcher import Dispatcher
from ..dispatch.list_path import ListCall, UnusualArgumentError
from ..storage.avals import LazyFill
from ..storage.cell import Cell
from ..storage.placement import materialise
from .kernels import NotRecordableError, RecordedCall
from .words import words_of_number


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
    with tape.lock:
        tape.before(entry.op, cells[0] if cells else None)
        try:
            slots = [tape.slot_of(cell) for cell in call.operands if cell is not None]
        except NotRecordableError:
            return dispatcher.call(values)
        results = tape.record(entry.op, slots, call.words, entry.starts)
        fresh = iter(results[count:])
        for cell, replaced in zip(cells, entry.op.replaces, strict=True):
            if replaced:
                next(fresh).overwrite(cell)
    made = entry.made(results[:count]) if count or not cells else None
    return dispatcher.returned(values, made) if cells else made
