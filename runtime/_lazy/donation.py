"""Which inputs a program reuses, and for which of its results.

JAX writes the n-th result of an aval into the n-th donated array of that aval. A result is computed without a copy only
in the array that it takes the place of: into another one XLA writes when nothing reads that any more, and copies what
is still read. So the results are put in the order of what they replace.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..storage.avals import Aval


def paired(live: Sequence[Any], held: Sequence[int], avals: Mapping[int, Aval]) -> tuple[list[Any], tuple[int, ...]]:
    """Put results in order, and choose the inputs to donate.

    Args:
        live: the results, each with its `aval` and, as `origin`, the slot of the input that it takes the place of.
        held: the slots of inputs that nothing but the tape holds.
        avals: of these.

    Returns:
        The results, and the slots of the donated inputs.
    """
    results, origins = tuple([r.aval for r in live]), tuple([r.origin for r in live])
    order, chosen = _paired(results, origins, tuple(held), tuple([avals[slot] for slot in held]))
    return [live[i] for i in order], chosen


@lru_cache(maxsize=256)  # the steps of a loop ask the same
def _paired(
    results: Sequence[Aval], origins: Sequence[int | None], held: Sequence[int], inputs: Sequence[Aval]
) -> tuple[list[int], tuple[int, ...]]:
    """As `paired`, of the avals and origins of the results, and the slots and avals of the inputs; the order is that of
    the places of the results."""
    avals = dict(zip(held, inputs, strict=True))
    left = Counter(results)
    replacing = {origin: i for i, origin in enumerate(origins) if origin is not None}  # the last one, of several
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
