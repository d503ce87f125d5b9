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

_PATIENCE = 3  # calls in a row that may transpose arrays, before a step gives up and uses torch's order


class CellArrays:
    """Looks up the arrays of a call.

    While nothing else in the process replaces an array, the arrays of the cells that are the same in every call are
    cached, including those that the last call wrote. The cache is used by one call at a time.
    """

    __slots__ = (
        *("__weakref__", "_cache", "_cache_from", "_cached", "_epoch", "_in_order", "_listening"),
        *("layout", "places"),
    )

    def __init__(self, places: list[int], written: Sequence[int], fixed: int, cells: int) -> None:
        """
        Args:
            places: the indices of the cells that are read, among the cells of a call, ascending.
            written: the indices of those that are written.
            fixed: how many of the first cells are the same in every call.
            cells: the number of cells of a call.
        """
        self.places = places
        self.layout: TransposedParameters | None = None
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


class TransposedParameters:
    """Keeps arrays that are not written in the axis order in which the program computes with them."""

    def __init__(self, inputs: Inputs, recompile: Callable[[], None]) -> None:
        """`recompile` is called when the step gives up because other code uses these tensors between calls."""
        self.inputs, self.recompile = inputs, recompile
        self.transposed_calls = 0  # the number of calls in a row that had to transpose arrays

    def arrays(self, cells: list[Cell], places: Sequence[int]) -> list[jax.Array | None]:
        """The arrays of the cells at some places; None for a cell without its `array`."""
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
