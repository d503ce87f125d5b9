"""Totals of what compilation has cost this process, for `tenax.explain()`."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax

# The memory of an executable of one operation, including its entries in dispatch's tables, measured on the CPU by
# benchmarks/soak.py. One that was loaded takes half as much.
_BASE_BYTES = 220 << 10


@dataclass
class Totals:
    """What compilation has cost this process; `str()` gives a readable summary."""

    compiled: int = 0
    compile_seconds: float = 0.0  # lowering included
    loaded: int = 0  # from the folder of programs
    load_seconds: float = 0.0
    held: int = 0  # executables of eager operations in memory
    held_bytes: int = 0  # their estimated size
    pinned: int = 0  # programs of compiled functions in memory
    pinned_bytes: int = 0
    evicted: int = 0

    def __str__(self) -> str:
        return (
            f"{self.compiled} programs compiled in {self.compile_seconds:.1f} s, {self.loaded} loaded from the cache "
            f"in {self.load_seconds:.1f} s; in memory {self.held} of eager operations (about "
            f"{self.held_bytes / 2**20:.0f} MiB) and {self.pinned} of compiled functions (about "
            f"{self.pinned_bytes / 2**20:.0f} MiB); {self.evicted} evicted"
        )


totals = Totals()
_counting = threading.RLock()  # reentrant, because a finalizer may run while its thread is counting


def hold(owner: Any, compiled: jax.stages.Compiled, pinned: bool = False) -> Callable[[], Any]:
    """Count an executable for as long as its owner lives, or until the returned function is called."""
    nbytes = _BASE_BYTES + max(0, compiled.runtime_executable().size_of_generated_code_in_bytes())  # type: ignore[union-attr]
    _count(pinned, 1, nbytes)
    finalizer = weakref.finalize(owner, _count, pinned, -1, -nbytes)
    finalizer.atexit = False
    return finalizer


def _count(pinned: bool, programs: int, nbytes: int) -> None:
    with _counting:
        if pinned:
            totals.pinned += programs
            totals.pinned_bytes += nbytes
        else:
            totals.held += programs
            totals.held_bytes += nbytes


def count_compiled(seconds: float) -> None:
    """Count a compilation."""
    with _counting:
        totals.compiled += 1
        totals.compile_seconds += seconds
