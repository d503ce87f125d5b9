"""State in C that a function reaches and that no container shows. Its content is compared before each call.

- Host arrays: the values that a trace reads from them are constants of its program. This costs a copy of each array,
  and the time to compare it.
- Caches of `functools.lru_cache`, which fill while a function is traced and are not restored after the run, so clearing
  a cache causes another trace. A bounded cache that the run added to is cleared if it holds more than plain values,
  because these may be tensors of the trace; an unbounded one is a dict, and followed as such.
"""

from __future__ import annotations

import array
import ctypes
import functools
import gc
from dataclasses import dataclass
from typing import Any

import numpy as np

from .sources import is_plain

CachedFunction = functools._lru_cache_wrapper

C_DATA: Any = (ctypes._SimpleCData, ctypes.Structure, ctypes.Union, ctypes.Array)
Content = tuple[bytes, tuple[Any, ...]]  # an array's bytes, and its shape, strides and dtype


@dataclass(frozen=True, slots=True)
class HostArray:
    """An array and its content before a run."""

    path: str
    array: Any
    content: Content

    def changed(self) -> bool:
        """Whether the content has changed."""
        return content_of(self.array) != self.content

    def restore(self) -> None:
        """Restore the content."""
        value: Any = self.array
        content, shown = self.content
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject or _shown(value) != shown:
                return  # bytes cannot be turned back into objects
            value[...] = np.frombuffer(content, value.dtype).reshape(value.shape)
        elif isinstance(value, C_DATA):
            ctypes.memmove(ctypes.addressof(value), content, len(content))
        else:
            value[:] = bytearray(content) if isinstance(value, bytearray) else _typed(value, content)


def _typed(like: array.array[Any], content: bytes) -> array.array[Any]:
    made = array.array(like.typecode)
    made.frombytes(content)
    return made


def _shown(value: np.ndarray) -> tuple[Any, ...]:
    return value.shape, value.strides, value.dtype


def content_of(value: Any) -> Content:
    """The bytes of an array, and its shape, strides and dtype; for an array of objects, the bytes are addresses."""
    if isinstance(value, np.ndarray):
        return value.tobytes(), _shown(value)
    return bytes(value), ()


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
