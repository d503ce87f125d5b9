"""Donation: XLA may reuse the buffer of an array that the program overwrites, unless something else holds the array."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ..dispatch.reference_counts import held_elsewhere, is_available
from ..storage.cell import Cell
from ..storage.mutation import mutation_epoch


class Donation:
    """The arrays of a call that are donated."""

    __slots__ = ("cells", "numbers")

    def __init__(self, numbers: list[int], places: list[int]) -> None:
        """`numbers` are the indices of donated arrays among the read ones; `places` are the cells of all read ones."""
        self.numbers = numbers if is_available() else []
        self.cells = [places[i] for i in self.numbers]

    def protect(self, arrays: list[jax.Array], cells: list[Cell], at_hand: bool) -> None:
        """Replace arrays that would be donated, but that something else holds, by copies."""
        if mutation_epoch.invalidators:
            mutation_epoch.invalidate()
        own = map(cells.__getitem__, self.cells)
        for i in held_elsewhere(arrays, self.numbers, own, at_hand=at_hand):
            arrays[i] = jnp.array(arrays[i], copy=True)
