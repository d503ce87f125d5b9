"""Caches that fill while a function is traced: those of `functools.lru_cache`, and of loggers.

They are written in C or by a library, and stay as the run left them. What they hold then is observed, so that a cache
that is cleared means another trace. A bounded cache that holds more than plain values is cleared when the run has
filled it, because these may be tensors of the trace; an unbounded one is a dict, and followed as such.
"""

from __future__ import annotations

import functools
import gc
import logging
from dataclasses import dataclass
from typing import Any

from .sources import is_plain

CachedFunction = functools._lru_cache_wrapper


@dataclass(frozen=True, slots=True)
class FunctionCache:
    """A cache, and how often it had missed before the run."""

    path: str
    table: dict[Any, Any]
    function: CachedFunction[Any] | None = None
    misses: int = 0

    def finish(self) -> None:
        """Forget what the run may have put there of its own."""
        function = self.function
        if function is None or function.cache_info().misses == self.misses:
            return
        if not is_unbounded(function) and not all(map(_is_lasting, cached_results(function))):
            function.cache_clear()


def table_of(cached: CachedFunction[Any]) -> dict[Any, Any] | None:
    """The dict in which a cached function keeps its results, or their links; None if it cannot be found."""
    size = cached.cache_info().currsize
    for found in gc.get_referents(cached):
        if type(found) is not dict or found is vars(cached) or len(found) != size:
            continue
        if is_unbounded(cached) or all(type(link).__name__ == "_lru_list_elem" for link in found.values()):
            return found
    return None


def is_unbounded(cached: CachedFunction[Any]) -> bool:
    """Whether a cached function keeps all results, in a plain dict."""
    return cached.cache_parameters()["maxsize"] is None


def cached_results(cached: CachedFunction[Any]) -> list[Any]:
    """The results in a bounded cache. Its parts are told by their order: the arguments, the result and the type of
    each link stand behind the type of the function."""
    return gc.get_referents(cached)[2 : 3 * cached.cache_info().currsize + 1 : 3]


def logger_cache(path: str, logger: logging.Logger) -> FunctionCache | None:
    """The cache of the levels that a logger takes, which any change of levels clears."""
    table = vars(logger).get("_cache")
    return None if table is None else FunctionCache(path, table)


def _is_lasting(value: Any) -> bool:
    if isinstance(value, (tuple, list, frozenset, set)):
        return all(map(_is_lasting, value))
    return is_plain(value)
