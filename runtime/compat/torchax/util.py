"""`torchax.util`: splitting a list in two, and merging it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def partition(original: Sequence[Any], func: Callable[[Any], bool]) -> tuple[list[Any], list[Any]]:
    """The elements for which a function is true, and the others, each list with None in place of the other's."""
    chosen = [bool(func(x)) for x in original]
    pairs = list(zip(original, chosen, strict=True))
    return [x if c else None for x, c in pairs], [None if c else x for x, c in pairs]


def merge(list1: Sequence[Any], list2: Sequence[Any]) -> list[Any]:
    """The elements of the first list, and of the second where the first has None.

    Raises:
        ValueError: the lists differ in length.
    """
    return [b if a is None else a for a, b in zip(list1, list2, strict=True)]
