"""Counters and metrics of the process, which `torch_xla.debug.metrics` reports.

JAX reports compilations, tenax its transfers, and lazy mode the runs of programs with their operators. The names are
those that programs look for.
"""

from __future__ import annotations

import functools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax

from ..._lazy import programs
from ..._lazy.programs import TapeProgram
from ...trace.transfer import transfers
from ...xla.stored import LOADED

# The metric of each event of JAX whose duration is recorded.
_EVENTS = {"/jax/core/compile/backend_compile_duration": "CompileTime", LOADED: "CompileTime"}
_CACHED = "/jax/compilation_cache/cache_hits"

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
        metric = metrics.setdefault(name, Metric())
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
    before, start = metrics.get("CompileTime", Metric()), time.perf_counter()
    compiled, compiling = before.count, before.total
    yield
    after = metrics.get("CompileTime", Metric())
    record("ExecuteTime", max(0.0, time.perf_counter() - start - (after.total - compiling)))
    if after.count == compiled:
        count("CachedCompile")


def clear() -> None:
    """Clear counters and metrics."""
    with _lock:
        counters.clear()
        metrics.clear()


@functools.cache
def listen() -> None:
    """Register listeners for compilations, runs of lazy mode and transfers. Further calls do nothing."""
    jax.monitoring.register_event_duration_secs_listener(_duration)
    jax.monitoring.register_event_listener(_event)
    programs.listeners.append(_program_ran)
    transfers.measure = _transfer


def _transfer(direction: str, nbytes: int, transfer: Callable[[], Any]) -> Any:
    record(_DATA[direction], nbytes)
    with timed(f"Transfer{direction}Time"):
        return transfer()


def _program_ran(program: TapeProgram, seconds: float, compiled: bool) -> None:
    record("ExecuteTime", seconds)
    if not compiled:
        count("CachedCompile")
    for name, times in program.names.items():
        count(f"xla::{name.partition('.')[0].removeprefix('aten::')}", times)


def _duration(event: str, duration_secs: float, **_: object) -> None:
    if event in _EVENTS:
        record(_EVENTS[event], duration_secs)
        count("UncachedCompile")
    if event == LOADED:
        count("PersistentCacheHit")


def _event(event: str, **_: object) -> None:
    if event == _CACHED:
        count("PersistentCacheHit")
