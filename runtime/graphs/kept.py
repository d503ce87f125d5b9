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

from ..device.cell import Cell, writes


class Kept:
    """The parameters among the arguments of a call, and what they held."""

    def __init__(
        self, given: Sequence[Any], places: Sequence[int], cells: Sequence[Cell], values: Sequence[jax.Array]
    ) -> None:
        """`places` are the numbers of the arguments' cells."""
        self.at = [i for i, x in enumerate(given) if isinstance(x, torch.nn.Parameter)]
        self.tensors = [given[i] for i in self.at]
        known = {places[i] for i in self.at}
        self.rest = [(i, place) for i, place in enumerate(places) if not isinstance(given[i], torch.nn.Parameter)]
        self.cells: list[Any] = [c if k in known else None for k, c in enumerate(cells)]
        self.values: list[Any] = [v if k in known else None for k, v in enumerate(values)]
        self.seen = writes.count  # which moves of tensors to other storages count in, too
        writes.keepers.append(weakref.ref(self))

    def hold(self, given: Sequence[Any]) -> bool:
        """Whether they are among these arguments as they were."""
        return self.seen == writes.count and all(map(is_, map(given.__getitem__, self.at), self.tensors))

    def release(self) -> None:
        """Keep no arrays, see `Keeper`."""
        self.tensors, self.cells, self.values = [], [], []
