"""Divides a sequence so that as few different parts as possible make it up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise

_RARE = 40  # total size of all occurrences of a part but one, up to which it is not worth a program of its own


def parts(sequence: Sequence[Hashable], sizes: Sequence[int], largest: int) -> list[range]:
    """Divide a sequence into parts that occur often, and the rest into parts that are as large as possible.

    The most frequent pairs of neighbours become one symbol, again and again, as in byte-pair encoding.

    Args:
        sequence: the items.
        sizes: the size of each item.
        largest: the largest size of a part of more than one item.

    Returns:
        The positions of the items of each part.
    """
    numbers: dict[Hashable, int] = {}
    symbols = [numbers.setdefault(item, len(numbers)) for item in sequence]
    size, length = dict(zip(symbols, sizes, strict=True)), dict.fromkeys(symbols, 1)
    while True:
        counts = Counter(pair for pair in pairwise(symbols) if size[pair[0]] + size[pair[1]] <= largest)
        most = max(counts.values(), default=1)
        if most < 2:
            break
        joined: dict[tuple[int, int], int] = {}
        merged: list[int] = []
        for symbol in symbols:
            pair = (merged[-1], symbol) if merged else (-1, -1)
            if counts.get(pair, 0) * 2 >= max(most, 4):
                merged[-1] = joined.setdefault(pair, len(size) + len(joined))
            else:
                merged.append(symbol)
        for (a, b), symbol in joined.items():
            size[symbol], length[symbol] = size[a] + size[b], length[a] + length[b]
        symbols = merged
    return _with_neighbours(symbols, size, length, largest)


def _with_neighbours(symbols: list[int], size: dict[int, int], length: dict[int, int], largest: int) -> list[range]:
    """The parts that symbols stand for; neighbours that occur rarely are joined."""
    counts = Counter(symbols)
    found: list[range] = []
    at, room = 0, 0
    for symbol in symbols:
        end = at + length[symbol]
        rare = (counts[symbol] - 1) * size[symbol] <= _RARE
        if rare and size[symbol] <= room:
            found[-1] = range(found[-1].start, end)
            room -= size[symbol]
        else:
            found.append(range(at, end))
            room = largest - size[symbol] if rare else 0
        at = end
    return found
