"""The dispatcher of one overload: finds or builds the executable of a call, runs it, and applies the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from .._torch.modes import tracing_state
from ..storage.memory_errors import as_torch_error
from ..storage.mutation import donating
from ..storage.placement import no_jax_trace
from ..storage.recording import recording
from ..storage.spec import Operand, TensorSpec
from ..tracebacks import shortened
from ..xla.memory import code_memory
from ..xla.options import compiles_ahead
from .donation import is_held, is_worthwhile_in_eager, repeat_until_done
from .encode import NO_KEY, EncodedCall, encode, is_always_idle
from .executable import BoundExecutable, Executable, build_executable
from .operands import WideNumber
from .overlap import overlaps, shares_storage
from .shape_inference import LOWERING_ERRORS, raise_matching_host_error
from .signature import Signature

_PLAIN = {int, float, type(None)}
_HELD = 1 << 14  # executables of an overload, and entries of its fast path; a full table is cleared


class Handled(NamedTuple):
    """The result of a call that other operations have executed."""

    result: Any


class Dispatcher:
    """A callable registered with torch's dispatcher for one overload."""

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.entries: dict[Any, Executable] = {}
        self.fast: dict[Any, Executable | BoundExecutable] = {}
        self.recorded_calls: dict[Any, Any] = {}  # the same for lazy mode
        code_memory.dispatchers.append(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(self.signature.bind(args, kwargs))

    def recorded(self, *args: Any, **kwargs: Any) -> Any:
        """Handle a call while a tape records; the first call in lazy mode replaces this method by the tape's kernel."""
        if recording.tape.ahead:
            return self(*args, **kwargs)
        self.recorded = recording.tape.kernel(self)  # type: ignore[method-assign]
        return self.recorded(*args, **kwargs)

    def call(self, values: list[Any], fast_key: Any = None, failure: Exception | None = None) -> Any:
        """Execute the op for user code, whose tracebacks are cut off here; `failure` is that of the fast path. It is
        executed again if another thread has donated an operand meanwhile."""
        try:
            if failure is not None:
                raise failure
            if tracing_state() is not None:  # torch.jit.trace hides it while an operator runs that it records
                text = "torch.jit.trace does not record it on this device; expected a trace on the CPU, or tenax.jit"
                raise NotImplementedError(f"{self.signature.name}: {text}")
            return self.run(values, fast_key)
        except Exception as error:
            if "deleted" not in str(error):  # as JAX says of an array
                raise shortened(as_torch_error(error))  # noqa: B904 (the same one, or it states its cause)
        with donating:
            return self.run(values)

    def run(self, values: list[Any], fast_key: Any = None, resized: bool = False) -> Any:
        """Execute the op on bound arguments."""
        signature = self.signature
        if signature.row.dynamic:
            from .data_dependent import run_data_dependent

            return run_data_dependent(signature, values)
        if signature.prepare is not None:
            prepared = signature.prepare(values)
            if isinstance(prepared, Handled):
                return prepared.result
            values = prepared
        begun = recording.tape
        call = encode(signature, values)
        if call.shared:
            from .foreach import independent_parts

            parts = independent_parts(signature, values)
            if len(parts) > 1:
                for part in parts:
                    self.run(part)
                return None
        if call.written and (call.shared or not signature.foreach) and shares_storage(call):
            reads = [v for s, v in zip(signature.arguments, values, strict=True) if not s.written]
            call.key = (*call.key, *overlaps(call.written, reads))
        key = call.key
        if signature.scalars:
            least = -1 if getattr(values[0], "dtype", torch.int8).is_signed else 0  # to 127 every dtype holds
            if not all(type(n := values[i]) in _PLAIN and least <= (n or 0) <= 127 for i in signature.scalars):
                from .unusual_arguments import check_numbers

                check_numbers(signature, values, key)
        executable = self.entries.get(key)
        if executable is None:
            code_memory.make_room(signature.name, key)
            executable = build_executable(signature, values, call)
            if len(self.entries) >= _HELD:
                self.entries.clear()
            self.entries[key] = executable
            if recording.tape is None and compiles_ahead():
                from .compile_ahead import open_tape

                open_tape(self, executable)
        executable.age = code_memory.age
        if executable.instead is not None:
            return executable.instead(values)
        if executable.resize:
            from .out_arguments import resize_outs

            resize_outs(signature, values, executable.resize, again=resized)
            return self.run(values, resized=True)
        tape = recording.tape
        if begun is not None and tape is None:  # an operand's value was needed, which ran and closed the tape
            begun.settle(call)
        eager = (tape is None or tape.ahead) and fast_key is not None and not executable.joins
        if eager and self.is_fast(call, executable.specs, not signature.foreach):
            if len(self.fast) >= _HELD:
                self.fast.clear()
            self.fast[fast_key] = executable.bound((NO_KEY, *call.starts) if signature.row.random else call.starts)
        if tape is not None:
            recorded = tape.run(self, executable, call, values, fast_key)
            if recorded is not NotImplemented:
                return recorded
        # Decided here, before anything else holds a reference to an operand.
        donate = bool(call.written) and not executable.joins and self.donatable(executable, call)
        operands, run = (*call.operands, *call.starts), executable.run
        if executable.check is not None:
            from .value_checks import checked

            run = checked(executable, signature, call, values, donate)
        ran: list[Any] = []
        try:
            if donate:
                executable.donate_to(operands, ran)
            else:
                ran.append(run(*operands))
            if call.written:
                write(executable, call, ran[0])
        except LOWERING_ERRORS:
            self.fast.pop(fast_key, None)  # so that the next such call raises here too
            raise_matching_host_error(signature, values)
            raise
        except BaseException:
            if ran and call.written:  # Ctrl-C: the old arrays are donated, so the cells must get the new ones
                repeat_until_done(lambda: write(executable, call, ran[0]))
            raise
        if not call.written:
            return executable.finish(ran[0], call.index or 0)
        count = executable.count
        return self.returned(values, executable.finish(ran[0][:count], call.index or 0) if count else None)

    def is_fast(self, call: EncodedCall, outputs: Sequence[TensorSpec], donates: bool = True) -> bool:
        """Whether the fast path's key determines the executable, and its operands are just the arrays in order."""
        if (
            call.index
            or call.wide
            or (self.signature.row.random and not is_always_idle(self.signature, call))
            or any(c.mixed or (donates and is_worthwhile_in_eager(c.nbytes, 1)) for c in call.cells)
        ):
            return False
        parts = [p for part in call.parts for p in (part if part.__class__ is tuple else (part,))]
        if any(p.__class__ is Operand and p.reinterprets for p in parts):
            return False
        # That key has the type of a number, so it says of floats alone how many words are passed (`special: wide`).
        if any(p.__class__ is WideNumber and p.kind is not float for p in parts):
            return False
        # Integer tensors with a float number or result depend on the default dtype, which that key does not contain.
        operands = [p.spec.dtype for p in parts if p.__class__ is Operand]
        results = [o.dtype for o in outputs]
        follows = any(p is float or p is complex for p in parts) or any(map(_is_inexact, results))
        return not follows or any(map(_is_inexact, operands))

    def returned(self, values: Sequence[Any], made: Any) -> Any:
        """The return value of the op: the new tensors in `made`, its written arguments, or nothing."""
        if made is not None:
            return made
        written = [
            values[i] for i in self.signature.outs or [i for i, s in enumerate(self.signature.arguments) if s.written]
        ]
        if any(isinstance(w, (list, tuple)) for w in written):
            tensors = [t for w in written for t in (w if isinstance(w, (list, tuple)) else [w]) if t is not None]
            torch.autograd.graph.increment_version(tensors)
        if not self.signature.returns:
            return None
        return written[0] if len(self.signature.returns) == 1 else tuple(written)

    def donatable(self, executable: Executable, call: EncodedCall) -> bool:
        """Whether the executable may reuse the written arrays: nothing else holds one, and none is passed twice."""
        cells = call.cells
        if not is_worthwhile_in_eager(sum([c.aval.nbytes for c in cells]), len(cells)) or any(c.mixed for c in cells):
            return False
        return no_jax_trace() and not is_held(call.operands, executable.donate, call.positions, cells)


def write(executable: Executable, call: EncodedCall, results: Sequence[Any]) -> None:
    """Write the new arrays of the written tensors into their cells."""
    cells = call.cells if not executable.order else dict.fromkeys(call.cells)
    for cell, array in zip(cells, results[executable.count :], strict=True):
        if array is not None:
            (cell.write if executable.joins else cell.replace)(array)


def _is_inexact(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex
