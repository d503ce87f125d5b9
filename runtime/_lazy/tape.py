"""The tape of a thread: operations that are recorded but not yet computed."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any
from weakref import ref

import jax
import jax.numpy as jnp
import numpy as np

from .._jax import ArrayImpl
from ..dispatch.dispatcher import Dispatcher
from ..dispatch.encode import EncodedCall
from ..dispatch.executable import Executable
from ..dispatch.mesh import device_ids
from ..dispatch.operands import NUMBER_TYPES
from ..dispatch.reference_counts import held_by_list_only
from ..float32_products import float32_products
from ..storage.avals import Aval, LazyFill, aval_of
from ..storage.cell import Cell, PendingArray, PendingCell
from ..storage.mutation import mutation_epoch
from ..storage.placement import no_jax_trace, sharding_of_array
from ..storage.recording import recording
from ..trace.async_errors import Assertion, raise_failed_assertions, record_assertions
from ..trace.core import user_line
from .cuts import Cuts
from .donation import paired
from .kernels import NotRecordableError, list_call, recording_kernel, remember
from .places import ChangingSizes
from .programs import History, Key, TapeProgram, is_variant, program_of
from .recorded import RecordedOp, recorded_fill, recorded_move, recorded_op, recorded_words, values_one_by_one
from .words import words_of_array


class Pending(PendingArray):
    """A result that a tape holds weakly, and computes only if something else holds it."""

    __slots__ = ("op", "origin", "slot")

    def __init__(self, tape: Tape, slot: int, op: RecordedOp, aval: Aval) -> None:
        self.tape, self.slot, self.op, self.aval, self.cells = tape, slot, op, aval, []
        self.origin: int | None = None  # the slot of the input that it replaces

    def move(self, cell: Cell, aval: Aval) -> bool:
        """See `PendingArray.move`."""
        tape = self.tape
        if tape is None or tape is not recording.tape:
            return False
        with tape.lock:
            if not tape.is_on(aval.sharding):
                return False
            (moved,) = tape.record(recorded_move(self.aval, aval), [self.slot], [])
        moved.overwrite(cell)
        cell.aval = aval
        return True

    def overwrite(self, cell: Cell) -> None:
        """Replace the content of a cell, which the operation has read."""
        state = cell.__dict__
        old = state.get("pending")
        if old is None:
            self.origin = self.tape.input_of.get(id(state.get("content")))
            self.put_into(cell)
            return
        if old.tape is None:
            self.origin = self.tape.input_of.get(id(old.array))
        elif old.tape is self.tape:
            self.origin = old.origin
        mutation_epoch.advance()
        state["pending"] = self  # the cell held no array besides the old pending result


class Tape:
    """A flat list of a thread's recorded operations: the aval of each input, and each operation with the slots of its
    operands. Inputs and results are numbered in the order in which they appear; the numbers are called slots. Equal
    lists share one program."""

    ahead = False  # True on tapes that compile ahead of need: see dispatch/compile_ahead.py

    def __init__(self) -> None:
        self.history = History()
        self.cuts = Cuts()
        self.places = ChangingSizes()
        self.paused = False  # whether operations run eagerly until a step ends, because sizes change each time
        self.lock = threading.RLock()  # another thread may need a value
        self.clear()

    def clear(self) -> None:
        """Reset the tape."""
        self.entries: list[Any] = []
        self.slots: list[ref[Pending] | None] = []  # for each slot, the result, or None for an input
        self.inputs: list[jax.Array] = []
        self.input_slots: list[int] = []
        self.donatable: list[int] = []  # the positions of inputs that come from cells
        self.input_avals: list[Aval] = []
        self.input_of: dict[int, int] = {}  # the slot of an input, by the id of the array; `inputs` keeps it alive
        self.devices: Sequence[int] | None = None  # of the mesh of the inputs, if there is one
        self.numbers: list[int] = []
        self.assertions: list[Assertion] = []
        self.ops: list[RecordedOp] = []

    # Recording

    def number(self, value: Any) -> Any:
        """A number as an operand: not cached on the device, because a program's numbers are passed in one array."""
        with np.errstate(over="ignore"):
            return NUMBER_TYPES[value.__class__](value)

    def operand(self, cell: Cell) -> Any:
        """The operand of an operation for a cell: an array or a pending result."""
        pending = cell.pending
        if pending is not None:
            tape = pending.tape
            if tape is self:
                return pending
            if tape is None and not cell.index:
                return pending.array
            cell.settle()  # recorded by another thread
        content = cell.content
        if content.__class__ is LazyFill and content.aval.sharding is None and not cell.index:
            with self.lock:
                op, words = recorded_fill(content)
                (filled,) = self.record(op, [], words)
                state = cell.__dict__
                state.pop("content")
                state.pop("array", None)
                state["pending"] = filled  # no write: the value is the same
            return filled
        return cell.read()

    def plain_operand(self, cell: Cell) -> Any:
        """As `operand`; None for a cell off the fast path."""
        return None if cell.mixed or cell.index else self.operand(cell)

    def words(self, array: np.ndarray) -> Cell:
        """A cell that holds a small host array, such as a random key."""
        with self.lock:
            (pending,) = self.record(recorded_words(aval_of(array.shape, array.dtype)), [], words_of_array(array))
        return pending.cell(0)

    def slot_of(self, cell: Cell) -> int:
        """The slot of the content of a cell of the first device or a mesh.

        Raises:
            NotRecordableError: another thread records it; its tape must not be waited for with this one's lock.
        """
        pending, array = cell.pending, None
        if pending is None:
            array = cell.__dict__.get("content")
            if (found := self.input_of.get(id(array))) is not None:
                return found
        elif (tape := pending.tape) is self:
            return pending.slot
        elif tape is not None:
            raise NotRecordableError
        else:
            array = pending.array
        if array.__class__ is not ArrayImpl:
            array = self.operand(cell)
        return self._slot(array, cell.aval)

    def _slot(self, operand: Any, aval: Aval | None = None, shared: bool = True) -> int:
        if operand.__class__ is Pending:
            if operand.tape is self:
                return operand.slot
            operand = operand.value()
        if shared and (found := self.input_of.get(id(operand))) is not None:
            return found
        if operand.__class__ is not ArrayImpl:
            raise NotRecordableError
        if (sharding := sharding_of_array(operand)) is not None and not self.is_on(sharding):
            raise NotRecordableError
        slot = len(self.slots)
        self.slots.append(None)
        if aval is None:
            described = operand.aval  # JAX's; the array's own `shape` and `dtype` are slower, because they look it up
            aval = aval_of(described.shape, described.dtype, sharding)
        self.inputs.append(operand)
        self.input_slots.append(slot)
        self.input_avals.append(aval)
        self.entries.append(aval)
        if shared:
            self.input_of[id(operand)] = slot
            self.donatable.append(len(self.inputs) - 1)
        return slot

    def is_on(self, sharding: Any) -> bool:
        """Whether the program may contain an array of a sharding: all of them are on the same devices."""
        devices = device_ids(sharding)
        if self.devices is None:
            self.devices = devices
        return self.devices == devices

    def before(self, op: RecordedOp, target: Cell | None) -> None:
        """Cut the tape where a loop repeats. Called for each operation before its operands get slots.

        Args:
            op: the operation.
            target: the first cell that it writes.
        """
        if len(self.ops) >= self.cuts.after:
            held = None if target is None else target.pending
            again = held is not None and held.tape is self and held.op is op
            if self.cuts.due(self.ops, op, target, again):
                self.flush(barrier=True, cause="a loop that repeats")

    def record(
        self, op: RecordedOp, slots: list[int], words: Sequence[int], starts: Sequence[jax.Array] = ()
    ) -> list[Pending]:
        """Record an operation.

        Args:
            op: the operation.
            slots: the slots of its operands.
            words: its numbers.
            starts: arrays with the start indices of views.
        """
        if starts:
            slots += [self._slot(start, shared=False) for start in starts]
        self.entries.append(op)
        self.entries += slots
        self.numbers += words
        self.ops.append(op)
        if op.checks:
            self.assertions += op.assertions(user_line())
        slot, filled = len(self.slots), self.slots
        results = [Pending(self, slot + i, op, aval) for i, aval in enumerate(op.avals)]
        filled += map(ref, results)
        return results

    def run(
        self, dispatcher: Dispatcher, executable: Executable, call: EncodedCall, values: list[Any], fast_key: Any
    ) -> Any:
        """Record an encoded call; if that is impossible, replace its operands by arrays and return NotImplemented."""
        op = executable.recorded
        with self.lock:
            try:
                if call.index or not no_jax_trace():
                    raise NotRecordableError
                cells: Any = call.cells if not executable.order else list(dict.fromkeys(call.cells))
                if op is None:
                    op = executable.recorded = recorded_op(dispatcher, executable, call, values, cells)
                self.before(op, cells[0] if cells else None)
                slots, words = [], []
                for operand in call.operands:
                    if isinstance(operand, (np.ndarray, np.generic)):
                        words += words_of_array(operand)
                    elif operand is not None:
                        slots.append(self._slot(operand))
                results = self.record(op, slots, words, call.starts)
            except NotRecordableError:
                self.settle(call)
                return NotImplemented
            fresh = iter(results[op.count :])
            for cell, replaced in zip(cells, op.replaces, strict=True):
                if replaced:
                    next(fresh).overwrite(cell)
        # That path does not pass the key that a random operator takes.
        known = fast_key is not None and -1 not in call.positions and not dispatcher.signature.row.random
        if known and dispatcher.is_fast(call, executable.specs, donates=False):
            remember(dispatcher, fast_key, executable, call.starts)
        made = executable.finish(results[: op.count], 0, PendingCell) if op.count or not call.written else None
        return dispatcher.returned(values, made) if call.written else made

    def settle(self, call: EncodedCall) -> None:
        """Replace the pending operands of an encoded call by their arrays."""
        call.operands[:] = [o.value() if o.__class__ is Pending else o for o in call.operands]

    def kernel(self, dispatcher: Dispatcher) -> Callable[..., Any]:
        """The kernel that replaces an overload's fast path; see kernels.py."""
        return recording_kernel(dispatcher)

    def list_call(self, dispatcher: Dispatcher, values: list[Any]) -> Callable[[], Any]:
        """A function that records a call of an operator on lists; see kernels.py."""
        return list_call(self, dispatcher, values)

    # Computing

    def flush(self, barrier: bool = False, wait: bool = False, cause: str = "") -> None:
        """Compute all results that something holds.

        Args:
            barrier: a step ends here, so arrays that were overwritten may be reused. They are not reused if a value is
                merely needed.
            wait: wait for data-dependent checks, and raise the error of the first that failed.
            cause: the reason for the flush; by default, the line of the program.
        """
        with self.lock:
            try:
                if self.ops:
                    self._compute(barrier, cause)
            finally:
                if not self.ops:
                    self.clear()
        raise_failed_assertions(wait)

    def _compute(self, barrier: bool, cause: str) -> None:
        entries = tuple(self.entries)
        live, key = self._live(entries, barrier)
        if not live and not self.assertions:
            self.clear()
            return
        if is_variant(key, self.history):  # uncollected garbage may be the difference
            live.clear()
            gc.collect()
            live, key = self._live(entries, barrier)
        program = program_of(key, self.history)
        ran: list[Sequence[Any]] = []
        compiled, begun = program.seconds, time.perf_counter()
        outer = recording.tape
        recording.tape = None  # a torch function that the program traces must not flush this tape
        try:
            program.run(self.numbers, self.inputs, ran)
        except Exception as error:
            if ran or (failed := self._one_by_one(entries, live, error, ran)) is error:
                raise
            raise failed from error
        finally:
            recording.tape = outer
            if ran:  # even if Ctrl-C interrupts, because donated arrays are gone
                for pending, array in zip(live, ran[0], strict=False):
                    if array.__class__ is tuple:
                        pending.failure = array
                    else:
                        pending.array = array
                    pending.tape = None
                    if self.devices is not None:
                        pending.settle()
                if self.assertions:
                    record_assertions(ran[0][-1], tuple(self.assertions))
                self.clear()
        compiled = program.seconds - compiled
        seconds = time.perf_counter() - begun - compiled
        place = f" {cause}" if cause else user_line() or " an unknown line"
        self.history.note(program, place, seconds, compiled > 0)
        self.places.note(program, compiled > 0, place)
        if not cause and recording.tape is self and self.places.pauses():
            self.paused, recording.tape = True, None

    def ended(self) -> None:
        """End a step of a paused tape: record again, unless recording pauses after this place too."""
        self.places.last = user_line() or " an unknown line"
        if not self.places.pauses():
            self.paused, recording.tape = False, self

    def _one_by_one(self, entries: Sequence[Any], live: list[Pending], error: Exception, ran: list[Any]) -> Exception:
        """Run the operations of a failed program one by one, append their results to `ran`, and return the error to
        raise."""
        with nullcontext() if no_jax_trace() else jax.ensure_compile_time_eval():
            values, flags = values_one_by_one(entries, self.numbers, self.inputs, error)
        ran.append([*(values[pending.slot] for pending in live), *([jnp.array(flags)] if flags else [])])
        return next((value[0] for value in values if value.__class__ is tuple), error)  # of the first that failed

    def lowered(self, operands: Sequence[Any]) -> jax.stages.Lowered:
        """The lowered program that would compute some pending results, or all that something holds. It is not run.

        Raises:
            ValueError: nothing is pending.
        """
        with self.lock:
            live, (entries, slots, *_) = self._live(tuple(self.entries), barrier=False)
            wanted = [p.slot for p in operands if p.__class__ is Pending and p.tape is self] if operands else slots
            if not live or not wanted:
                raise ValueError("nothing is recorded that is not computed yet")
            return TapeProgram((entries, tuple(wanted), (), float32_products.in_effect), None).lower(
                self.numbers, self.inputs
            )

    def _live(self, entries: tuple[Any, ...], barrier: bool) -> tuple[list[Pending], Key]:
        """The results that something holds, and the key of the program that computes them."""
        live = [p for found in self.slots if found is not None and (p := found()) is not None]
        precision = float32_products.in_effect
        if not barrier:
            return live, (entries, tuple([p.slot for p in live]), (), precision)
        held = {self.input_slots[i]: i for i in held_by_list_only(self.inputs, self.donatable)}
        live, donated = paired(live, [*held], {slot: self.input_avals[i] for slot, i in held.items()})
        return live, (entries, tuple([p.slot for p in live]), tuple([held[slot] for slot in donated]), precision)
