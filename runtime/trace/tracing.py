"""A trace records which tensors a torch program reads and writes while JAX traces the program.

A tensor's array is an attribute of its cell. While any trace runs, that attribute is a property of the class `Cell`, so
every access to an array passes through this module, and eager calls outside of traces pay nothing. The cost is that
other threads also go through the property while it is installed.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import torch

from .._torch import NAME
from ..errors import TraceError
from ..storage.avals import LazyFill
from ..storage.cell import Cell
from ..storage.placement import fill_from_host
from ..storage.random import RELATIVE, RandomStream, drawing
from ..storage.recording import recording, run_recorded
from ..storage.spec import TensorSpec
from .async_errors import Assertion
from .core import alias_array, current_trace, trace_stack, user_line

_lock = threading.Lock()
_numbers = itertools.count()
_running = 0
_WATCHED = ("content", "array")


class TracedStream(RandomStream):
    """The random stream of a trace, which tells a program that seeds from one that continues its caller's stream.

    Until the program seeds: the trace's number, and 2**63 plus the number of draws.
    """

    def __init__(self) -> None:
        self.number = self.seed = next(_numbers)
        self.offset = RELATIVE
        self.generators: dict[int, torch.Generator] = {}  # that the trace created, by the address of their C++ object

    @property
    def draws(self) -> int | None:
        """The number of draws since the trace began; None if the program has seeded."""
        return self.offset - RELATIVE if self.offset >= RELATIVE else None


class Trace:
    """One run of a torch program under a JAX trace.

    The trace owns the cells that are created during the run. Outside cells are treated according to `lifts`. If it is
    true, a cell that is read becomes an input of the traced program, and one that is written becomes an output. If it
    is false, a cell that is read is a constant of the JAX program, and a write of a tracer raises, because the program
    could not repeat it.

    With `asserts` the program returns the data-dependent conditions of its operations, such as an index in range;
    otherwise they are assumed to hold, as in JAX.
    """

    def __init__(self, lifts: bool, draw: Callable[[torch.Generator | None], Any], asserts: bool = False) -> None:
        self.lifts = lifts
        self.asserts = lifts or asserts
        self.draw = draw  # returns the key data of a random operation
        self.stream = TracedStream()
        self.lifted: dict[Cell, jax.Array] = {}  # the placeholder array of each input cell
        self.scalars: dict[int, jax.Array] = {}  # those of 0-d inputs, by the id of the array: cells may share one
        self.aliases: set[int] = set()  # the ids of the placeholder arrays
        self.written: dict[Cell, None] = {}
        self.conditions: list[tuple[jax.Array, Assertion]] = []  # computed by the program
        self.before: dict[Cell, tuple[Any, Any, Any]] = {}  # `content`, `array` and `aval` of each outside cell
        self.born: weakref.WeakSet[Cell] = weakref.WeakSet()
        self.moved: dict[int, MovedTensor] = {}  # by id, the tensors whose data was replaced
        self.returned = False  # whether the function has returned, and only its backward pass is still traced
        self.reshaped: dict[int, tuple[torch.Tensor, TensorSpec]] = {}  # by id, with the geometry before
        self.recomputation: Recomputation | None = None  # that is running
        self.latest: Any = None  # the array that was written last

    def lift(self, cell: Cell) -> None:
        """Make an outside cell an input of the program."""
        state = cell.__dict__
        content = state["content"]
        if content.__class__ is LazyFill:
            content = fill_from_host(content, cell.index)
            state.update(content=content, array=None if cell.index or cell.mixed else content)
        self.keep(cell)
        known = self.scalars.get(id(content))
        if known is None:
            known = alias_array(content)
            if not content.shape:
                self.scalars[id(content)] = known
        self.lifted[cell] = known
        self.aliases.add(id(known))
        state["content"] = known
        state["array"] = None if cell.index or cell.mixed else known

    def keep(self, cell: Cell) -> None:
        """Save the state of an outside cell, and mark the cell as owned by this trace."""
        state = cell.__dict__
        self.before[cell] = state["content"], state["array"], state["aval"]
        state["owner"] = self

    def moving(self, tensor: torch.Tensor) -> None:
        """Save the data of a tensor that is about to be replaced."""
        if self.lifts and id(tensor) not in self.moved and tensor.device.type == NAME:
            self.moved[id(tensor)] = MovedTensor(tensor, tensor.detach(), user_line())

    def reshaping(self, tensor: torch.Tensor) -> None:
        """Save the geometry of a tensor that is about to change in place."""
        if self.lifts and id(tensor) not in self.reshaped and id(tensor) not in self.moved:
            self.reshaped[id(tensor)] = tensor, TensorSpec.of(tensor)

    def stored(self, state: dict[str, Any], name: str, value: Any) -> Any:
        """The array that a cell stores when `value` is written to it."""
        return value

    def restore(self) -> None:
        """Restore every outside cell to its state before the run."""
        for cell, (content, array, aval) in self.before.items():
            state = cell.__dict__
            state.update(content=content, array=None if cell.mixed else array, aval=aval)
            del state["owner"]

    def lose(self) -> None:
        """Make cells of this trace that outlive it raise when they are used."""
        for cell in list(self.born):
            state = cell.__dict__
            if isinstance(state["content"], jax.core.Tracer):
                state["content"] = LostArray()
                state["array"] = None
            state.pop("owner", None)


class Recomputation:
    """A recomputation, which reads arrays from before it through optimization barriers, as in `jax.checkpoint`.

    Otherwise XLA would compute once what the recomputation and the forward pass compute from the same arrays. The
    barriers also wait for the array that was written last, a gradient, so that nothing is recomputed too early.
    """

    def __init__(self, latest: Any) -> None:
        self.latest = latest
        self.known: dict[int, tuple[Any, Any]] = {}  # by id: an array, and what is read for it

    def note(self, value: Any) -> None:
        """An array that the recomputation made."""
        self.known[id(value)] = value, value

    def read(self, value: Any) -> Any:
        """What it reads for the array of a cell."""
        if id(value) not in self.known:
            apart = jax.lax.optimization_barrier((value, self.latest))[0] if isinstance(value, jax.Array) else value
            self.known[id(value)] = value, apart
            self.note(apart)
        return self.known[id(value)][1]


class MovedTensor(NamedTuple):
    """A tensor whose data a run replaced."""

    tensor: torch.Tensor
    before: torch.Tensor  # a detached tensor on the old data
    line: str


class LostArray:
    """Placeholder for an array that existed only during a trace."""

    def __getattr__(self, name: str) -> Any:
        raise TraceError(
            "this tensor was created while a function was traced and is not one of its results, so it has no value. "
            "Return it from the function"
        )


def _property(name: str) -> property:
    def get(cell: Cell) -> Any:
        state = cell.__dict__
        if "pending" in state:
            cell.settle()
        if "owner" not in state and (trace := next((t for t in reversed(trace_stack()) if t.lifts), None)) is not None:
            trace.lift(cell)
        trace = current_trace()
        return state[name] if trace is None or trace.recomputation is None else trace.recomputation.read(state[name])

    def put(cell: Cell, value: Any) -> None:
        state = cell.__dict__
        if "pending" in state:
            cell.settle()
        trace = current_trace()
        if trace is not None:
            owner, outer, written = state.get("owner"), cell in trace.before, trace.written
            if "content" not in state:
                state["owner"] = trace
                trace.born.add(cell)
            elif owner is None and trace.lifts and name == "array" and value is None:
                trace.lift(cell)  # the array is unchanged, but is now also viewed with another dtype
            elif owner is None and trace.lifts:
                trace.keep(cell)
                written[cell] = None
            elif owner is trace:
                if outer:
                    written[cell] = None
            elif isinstance(value, jax.core.Tracer):
                raise TraceError(
                    "a tensor from outside is written in a function that JAX traces: pass it as an argument, or its "
                    f"module's buffers as state{user_line()}"
                )
            value = trace.stored(state, name, value)
            if trace.recomputation is not None:
                trace.recomputation.note(value)
            elif isinstance(value, jax.core.Tracer):
                trace.latest = value
        state[name] = value

    return property(get, put)


@contextmanager
def tracing(trace: Trace) -> Iterator[Trace]:
    """Run a trace on this thread; afterwards, restore the outside cells."""
    run_recorded()  # operations that were recorded are not part of the program
    tape, recording.tape = recording.tape, None
    _watch(1)
    traces = trace_stack()
    traces.append(trace)
    before = drawing.draw, drawing.stream
    drawing.draw, drawing.stream = trace.draw, trace.stream
    try:
        # Otherwise the engine would run backward on another thread, which sees neither this trace nor JAX's.
        with torch.autograd.set_multithreading_enabled(False):
            yield trace
    finally:
        drawing.draw, drawing.stream = before
        traces.pop()
        trace.restore()
        _watch(-1)
        recording.tape = tape


def _watch(more: int) -> None:
    """Install the properties when the first trace of any thread starts, and remove them when the last ends."""
    global _running
    with _lock:
        if more > 0 and _running == 0:
            for name in _WATCHED:
                setattr(Cell, name, _property(name))
        _running += more
        if _running == 0:
            for name in _WATCHED:
                delattr(Cell, name)
