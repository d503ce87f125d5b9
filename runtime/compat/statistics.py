"""Counters and metrics of the process, which `torch_xla.debug.metrics` and `torch.tpu` report.

JAX reports compilations, tenax its transfers and eager operations, and lazy mode the runs of programs with their
operators. The names are those that programs look for. An eager operation takes about 2 µs longer for it, in programs
that call `listen`, as `torch_xla` does.
"""

from __future__ import annotations

import functools
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import MethodType
from typing import Any

import jax

from .._jax import trace_state_clean
from .._lazy import programs
from .._lazy.programs import TapeProgram
from ..trace.transfer import transfers
from ..xla.program import EagerProgram
from ..xla.stored import LOADED

# The metric of each event of JAX whose duration is recorded.
_EVENTS = {"/jax/core/compile/backend_compile_duration": "CompileTime", LOADED: "CompileTime"}
_CACHED = "/jax/compilation_cache/cache_hits"

_ITEM = "aten::_local_scalar_dense"  # reading a value, which PyTorch/XLA counts among the operations of the host

_DATA = {"ToDevice": "OutboundData", "FromDevice": "InboundData"}

_SAMPLES = 1024  # that a metric keeps, as in PyTorch/XLA; older ones only count


class Metric:
    """The samples of a metric, in seconds or bytes."""

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.samples: deque[tuple[float, float]] = deque(maxlen=_SAMPLES)  # the latest: (when recorded, value)


counters: dict[str, int] = {}
metrics: dict[str, Metric] = {}
_lock = threading.Lock()


def count(name: str, more: int = 1) -> None:
    """Add to a counter."""
    with _lock:
        counters[name] = counters.get(name, 0) + more


def record(name: str, value: float) -> None:
    """Add a sample to a metric, in seconds, or in bytes if its name ends in `Data`."""
    with _lock:
        metric = metrics.get(name)
        if metric is None:
            metric = metrics[name] = Metric()
        metric.count += 1
        metric.total += value
        metric.samples.append((time.time(), value))


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Record the duration of a block."""
    start = time.perf_counter()
    try:
        yield
    finally:
        record(name, time.perf_counter() - start)


@contextmanager
def executed() -> Iterator[None]:
    """Record a block that runs a compiled program, without the time in which it is compiled."""
    (compiled, compiling), start = _compilations(), time.perf_counter()
    yield
    now, total = _compilations()
    record("ExecuteTime", max(0.0, time.perf_counter() - start - (total - compiling)))
    _attribute()
    if now == compiled:
        count("CachedCompile")


def _compilations() -> tuple[int, float]:
    """The number of compilations, and their seconds."""
    found = metrics.get("CompileTime")
    return (0, 0.0) if found is None else (found.count, found.total)


class _Operation:
    """The counters of a program of an eager operation."""

    def __init__(self, name: str) -> None:
        self.counter, self.begun = _counter(name), False

    def ran(self, seconds: float) -> None:
        """Record a run, the first of which waited for the compilation."""
        if not self.begun:
            self.begun = True
            record("EagerOpCompileTime", _attribute())
        else:
            count("CachedCompile")
        record("EagerOpExecuteTime", seconds)
        count(self.counter)


_operations: weakref.WeakKeyDictionary[EagerProgram, _Operation] = weakref.WeakKeyDictionary()
_attributed = 0.0  # seconds of compilation that belong to programs which have run


def _attribute() -> float:
    """The seconds of compilation since the last call: those of the program that has just run."""
    global _attributed
    before, _attributed = _attributed, _compilations()[1]
    return max(0.0, _attributed - before)


def _operation(program: EagerProgram, call: Callable[..., Any]) -> Callable[..., Any]:
    """The function of an eager operation's program, which records its runs unless another program is traced."""
    operation = _operations.setdefault(program, _Operation(program.function.__name__))

    def run(*operands: Any) -> Any:
        if not trace_state_clean():
            return call(*operands)
        before, start = 0.0 if operation.begun else _compilations()[1], time.perf_counter()
        results = call(*operands)
        seconds = time.perf_counter() - start
        operation.ran(seconds if operation.begun else max(0.0, seconds - (_compilations()[1] - before)))
        return results

    return run


@functools.cache
def _counter(name: str) -> str:
    """The name of the counter of an operator."""
    return f"xla::{name.partition('.')[0].removeprefix('aten::')}"


def clear(counters_too: bool = True, metrics_too: bool = True) -> None:
    """Clear counters and metrics, or one of them."""
    global _attributed
    with _lock:
        if counters_too:
            counters.clear()
        if metrics_too:
            metrics.clear()
            _attributed = 0.0


@functools.cache
def listen() -> None:
    """Register listeners for compilations, runs of lazy mode and transfers. Further calls do nothing."""
    jax.monitoring.register_event_duration_secs_listener(_duration)
    jax.monitoring.register_event_listener(_event)
    programs.listeners.append(_program_ran)
    transfers.measure = _transfer
    EagerProgram.observer = _operation


def _transfer(direction: str, nbytes: int, transfer: Callable[[], Any]) -> Any:
    if transfer.__class__ is MethodType:  # `array.item`, which reads one number
        count(_ITEM)
    record(_DATA[direction], nbytes)
    with timed(f"Transfer{direction}Time"):
        return transfer()


def _program_ran(program: TapeProgram, seconds: float, compiled: bool) -> None:
    record("ExecuteTime", seconds)
    _attribute()
    if not compiled:
        count("CachedCompile")
    for name, times in program.names.items():
        count(_counter(name), times)


def _duration(event: str, duration_secs: float, **_: object) -> None:
    if event in _EVENTS:
        record(_EVENTS[event], duration_secs)
        count("UncachedCompile")
    if event == LOADED:
        count("PersistentCacheHit")


def _event(event: str, **_: object) -> None:
    if event == _CACHED:
        count("PersistentCacheHit")
