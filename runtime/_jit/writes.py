"""The cells that a compiled step writes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import jax
import torch

from ..storage.cell import Cell
from ..storage.mutation import mutation_epoch
from ..trace.data_swaps import record_growth
from .traced_step import WrittenCell

_increment_versions = torch.autograd.graph.increment_version


class Writes:
    """Puts the arrays that a call computed into their cells."""

    __slots__ = ("arguments", "followers", "places", "resizes", "tensors")

    def __init__(
        self,
        written: Sequence[WrittenCell],
        places: list[int],
        followers: list[tuple[int, int]],
        tensors: list[torch.Tensor],
        arguments: list[int],
    ) -> None:
        """
        Args:
            written: the written cells of the run, with their avals after it.
            places: the indices of these cells among the cells of a call.
            followers: the indices of cells that get the array of another one, with that of the other one.
            tensors: the tensors that the run wrote in place and that are the same in every call.
            arguments: the positions of arguments that the run wrote in place.
        """
        self.places, self.followers, self.tensors, self.arguments = places, followers, tensors, arguments
        self.resizes = any(cell.aval is not aval for cell, aval in written)

    def arrange(self, donated: list[int]) -> list[int]:
        """Order the writes like the donated arrays that they replace; return the order, as indices of the old one.

        JAX pairs the n-th result of an aval with the n-th donated array of that aval. Where XLA would write a result
        into another array than the one it replaces, it copies that array first.
        """
        rank = {place: i for i, place in enumerate(donated)}
        order = sorted(range(len(self.places)), key=lambda i: rank.get(self.places[i], len(rank)))
        self.places = [self.places[i] for i in order]
        return order

    def store(self, cells: list[Cell], arrays: Sequence[jax.Array]) -> None:
        """Write arrays to the cells of a call."""
        if self.resizes:
            record_growth()
        written = zip(self.places, arrays, strict=True)
        for place, array in chain(written, ((place, cells[lead].read()) for place, lead in self.followers)):
            cell = cells[place]
            if self.resizes or cell.array is None:
                cell.write(array)
            else:
                cell.content = cell.array = array
        mutation_epoch.advance()

    def increment_versions(self, arguments: Sequence[Any]) -> None:
        """Tell autograd which tensors were written."""
        if self.tensors:
            _increment_versions(self.tensors)
        if self.arguments:
            _increment_versions([arguments[i] for i in self.arguments])
