"""Caches of `functools.lru_cache`, which fill while a function is traced.

They are written in C and are not restored after the run. Their content is observed, so clearing a cache
causes another trace. A bounded cache that the run added to is cleared if it holds more than plain values, because these
may be tensors of the trace; an unbounded one is a dict, and followed as such.
"""

from __future__ import annotations

import functools
import gc
from dataclasses import dataclass
from typing import Any

from .sources import is_plain

CachedFunction = functools._lru_cache_wrapper


@dataclass(frozen=True, slots=True)
class FunctionCache:
    """A cache, and its number of misses before the run."""

    path: str
    table: dict[Any, Any]
    function: CachedFunction[Any]
    misses: int

    def finish(self) -> None:
        """Clear the cache if the run may have added its own tensors."""
        function = self.function
        if function.cache_info().misses != self.misses and not all(map(_is_lasting, cached_results(function))):
            function.cache_clear()


def table_of(cached: CachedFunction[Any]) -> dict[Any, Any] | None:
    """The dict in which a cached function keeps its results or its list links; None if it cannot be found."""
    size = cached.cache_info().currsize
    for found in gc.get_referents(cached):
        if type(found) is not dict or found is vars(cached) or len(found) != size:
            continue
        if is_unbounded(cached) or all(type(link).__name__ == "_lru_list_elem" for link in found.values()):
            return found
    return None


def is_unbounded(cached: CachedFunction[Any]) -> bool:
    """Whether a cached function keeps all of its results, which are then in a plain dict."""
    return cached.cache_parameters()["maxsize"] is None


def cached_results(cached: CachedFunction[Any]) -> list[Any]:
    """The results in a bounded cache, identified by position among its referents: after the type of the function come,
    for each link, the arguments, the result and the link's type."""
    return gc.get_referents(cached)[2 : 3 * cached.cache_info().currsize + 1 : 3]


def _is_lasting(value: Any) -> bool:
    if isinstance(value, (tuple, list, frozenset, set)):
        return all(map(_is_lasting, value))
    return is_plain(value)
