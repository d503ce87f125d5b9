"""The arrays of a graph's parameters, kept from call to call while nothing in the process replaces an array.

To ask each parameter for its array took half of what a call of a graph with 148 of them costs on the host.
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
    """The parameters among the arguments of a call, and what they held."""

    def __init__(
        self, given: Sequence[Any], places: Sequence[int], cells: Sequence[Cell], values: Sequence[jax.Array], seen: int
    ) -> None:
        """`places` are the numbers of the arguments' cells; `seen` is the count of writes before they were read."""
        self.at = [i for i, x in enumerate(given) if isinstance(x, torch.nn.Parameter)]
        self.tensors = [given[i] for i in self.at]
        known = {places[i] for i in self.at}
        self.rest = [(i, place) for i, place in enumerate(places) if not isinstance(given[i], torch.nn.Parameter)]
        self.cells: list[Any] = [c if k in known else None for k, c in enumerate(cells)]
        self.values: list[Any] = [v if k in known else None for k, v in enumerate(values)]
        self.seen = seen  # moves of tensors to other storages count in, too
        mutation_epoch.invalidators.append(weakref.ref(self))

    def among(self, given: Sequence[Any]) -> tuple[list[Any], list[Any]] | None:
        """The cells and arrays of a call with these arguments, None for those of `rest`; None if any may be others."""
        tensors, cells, values = self.tensors, self.cells, self.values  # another thread may have them let go
        if self.seen != mutation_epoch.count or not all(map(is_, map(given.__getitem__, self.at), tensors)):
            return None
        return cells.copy(), values.copy()

    def invalidate(self) -> None:
        """Drop the cached arrays; see `Invalidator`."""
        self.tensors, self.cells, self.values = [], [], []
