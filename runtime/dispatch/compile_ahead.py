"""Eager operations whose executables are compiled in the background while the program continues.

The first call with a new key opens a tape, which records it and the calls after it. Their results are pending, and new
programs are traced, lowered, and compiled by a thread pool. Operations run in order, each when its executable is ready;
all of them run when a value is needed. They use the executables of eager mode, so results are bitwise equal to eager
mode. When no call is left, the tape closes, and calls take the fast path again.

The drawbacks: a call on an open tape takes the slow path, its operands are held until it runs, and a runtime error is
raised only where the value is first used. Operations that check values (such as an index in range) and those with large
results run, and raise, immediately.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import starmap
from typing import Any

import jax
import numpy as np

from ..storage.avals import Aval, aval_of
from ..storage.cell import Cell, PendingArray, PendingCell
from ..storage.memory_errors import as_torch_error
from ..storage.placement import no_jax_trace, put
from ..storage.recording import recording
from ..trace.core import current_trace, user_line
from ..xla.ahead import PendingExecutable
from .donation import is_worthwhile_in_eager, repeat_until_done
from .encode import EncodedCall
from .executable import Executable
from .operands import device_scalar
from .shape_inference import LOWERING_ERRORS, raise_matching_host_error

_LONGEST = 512  # operations on a tape
_LARGE = 1 << 28  # bytes of results: a larger call runs immediately, so that it raises its own out-of-memory error
_QUEUE = 64  # operations whose executables are not ready: each keeps a lowered program, up to a megabyte


class ComingArray(PendingArray):
    """A result whose operation runs when its executable is ready."""

    __slots__ = ("abstract",)

    def __init__(self, tape: AheadTape, aval: Aval, abstract: Any) -> None:
        super().__init__(tape, aval)
        self.abstract = abstract  # the aval with which JAX traces its uses


class _Call:
    """A recorded call."""

    def __init__(
        self, name: str, compilation: PendingExecutable, operands: list[Any], donated: Sequence[int], results: list[Any]
    ) -> None:
        self.compilation, self.operands, self.donated, self.results = compilation, operands, donated, results
        self.where = f"{name}, called{user_line()}"
        self.done = False

    def run(self) -> None:
        """Compute the results. An error, or that of a failed operand, becomes theirs."""
        operands = self.operands
        failed = next((x.failure for x in operands if x.__class__ is ComingArray and x.failure is not None), None)
        arrays: list[Any] = []
        try:
            if failed is None:
                self.compilation.wait()
                operands[:] = [x.array if x.__class__ is ComingArray else x for x in operands]
                if self.donated:
                    self._unshare()
                arrays.extend(starmap(self.compilation, ((tuple(operands),),)))
        except jax.errors.JaxRuntimeError as error:
            failed = as_torch_error(error), self.where
        except Exception as error:
            failed = error, self.where
        finally:
            if arrays or failed is not None:  # otherwise Ctrl-C interrupted before it ran
                repeat_until_done(lambda: self.settle(arrays[0] if arrays else (), failed))

    def _unshare(self) -> None:
        """Replace each array to donate that something else holds by a copy."""
        from .reference_counts import held_by_list_only

        operands = self.operands
        for i in {*self.donated}.difference(held_by_list_only(operands, self.donated)):
            operands[i] = put(np.array(operands[i]), 0)

    def settle(self, arrays: Sequence[Any], failed: tuple[Exception, str] | None) -> None:
        """Set the arrays of the results, or their error."""
        for i, result in enumerate(self.results):
            if result is not None:
                if failed is None:
                    result.array = arrays[i]
                result.failure, result.tape = failed, None
        self.done = True


class AheadTape:
    """The calls of a thread that are waiting for their executables, in order."""

    ahead = True

    def __init__(self) -> None:
        self.lock = threading.RLock()  # another thread may need a value
        self.calls: deque[_Call] = deque()
        self.waiting: deque[PendingExecutable] = deque()

    # The interface that dispatch uses while a tape is open

    def number(self, value: Any) -> Any:
        """A number as an operand."""
        return device_scalar(value)

    def operand(self, cell: Cell) -> Any:
        """The operand for a cell: its content, or its pending result."""
        pending = cell.pending
        return pending if pending is not None and pending.tape is self else cell.content

    def plain_operand(self, cell: Cell) -> Any:
        """As `operand`; None for a cell that is excluded from the fast path."""
        pending = cell.pending
        plain = pending is not None and pending.tape is self and not cell.mixed
        return pending if plain else cell.array

    def run(self, dispatcher: Any, executable: Executable, call: EncodedCall, values: list[Any], fast_key: Any) -> Any:
        """Record an encoded call; if it cannot be recorded, make its operands arrays and return NotImplemented."""
        with self.lock:
            recorded = self._record(dispatcher, executable, call, values, fast_key)
        if not recorded:
            self.settle(call)
            self._close()
            return NotImplemented
        results, count = recorded
        made = executable.finish(results[:count], 0, PendingCell) if count or not call.written else None
        self.advance()
        return dispatcher.returned(values, made) if call.written else made

    def settle(self, call: EncodedCall) -> None:
        """Replace the pending operands of an encoded call by their arrays."""
        call.operands[:] = [x.value() if x.__class__ is ComingArray else x for x in call.operands]

    def _record(
        self, dispatcher: Any, executable: Executable, call: EncodedCall, values: list[Any], fast_key: Any
    ) -> tuple[list[Any], int] | None:
        if not _is_recordable(dispatcher, executable) or call.index:
            return None
        operands = [*call.operands, *call.starts]
        abstract = tuple([x.abstract if x.__class__ is ComingArray else x for x in operands])
        donates = bool(executable.donate) and not any(c.mixed for c in call.cells)
        donates = donates and is_worthwhile_in_eager(sum([c.aval.nbytes for c in call.cells]), len(call.cells))
        try:
            run: Any = executable.donor() if donates else executable.run
            program = run.program
            counted = program.made_for is not None  # the call that starts the compilation is not counted
            compilation = PendingExecutable.begin(program, abstract)
        except LOWERING_ERRORS:
            dispatcher.fast.pop(fast_key, None)  # so that the next such call raises here too
            raise_matching_host_error(dispatcher.signature, values)
            raise
        if compilation is None or (compilation.is_ready() and not self.calls):
            return None
        if sum([a.size * a.dtype.itemsize for a in compilation.results if a is not None]) >= _LARGE:
            return None
        if counted and program.calls and program.is_due():
            program.taken -= 1  # undo the count: this call runs unrecorded, and is counted there
            return None
        results = [None if a is None else _result(self, a) for a in compilation.results]
        call.operands.clear()  # so that only the tape holds arrays to be donated
        self.calls.append(_Call(dispatcher.signature.name, compilation, operands, program.donated, results))
        if not compilation.is_ready():
            self.waiting.append(compilation)
        cells: Any = call.cells if not executable.order else dict.fromkeys(call.cells)
        for cell, result in zip(cells, results[executable.count :], strict=True):
            if result is not None:
                result.put_into(cell)
        return results, executable.count

    # Running

    def advance(self) -> None:
        """Run calls in order, as long as their executables are ready."""
        with self.lock:
            while self.waiting and self.waiting[0].is_ready():
                self.waiting.popleft()
            if len(self.calls) >= _LONGEST or len(self.waiting) >= _QUEUE:
                self.flush()
            while self.calls and self.calls[0].compilation.is_ready():
                self._run_first()
            self._close()

    def flush(self) -> None:
        """Run all calls."""
        with self.lock:
            while self.calls:
                self._run_first()
            self.waiting.clear()
            self._close()

    def _run_first(self) -> None:
        call = self.calls[0]
        if not call.done:  # otherwise Ctrl-C interrupted after it ran
            with nullcontext() if no_jax_trace() else jax.ensure_compile_time_eval():
                call.run()
        self.calls.popleft()

    def _close(self) -> None:
        if not self.calls and recording.tape is self:  # only on the thread that owns the tape
            recording.tape = None


def _result(tape: AheadTape, abstract: Any) -> ComingArray:
    return ComingArray(tape, aval_of(tuple(abstract.shape), np.dtype(abstract.dtype)), abstract)


def _is_recordable(dispatcher: Any, executable: Executable) -> bool:
    if not dispatcher.signature.row.module:  # a function that tenax does not own may use other devices
        return False
    known = executable.surround is None and executable.check is None and not executable.joins
    return known and executable.instead is None and not executable.resize and no_jax_trace()


def open_tape(dispatcher: Any, executable: Executable) -> None:
    """Open a tape on this thread, if the call of a new executable can be recorded."""
    if _is_recordable(dispatcher, executable) and current_trace() is None:
        recording.tape = AheadTape()
