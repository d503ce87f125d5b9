"""The arrays of the cells that a step reads, cached between calls."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from itertools import repeat
from operator import is_
from typing import Any

import jax

from ..storage.cell import Cell
from ..storage.mutation import mutation_epoch
from ..storage.placement import put_transposed
from .inputs import Inputs

_PATIENCE = 3  # calls in a row that may transpose arrays, before a step takes them as others leave them


class CellArrays:
    """Finds the arrays of a call.

    While nothing in the process replaces an array, the arrays of the cells that are the same in every call are kept,
    with those that the last call wrote. The cache belongs to one call at a time.
    """

    __slots__ = (
        *("__weakref__", "_cache", "_cache_from", "_cached", "_epoch", "_in_order", "_listening"),
        *("layout", "places"),
    )

    def __init__(self, places: list[int], written: Sequence[int], fixed: int, cells: int) -> None:
        """
        Args:
            places: of the cells that are read, among the cells of a call, ascending.
            written: of those that are written.
            fixed: how many cells, the first ones, are the same in every call.
            cells: how many cells a call has.
        """
        self.places = places
        self.layout: TransposedParameters | None = None
        self._in_order = places == list(range(cells))
        self._cached = sum(place < fixed for place in places)
        # Where the cached arrays are after a call, among the arrays that it wrote and then those that it read.
        position = {place: n for n, place in enumerate(written)}
        self._cache_from = [position.get(p, len(position) + i) for i, p in enumerate(places[: self._cached])]
        self._cache: list[jax.Array] | None = None
        self._listening = False  # whether writes in the process empty the cache
        self._epoch = -1  # the count of writes when the last call ended

    def unchanged(self) -> bool:
        """Whether no array was replaced since the last call."""
        return self._epoch == mutation_epoch.count

    def read(self, cells: list[Cell], unchanged: bool) -> tuple[list[Any], bool]:
        """The arrays, and whether each was made and at hand."""
        layout = self.layout
        arrays, self._cache = self._cache, None
        if arrays is None or not unchanged:
            arrays = []
        rest = cells if self._in_order and not arrays else [cells[i] for i in self.places[len(arrays) :]]
        values = [c.array for c in rest] if arrays or layout is None else layout.arrays(cells, self.places)
        at_hand = not any(map(is_, values, repeat(None)))
        arrays += values if at_hand else [c.read() if a is None else a for c, a in zip(rest, values, strict=True)]  # type: ignore[arg-type]
        return arrays, at_hand

    def finish(self, cache: bool, read: list[jax.Array], written: Sequence[jax.Array]) -> None:
        """Note the end of a call; with `cache`, keep the arrays that it read, or those that it wrote in their place."""
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


class TransposedParameters:
    """Has arrays that are not written lie in the order of axes in which a program computes with them."""

    def __init__(self, inputs: Inputs, recompile: Callable[[], None]) -> None:
        """`recompile` is called when the step gives up, because others read or write these tensors between calls."""
        self.inputs, self.recompile = inputs, recompile
        self.transposed_calls = 0  # in a row that had to transpose arrays

    def arrays(self, cells: list[Cell], places: Sequence[int]) -> list[jax.Array | None]:
        """The arrays of the cells at some places; None for one that is not made or not at hand."""
        axes = self.inputs.axes
        laid = {i: cells[places[i]].laid_as(order) for i, order in axes.items()}
        missing = [i for i, array in laid.items() if array is None]
        self.transposed_calls = self.transposed_calls + 1 if missing else 0
        if self.transposed_calls > _PATIENCE:
            self.inputs.axes, laid = {}, {}
            self.recompile()
        elif missing:
            for i in missing:
                cell = cells[places[i]]
                laid[i] = array = put_transposed(cell.read(), axes[i], cell.index)
                cell.lay(array, axes[i])
            mutation_epoch.advance()
        return [laid[i] if i in laid else cells[place].array for i, place in enumerate(places)]
