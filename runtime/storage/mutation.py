"""Writes to cells: a global counter, for caches that any write must invalidate, and the lock of those that donate."""

from __future__ import annotations

import threading
import weakref
from typing import Protocol

# Held by a call of a compiled program that donates, from reading the donated arrays until their replacements are
# written, and by what takes an array to keep it. An operation of another thread that was late reads its arrays again.
donating = threading.RLock()


class Invalidator(Protocol):
    """A cache of the arrays of many cells, so that its owner need not read each cell."""

    def invalidate(self) -> None:
        """Drop the cached arrays, because a cell was written."""


class MutationEpoch:
    """The number of writes to cells so far, and the caches to invalidate at the next one."""

    def __init__(self) -> None:
        self.count = 0
        self.invalidators: list[weakref.ref[Invalidator]] = []

    def advance(self) -> None:
        """Count one write, and invalidate all caches."""
        self.count += 1
        if self.invalidators:
            self.invalidate()

    def invalidate(self) -> None:
        """Invalidate every cache. A cache registers again when it is refilled."""
        references, self.invalidators = self.invalidators, []
        for reference in references:
            cache = reference()
            if cache is not None:
                cache.invalidate()


mutation_epoch = MutationEpoch()
