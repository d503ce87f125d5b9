"""The arrays of the cells that a step reads, cached between calls."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from itertools import repeat
from operator import is_
from typing import Any

import jax

from ..storage.cell import Cell
from ..storage.mutation import mutation_epoch


class CellArrays:
    """Looks up the arrays of a call.

    While nothing else in the process replaces an array, the arrays of the cells that are the same in every call are
    cached, including those that the last call wrote. The cache is used by one call at a time.
    """

    __slots__ = ("__weakref__", "_cache", "_cache_from", "_cached", "_epoch", "_in_order", "_listening", "places")

    def __init__(self, places: list[int], written: Sequence[int], fixed: int, cells: int) -> None:
        """
        Args:
            places: the indices of the cells that are read, among the cells of a call, ascending.
            written: the indices of those that are written.
            fixed: how many of the first cells are the same in every call.
            cells: the number of cells of a call.
        """
        self.places = places
        self._in_order = places == list(range(cells))
        self._cached = sum(place < fixed for place in places)
        # Where each cached array is after a call: indices into the written arrays followed by the read ones.
        position = {place: n for n, place in enumerate(written)}
        self._cache_from = [position.get(p, len(position) + i) for i, p in enumerate(places[: self._cached])]
        self._cache: list[jax.Array] | None = None
        self._listening = False  # whether writes in the process invalidate the cache
        self._epoch = -1  # the mutation epoch when the last call ended

    def unchanged(self) -> bool:
        """Whether no array was replaced since the last call."""
        return self._epoch == mutation_epoch.count

    def read(self, cells: list[Cell], unchanged: bool) -> tuple[list[Any], bool]:
        """The arrays, and whether every cell had its `array`."""
        arrays, self._cache = self._cache, None
        if arrays is None or not unchanged:
            arrays = []
        rest = cells if self._in_order and not arrays else [cells[i] for i in self.places[len(arrays) :]]
        values = [c.array for c in rest]
        at_hand = not any(map(is_, values, repeat(None)))
        arrays += values if at_hand else [c.read() if a is None else a for c, a in zip(rest, values, strict=True)]  # type: ignore[arg-type]
        return arrays, at_hand

    def finish(self, cache: bool, read: list[jax.Array], written: Sequence[jax.Array]) -> None:
        """Record the end of a call; with `cache`, cache the arrays that it read, or wrote in their place."""
        self._epoch = mutation_epoch.count
        if not cache:
            return
        self._cache = [*map([*written, *read].__getitem__, self._cache_from)] if written else read[: self._cached]
        if not self._listening:
            self._listening = True
            mutation_epoch.invalidators.append(weakref.ref(self))

    def invalidate(self) -> None:
        """Drop the cached arrays; see `Invalidator`."""
        self._cache, self._listening = None, False
