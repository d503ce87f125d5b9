"""Eager operations whose executables are compiled while the program goes on.

The first call of a new signature opens a tape. It and the calls after it are recorded: their results are pending, and
what is not compiled is traced, lowered, and handed to a pool of threads. An operation runs, in its turn, when its
executable is there; all of them run when a value is needed. They are the executables of eager mode, so the values are
those of eager mode to the bit. When nothing is left, the tape closes, and calls take the fast path again.

A call on an open tape takes the slow path, its operands are held until it runs, and an error that only running finds is
raised where the value is first used. Operations that check values (an index in range) and those with large results run
at once, and raise at once.
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
from ..storage.cell import Cell
from ..storage.memory_errors import as_torch_error
from ..storage.placement import no_jax_trace, put
from ..storage.recording import recording
from ..trace.core import current_trace, user_line
from ..xla.ahead import PendingExecutable
from .donation import held_by_list_only, is_worthwhile_in_eager, repeat_until_done
from .encode import EncodedCall
from .executable import Executable
from .operands import device_scalar
from .pending import PendingArray, PendingCell
from .shape_inference import LOWERING_ERRORS

_LONGEST = 512  # operations on a tape
_LARGE = 1 << 28  # bytes of results: such a call runs at once, so that a full memory is an error of the call
_QUEUE = 64  # of them whose executables are not there: each keeps a lowered program, up to a megabyte


class ComingArray(PendingArray):
    """A result whose operation runs when its executable is there."""

    __slots__ = ("abstract",)

    def __init__(self, tape: AheadTape, aval: Aval, abstract: Any) -> None:
        super().__init__(tape, aval)
        self.abstract = abstract  # as JAX traces it

    def value(self, checked: bool = True) -> jax.Array:
        """See `PendingArray`. Nothing is left to check: operations that check values run at once."""
        tape = self.tape
        if tape is not None:
            tape.flush()
        return self.array


class _Call:
    """A recorded call."""

    def __init__(
        self, name: str, compilation: PendingExecutable, operands: list[Any], donated: Sequence[int], results: list[Any]
    ) -> None:
        self.compilation, self.operands, self.donated, self.results = compilation, operands, donated, results
        self.where = f"{name}, called{user_line()}"
        self.done = False

    def run(self) -> None:
        """Compute the results. An error is theirs; one of an operand is handed on."""
        operands = self.operands
        failed = next((x.failure for x in operands if x.__class__ is ComingArray and x.failure is not None), None)
        arrays: list[Any] = []
        try:
            if failed is None:
                self.compilation.wait()
                operands[:] = [x.array if x.__class__ is ComingArray else x for x in operands]
                for i in {*self.donated}.difference(held_by_list_only(operands, self.donated)):
                    operands[i] = put(np.array(operands[i]), 0)  # somebody holds it
                arrays.extend(starmap(self.compilation, ((tuple(operands),),)))
        except jax.errors.JaxRuntimeError as error:
            failed = as_torch_error(error), self.where
        except Exception as error:
            failed = error, self.where
        finally:
            if arrays or failed is not None:  # else Ctrl-C came before it ran
                repeat_until_done(lambda: self.settle(arrays[0] if arrays else (), failed))

    def settle(self, arrays: Sequence[Any], failed: tuple[Exception, str] | None) -> None:
        """Hand the arrays on."""
        for i, result in enumerate(self.results):
            if result is not None:
                if failed is None:
                    result.array = arrays[i]
                result.failure, result.tape = failed, None
        self.done = True


class AheadTape:
    """The calls of a thread that wait for their executables, in order."""

    ahead = True

    def __init__(self) -> None:
        self.lock = threading.RLock()  # another thread may need a value
        self.calls: deque[_Call] = deque()
        self.waiting: deque[PendingExecutable] = deque()

    # What dispatch asks while a tape is open

    def number(self, value: Any) -> Any:
        """A number as an operand."""
        return device_scalar(value)

    def operand(self, cell: Cell) -> Any:
        """What a call is passed for a cell: its content, or what is pending."""
        pending = cell.pending
        return pending if pending is not None and pending.tape is self else cell.content

    def plain_operand(self, cell: Cell) -> Any:
        """As `operand`; None for a cell off the fast path."""
        pending = cell.pending
        plain = pending is not None and pending.tape is self and not cell.mixed
        return pending if plain else cell.array

    def run(self, dispatcher: Any, executable: Executable, call: EncodedCall, values: list[Any], fast_key: Any) -> Any:
        """Record a call that dispatch has encoded, or NotImplemented: then its operands are arrays now."""
        with self.lock:
            recorded = self._record(dispatcher, executable, call, values)
        if not recorded:
            self.settle(call)
            self._close()
            return NotImplemented
        results, count = recorded
        made = executable.finish(results[:count], 0, PendingCell) if count or not call.written else None
        self.advance()
        return dispatcher.returned(values, made) if call.written else made

    def settle(self, call: EncodedCall) -> None:
        """Have a call pass arrays in place of what was pending when it was encoded."""
        call.operands[:] = [x.value() if x.__class__ is ComingArray else x for x in call.operands]

    def _record(
        self, dispatcher: Any, executable: Executable, call: EncodedCall, values: list[Any]
    ) -> tuple[list[Any], int] | None:
        if not _is_recordable(dispatcher, executable) or call.index:
            return None
        operands = [*call.operands, *call.starts]
        abstract = tuple([x.abstract if x.__class__ is ComingArray else x for x in operands])
        written = [p for p in dict.fromkeys(call.positions) if p >= 0]
        donates = bool(written) and not any(c.mixed for c in call.cells)
        donates = donates and is_worthwhile_in_eager(sum([c.aval.nbytes for c in call.cells]), len(call.cells))
        try:
            run: Any = executable.donor(abstract) if donates else executable.run
            program = run.program
            counted = program.made_for is not None  # the call that compiles is not
            compilation = PendingExecutable.begin(program, abstract)
        except LOWERING_ERRORS:
            from .host_errors import raise_host_error

            raise_host_error(dispatcher.signature, values, blank=True)
            raise
        if compilation is None or (compilation.is_ready() and not self.calls) or _bytes_of(compilation) >= _LARGE:
            return None
        if counted and program.work and program.is_due():
            program.left += program.work  # it is counted where it runs, after all those before it
            return None
        results = [None if a is None else _result(self, a) for a in compilation.results]
        call.operands.clear()  # so that arrays that are overwritten are held by the tape alone
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
        """Run the calls whose turn it is and whose executables are there."""
        with self.lock:
            while self.waiting and self.waiting[0].is_ready():
                self.waiting.popleft()
            if len(self.calls) >= _LONGEST or len(self.waiting) >= _QUEUE:
                self.flush()
            while self.calls and self.calls[0].compilation.is_ready():
                self._run_first()
            self._close()

    def flush(self, wait: bool = False) -> None:
        """Run all calls."""
        with self.lock:
            while self.calls:
                self._run_first()
            self.waiting.clear()
            self._close()

    def _run_first(self) -> None:
        call = self.calls[0]
        if not call.done:  # else Ctrl-C came after it ran
            with nullcontext() if no_jax_trace() else jax.ensure_compile_time_eval():
                call.run()
        self.calls.popleft()

    def _close(self) -> None:
        if not self.calls and recording.tape is self:  # on the thread that it belongs to
            recording.tape = None


def _result(tape: AheadTape, abstract: Any) -> ComingArray:
    return ComingArray(tape, aval_of(tuple(abstract.shape), np.dtype(abstract.dtype)), abstract)


def _is_recordable(dispatcher: Any, executable: Executable) -> bool:
    if not dispatcher.signature.row.module:  # a function from elsewhere may place its results on other devices
        return False
    known = executable.surround is None and executable.check is None and not executable.joins
    return known and executable.instead is None and not executable.resize and no_jax_trace()


def _bytes_of(compilation: PendingExecutable) -> int:
    """How much memory the results of a call take."""
    return sum([a.size * a.dtype.itemsize for a in compilation.results if a is not None])


class _OwnTape(threading.local):
    def __init__(self) -> None:
        self.tape = AheadTape()


_own = _OwnTape()


def open_tape(dispatcher: Any, executable: Executable) -> None:
    """Record from now on, if the call of a new executable can be."""
    if _is_recordable(dispatcher, executable) and current_trace() is None:
        recording.tape = _own.tape
