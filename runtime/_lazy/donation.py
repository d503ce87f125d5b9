"""Which inputs a program reuses, and for which of its results.

JAX writes the n-th result of an aval into the n-th donated array of that aval. A result is computed without a copy only
in the array that it takes the place of: into another one XLA writes when nothing reads that any more, and copies what
is still read. So the results are put in the order of what they replace.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
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
    left = Counter([result.aval for result in live])
    replacing = {r.origin: r for r in live if r.origin is not None}  # the last one, of several
    chosen = []
    for slot in sorted(held, key=lambda slot: slot not in replacing):
        aval = avals[slot]
        if left[aval]:
            left[aval] -= 1
            chosen.append(slot)
    chosen.sort()
    placed = {id(replacing[slot]) for slot in chosen if slot in replacing}
    others: defaultdict[Aval, deque[Any]] = defaultdict(deque)
    for result in live:
        if id(result) not in placed:
            others[result.aval].append(result)
    order = [replacing[slot] if slot in replacing else others[avals[slot]].popleft() for slot in chosen]
    rest = {id(result) for part in others.values() for result in part}
    return order + [result for result in live if id(result) in rest], tuple(chosen)
