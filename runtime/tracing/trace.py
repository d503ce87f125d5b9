"""A trace: what a torch program reads and writes of the tensors outside it, while JAX traces it.

A tensor's array is an attribute of its cell. While a trace runs, that attribute is a property of the class `Cell`, so
that every road to an array passes here, and eager calls outside a trace pay nothing. Price: other threads go through
the property as well while it is there.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import jax
import numpy as np
import torch

from ..device.cell import Cell, Fill, put
from ..device.random import drawing
from ..errors import TraceError
from .deferred import Condition

_local = threading.local()
_lock = threading.Lock()
_running = 0
_WATCHED = ("held", "value")


class Trace:
    """One run of a torch program under a JAX trace.

    Cells made within are its own. What it does to others depends on `lifts`: with it, a cell that is read becomes an
    input of the traced program and one that is written an output; without it, what is read is a constant of the JAX
    program, and a write raises, for the program that JAX makes could not repeat it.
    """

    def __init__(self, lifts: bool, draw: Callable[[torch.Generator | None], Any]) -> None:
        self.lifts = lifts
        self.draw = draw  # the key data of a random operation
        self.lifted: dict[Cell, jax.Array] = {}  # by what array the trace knows each
        self.aliases: set[int] = set()  # the ids of these arrays
        self.written: dict[Cell, None] = {}
        self.conditions: list[tuple[jax.Array, Condition]] = []  # found out by the program
        self.before: dict[Cell, tuple[Any, Any, Any]] = {}  # what the cells from outside held
        self.born: weakref.WeakSet[Cell] = weakref.WeakSet()
        self.moved: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # tensors with new data, and their data before

    def lift(self, cell: Cell) -> None:
        """Make the array of a cell from outside an input."""
        state = cell.__dict__
        held = state["held"]
        if held.__class__ is Fill:
            # Made on the host: on the device, XLA would compile a program for each shape.
            held = put(np.full(held.kind.shape, held.value, held.kind.dtype), cell.index)
            state.update(held=held, value=None if cell.index or cell.mixed else held)
        self.keep(cell)
        known = alias(held)
        self.lifted[cell] = known
        self.aliases.add(id(known))
        state["held"] = known
        state["value"] = None if cell.index or cell.mixed else known

    def keep(self, cell: Cell) -> None:
        """Remember what a cell from outside holds, and count it among those of the trace."""
        state = cell.__dict__
        self.before[cell] = state["held"], state["value"], state["kind"]
        state["owner"] = self

    def moving(self, tensor: torch.Tensor) -> None:
        """Remember the data of a tensor that is about to get other data."""
        if self.lifts and id(tensor) not in self.moved and tensor.device.type == "jax":
            self.moved[id(tensor)] = tensor, tensor.detach()

    def stored(self, state: dict[str, Any], name: str, value: Any) -> Any:
        """What a cell is to hold where `value` is written."""
        return value

    def restore(self) -> None:
        """Give every cell from outside what it held before."""
        for cell, (held, value, kind) in self.before.items():
            state = cell.__dict__
            state.update(held=held, value=None if cell.mixed else value, kind=kind)
            del state["owner"]

    def lose(self) -> None:
        """Make the cells of the trace that are still alive raise when they are used."""
        for cell in list(self.born):
            state = cell.__dict__
            if isinstance(state["held"], jax.core.Tracer):
                state["held"] = Lost()
                state["value"] = None
            state.pop("owner", None)


class Lost:
    """In the place of an array that was there in a trace only."""

    def __getattr__(self, name: str) -> Any:
        raise TraceError(
            "this tensor was made while a function was traced, and is no result of it: it has no value. Return it from "
            "the function"
        )


def alias(array: jax.Array) -> jax.Array:
    """Another array object on the same buffers: a trace tells its inputs apart by identity."""
    if isinstance(array, jax.core.Tracer):
        return array
    shards = [s.data for s in array.addressable_shards]
    return jax.make_array_from_single_device_arrays(array.shape, array.sharding, shards)


def stack() -> list[Trace]:
    """The traces of this thread, the innermost last."""
    found = getattr(_local, "stack", None)
    if found is None:
        found = _local.stack = []
    return found


def current() -> Trace | None:
    """The innermost trace of this thread."""
    traces = getattr(_local, "stack", None)
    return traces[-1] if traces else None


def takes_host() -> bool:
    """Whether tensors of the CPU are constants of the program, wherever they meet tensors of the device."""
    trace = current()
    return trace is not None and not trace.lifts


def _lifting() -> Trace | None:
    return next((t for t in reversed(stack()) if t.lifts), None)


def _property(name: str) -> property:
    def get(cell: Cell) -> Any:
        state = cell.__dict__
        if "laid" in state:
            cell.put_back()
        if "owner" not in state and (trace := _lifting()) is not None:
            trace.lift(cell)
        return state[name]

    def put(cell: Cell, value: Any) -> None:
        state = cell.__dict__
        if "laid" in state:
            cell.put_back()
        trace = current()
        if trace is not None:
            owner, outer, written = state.get("owner"), cell in trace.before, trace.written
            if "held" not in state:
                state["owner"] = trace
                trace.born.add(cell)
            elif owner is None and trace.lifts and name == "value" and value is None:
                trace.lift(cell)  # its array stays, and is seen through another dtype
            elif owner is None and trace.lifts:
                trace.keep(cell)
                written[cell] = None
            elif owner is trace:
                if outer:
                    written[cell] = None
            elif _holds_tracer(value):
                raise TraceError(
                    "a tensor from outside is written in a function that JAX traces: pass it as an argument, or its "
                    f"module's buffers as state{at_line()}"
                )
            value = trace.stored(state, name, value)
        state[name] = value

    return property(get, put)


def _holds_tracer(value: Any) -> bool:
    return isinstance(value, jax.core.Tracer)


@contextmanager
def tracing(trace: Trace) -> Iterator[Trace]:
    """Run a trace on this thread. At the end the cells from outside hold what they held before."""
    _watch(1)
    traces = stack()
    traces.append(trace)
    draw, drawing.draw = drawing.draw, trace.draw
    try:
        # The engine would run a backward pass on another thread, which knows neither trace.
        with torch.autograd.set_multithreading_enabled(False):
            yield trace
    finally:
        drawing.draw = draw
        traces.pop()
        trace.restore()
        _watch(-1)


def _watch(more: int) -> None:
    """Have the properties while any thread traces."""
    global _running
    with _lock:
        if more > 0 and _running == 0:
            for name in _WATCHED:
                setattr(Cell, name, _property(name))
        _running += more
        if _running == 0:
            for name in _WATCHED:
                delattr(Cell, name)


def unknown(array: Any) -> bool:
    """Whether a trace is to treat the value of an array as not known."""
    return isinstance(array, jax.core.Tracer) or any(id(array) in t.aliases for t in stack())


def traced(array: Any) -> Any:
    """The array as a tracer, if a trace is to treat its value as not known: what asks JAX then learns it too."""
    if current() is None or _holds_tracer(array) or not unknown(array):
        return array
    return jax.lax.optimization_barrier(array)


def refuse(array: Any, wanted: str) -> Any:
    """The array, unless it is known only to a trace.

    Raises:
        TraceError: it is, and what is wanted needs its value.
    """
    if unknown(array):
        raise TraceError(
            f"{wanted}: the value of a tensor is not known while a function is traced{at_line()}. Keep the choice on "
            "the device (torch.where), return the tensor, or move this out of the traced function"
        )
    return array


def at_line() -> str:
    """Where in the user's program this happens: the innermost frame that belongs neither to torch, JAX nor tenax."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "tenax")
        if module.partition(".")[0] not in ("torch", "jax", "tenax", "contextlib", "functools"):
            return f" ({frame.f_code.co_filename}:{frame.f_lineno}, in {frame.f_code.co_name})"
        frame = frame.f_back
    return ""
