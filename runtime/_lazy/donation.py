"""Chooses the inputs that a program donates, and pairs them with results.

JAX pairs the n-th result of an aval with the n-th donated array of that aval. Only a result that replaces its own input
needs no copy: before XLA writes into another array, it copies whatever is still to be read from it. So the results are
ordered like the inputs that they replace.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..storage.avals import Aval


def paired(live: Sequence[Any], held: Sequence[int], avals: Mapping[int, Aval]) -> tuple[list[Any], tuple[int, ...]]:
    """Order results, and choose the inputs to donate.

    Args:
        live: the results, each with its `aval` and its `origin`, the slot of the input that it replaces.
        held: the slots of inputs that only the tape holds.
        avals: the avals of these inputs, by slot.

    Returns:
        The ordered results, and the slots of the donated inputs.
    """
    results, origins = tuple([r.aval for r in live]), tuple([r.origin for r in live])
    order, chosen = _paired(results, origins, tuple(held), tuple([avals[slot] for slot in held]))
    return [live[i] for i in order], chosen


@lru_cache(maxsize=256)  # the steps of a loop repeat the same calls
def _paired(
    results: Sequence[Aval], origins: Sequence[int | None], held: Sequence[int], inputs: Sequence[Aval]
) -> tuple[list[int], tuple[int, ...]]:
    """As `paired`, given the avals and origins of the results and the slots and avals of the inputs; the order is given
    as indices of the results."""
    avals = dict(zip(held, inputs, strict=True))
    left = Counter(results)
    replacing = {origin: i for i, origin in enumerate(origins) if origin is not None}  # the last one wins
    chosen = []
    for slot in sorted(held, key=lambda slot: slot not in replacing):
        aval = avals[slot]
        if left[aval]:
            left[aval] -= 1
            chosen.append(slot)
    chosen.sort()
    placed = {replacing[slot] for slot in chosen if slot in replacing}
    others: defaultdict[Aval, deque[int]] = defaultdict(deque)
    for i, aval in enumerate(results):
        if i not in placed:
            others[aval].append(i)
    order = [replacing[slot] if slot in replacing else others[avals[slot]].popleft() for slot in chosen]
    return order + sorted(i for part in others.values() for i in part), tuple(chosen)
