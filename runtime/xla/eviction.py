"""Tables of facts about shapes, which are cleared when executables are evicted (`memory.py`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
on_eviction: list[Callable[[], Any]] = []  # functions that clear tables


def cached_until_eviction(size: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """As `functools.lru_cache` with this many entries, which eviction clears."""

    def cached(function: Callable[P, T]) -> Callable[P, T]:
        wrapper = lru_cache(size)(function)
        on_eviction.append(wrapper.cache_clear)
        return wrapper  # type: ignore[return-value]

    return cached
