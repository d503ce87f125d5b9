"""The arrays of the cells of a call: those that its program reads, and those that it puts in their place.

XLA may reuse the buffer of an array that the program overwrites, unless something else holds the array.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import is_
from typing import Any

import jax
import jax.numpy as jnp

from ..dispatch.aot_call import AotCall
from ..dispatch.donation import repeat_until_done
from ..dispatch.reference_counts import held_elsewhere, is_available
from ..storage.cell import Cell
from ..storage.mutation import donating, mutation_epoch
from ..trace.data_swaps import record_growth


class CellArrays:
    """Runs the program of a step on the arrays of a call's cells.

    While nothing else in the process replaces an array, the arrays of the cells that are the same in every call are
    cached, including those that the last call wrote. The cache is used by one call at a time.
    """

    def __init__(
        self,
        places: list[int],
        written: list[int],
        followers: list[tuple[int, int]],
        held: Iterable[int],
        resizes: bool,
        fixed: int,
        cells: int,
    ) -> None:
        """Cells are given by their indices among the cells of a call.

        Args:
            places: the cells that are read, ascending.
            written: those that are written.
            followers: cells that get the array of another one, with the other one.
            held: the cells whose arrays are needed after the call.
            resizes: whether a written array has another aval than the one that it replaces.
            fixed: how many of the first cells are the same in every call.
            cells: the number of cells of a call.
        """
        self.places, self.resizes = places, resizes
        self.followers: dict[int, list[int]] = {}
        for place, lead in followers:
            self.followers.setdefault(lead, []).append(place)
        kept = {*places}.difference(written).union(held)
        overwritten = [i for i, place in enumerate(places) if place not in kept]
        self.donated = overwritten if is_available() else []  # the numbers of the donated arrays among those read
        self._donors = [places[i] for i in self.donated]
        # JAX pairs the n-th result of an aval with the n-th donated array of that aval. Where XLA would write a result
        # into another array than the one it replaces, it copies that array first.
        rank = {place: i for i, place in enumerate(self._donors)}
        self.order = sorted(range(len(written)), key=lambda i: rank.get(written[i], len(rank)))
        self.written = [written[i] for i in self.order]  # in the order in which the program returns their arrays
        self._in_order = places == list(range(cells))
        self._cached = sum(place < fixed for place in places)
        # Where each cached array is after a call: indices into the written arrays followed by the read ones.
        position = {place: n for n, place in enumerate(self.written)}
        self._cache_from = [position.get(p, len(position) + i) for i, p in enumerate(places[: self._cached])]
        self._cache: list[jax.Array] | None = None
        self._listening = False  # whether writes in the process invalidate the cache
        self._epoch = -1  # the mutation epoch when the last call ended

    def run(self, program: AotCall, cells: list[Cell], host: list[Any]) -> tuple[list[Any], Sequence[jax.Array]]:
        """Run a program on the operands of a call and write its first results to the cells; return the arrays that it
        read, and all results."""
        if not self.donated:
            return self._run(program, cells, host)
        with donating:
            return self._run(program, cells, host)

    def _run(self, program: AotCall, cells: list[Cell], host: list[Any]) -> tuple[list[Any], Sequence[jax.Array]]:
        epoch = mutation_epoch.count
        unchanged = self._epoch == epoch  # whether no array was replaced since the last call
        arrays, at_hand = self._read(cells, unchanged)
        if not self.written:
            try:
                results = program([*host, *arrays] if host else arrays)
            except RuntimeError:
                if not any(array.is_deleted() for array in arrays):
                    raise
                with donating:  # a step of another thread has donated what was read; its results replace that
                    return self._run(program, cells, host)
            self._finish(epoch, unchanged and at_hand, arrays, ())
            return arrays, results
        if self.donated:
            self._protect(arrays, cells, at_hand)
        ran: list[Sequence[jax.Array]] = []
        try:
            program.into(ran, [*host, *arrays] if host else arrays)
            results = ran[0]
            written = self._store(cells, results)
        except BaseException:
            if ran:  # Ctrl-C: the old arrays were donated, so the cells must get the new ones
                repeat_until_done(lambda: self._store(cells, ran[0]))
            raise
        self._finish(epoch + 1, unchanged and at_hand and not self.resizes, arrays, written)
        return arrays, results

    def _read(self, cells: list[Cell], unchanged: bool) -> tuple[list[Any], bool]:
        """The arrays, and whether every cell has its `array`."""
        arrays, self._cache = self._cache, None
        if arrays is None or not unchanged:
            arrays = []
        rest = cells if self._in_order and not arrays else [cells[i] for i in self.places[len(arrays) :]]
        values: list[Any] = [c.array for c in rest]
        at_hand = True
        if any(map(is_, values, repeat(None))):
            values = [c.read() for c in rest]  # which sets the `array` of fills, such as a number among the arguments
            at_hand = all(c.array is array for c, array in zip(rest, values, strict=True))
        arrays += values
        return arrays, at_hand

    def _protect(self, arrays: list[jax.Array], cells: list[Cell], at_hand: bool) -> None:
        """Replace arrays that would be donated, but that something else holds, by copies."""
        if mutation_epoch.invalidators:
            mutation_epoch.invalidate()
        own = map(cells.__getitem__, self._donors)
        for i in held_elsewhere(arrays, self.donated, own, at_hand=at_hand):
            arrays[i] = jnp.array(arrays[i], copy=True)

    def _store(self, cells: list[Cell], results: Sequence[jax.Array]) -> Sequence[jax.Array]:
        """Write the first results to the cells, and return these."""
        if self.resizes:
            record_growth()
        arrays = results[: len(self.written)]
        _write(map(cells.__getitem__, self.written), arrays, self.resizes)
        for lead, places in self.followers.items():
            _write(map(cells.__getitem__, places), repeat(cells[lead].read()), self.resizes)
        mutation_epoch.advance()
        return arrays

    def _finish(self, epoch: int, cache: bool, read: list[jax.Array], written: Sequence[jax.Array]) -> None:
        """Record the end of a call; with `cache`, cache the arrays that it read, or wrote in their place. The epoch is
        that of its own writes, because another thread may have written meanwhile."""
        self._epoch = epoch
        if not cache or epoch != mutation_epoch.count:
            return
        self._cache = [*map([*written, *read].__getitem__, self._cache_from)] if written else read[: self._cached]
        if not self._listening:
            self._listening = True
            mutation_epoch.invalidators.append(weakref.ref(self))

    def invalidate(self) -> None:
        """Drop the cached arrays; see `Invalidator`."""
        self._cache, self._listening = None, False


def _write(cells: Iterable[Cell], arrays: Iterable[jax.Array], resizes: bool) -> None:
    for cell, array in zip(cells, arrays, strict=False):
        if resizes or cell.array is None:
            cell.write(array)
        else:
            cell.content = cell.array = array
