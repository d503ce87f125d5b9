"""The sizes that change between calls of an operation, and the sizes to which they are rounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Dims = tuple[int, ...]

_LEAST = 16  # to which a smaller size is rounded


def rounded(size: int) -> int:
    """The least of 16, 24, 32, 48, 64, 96, ... that is not below a size: a power of two, or one and a half."""
    if size <= _LEAST:
        return _LEAST
    power = 1 << (size - 1).bit_length()
    return power if size > power * 3 // 4 else power * 3 // 4


def pattern(earlier: Iterable[Dims], dims: Dims) -> Dims | None:
    """Which sizes of a call have changed: for each its value, or -1 - i for the i-th symbol.

    The call is compared with earlier ones from which it differs at the same places. If there are several such groups,
    that with the fewest changes is chosen. Sizes that are equal in each of these calls get one symbol. None if fewer
    than two earlier calls differ from it at the same places.
    """
    groups: dict[tuple[bool, ...], list[Dims]] = {}
    for other in earlier:
        groups.setdefault(tuple([a != b for a, b in zip(other, dims, strict=True)]), []).append(other)
    changes = [mask for mask, group in groups.items() if len(group) > 1 and any(mask)]
    if not changes:
        return None
    symbols: dict[Dims, int] = {}
    found = []
    for column in zip(*groups[min(changes, key=sum)], dims, strict=True):
        same = column[0] == column[-1]
        found.append(column[-1] if same else symbols.setdefault(column, -1 - len(symbols)))
    return tuple(found)


def values_of(pattern: Dims, dims: Dims) -> Dims | None:
    """The values of the symbols of a pattern in a call; None if it does not fit the call."""
    found: dict[int, int] = {}
    for place, size in zip(pattern, dims, strict=True):
        if (found.setdefault(place, size) if place < 0 else place) != size:
            return None
    return tuple(found.values())


def substituted(pattern: Dims, symbols: Sequence[Any]) -> tuple[Any, ...]:
    """A pattern with its symbols replaced."""
    return tuple(symbols[-1 - place] if place < 0 else place for place in pattern)
