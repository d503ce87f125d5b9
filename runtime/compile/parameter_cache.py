"""Cache the arrays of a graph's parameters between calls, while nothing in the process replaces an array.

Looking up the array of each parameter took half of the host time of a call with 148 parameters.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from operator import is_
from typing import Any

import jax
import torch

from ..storage.cell import Cell
from ..storage.mutation import mutation_epoch


class ParameterCache:
    """The parameters among the arguments of a call, with their cells and arrays."""

    def __init__(
        self, given: Sequence[Any], places: Sequence[int], cells: Sequence[Cell], values: Sequence[jax.Array], seen: int
    ) -> None:
        """`places` are the indices of the arguments' cells; `seen` is the mutation epoch before they were read."""
        self.at = [i for i, x in enumerate(given) if isinstance(x, torch.nn.Parameter)]
        self.tensors = [given[i] for i in self.at]
        known = {places[i] for i in self.at}
        self.rest = [(i, place) for i, place in enumerate(places) if not isinstance(given[i], torch.nn.Parameter)]
        self.cells: list[Any] = [c if k in known else None for k, c in enumerate(cells)]
        self.values: list[Any] = [v if k in known else None for k, v in enumerate(values)]
        self.seen = seen  # the epoch also counts tensors that move to another storage
        mutation_epoch.invalidators.append(weakref.ref(self))

    def among(self, given: Sequence[Any]) -> tuple[list[Any], list[Any]] | None:
        """The cells and arrays for these arguments, with None for those of `rest`; None if the cache is stale."""
        tensors, cells, values = self.tensors, self.cells, self.values  # another thread may call `invalidate`
        if self.seen != mutation_epoch.count or not all(map(is_, map(given.__getitem__, self.at), tensors)):
            return None
        return cells.copy(), values.copy()

    def invalidate(self) -> None:
        """Drop the cached arrays; see `Invalidator`."""
        self.tensors, self.cells, self.values = [], [], []
