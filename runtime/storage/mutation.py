"""A counter of all writes to cells, for caches that any write must invalidate."""

from __future__ import annotations

import weakref
from typing import Protocol


class Invalidator(Protocol):
    """A cache of the arrays of many cells, which saves its owner looking at each cell."""

    def invalidate(self) -> None:
        """Drop the cached arrays: a cell got another array."""


class MutationEpoch:
    """The number of times that a cell got another array, and the caches to invalidate when it happens."""

    def __init__(self) -> None:
        self.count = 0
        self.invalidators: list[weakref.ref[Invalidator]] = []

    def advance(self) -> None:
        """Count one write, and invalidate all caches."""
        self.count += 1
        if self.invalidators:
            self.invalidate()

    def invalidate(self) -> None:
        """Have every cache drop its arrays. A cache that fills again registers again."""
        references, self.invalidators = self.invalidators, []
        for reference in references:
            cache = reference()
            if cache is not None:
                cache.invalidate()


mutation_epoch = MutationEpoch()
