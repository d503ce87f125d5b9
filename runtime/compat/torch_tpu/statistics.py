"""Statistics of compiled programs and of their memory, as `torch.tpu` names them. They count from their first call."""

from __future__ import annotations

from dataclasses import dataclass

from ...device.memory_statistics import memory_summary as _hbm_usage_summary  # noqa: F401
from ...xla.memory import code_memory
from .. import statistics


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A program that was compiled, or loaded from the cache on the disk."""

    compilation_duration: float  # µs
    last_read: float  # seconds since the epoch


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """How often a program was needed, and how often it was in memory."""

    num_cache_reqs: int
    num_cache_hits: int
    per_entry_stats: list[CacheEntry]  # at most the latest 1024


def _get_cache_stats() -> CacheStatistics:
    statistics.listen()
    hits = statistics.counters.get("CachedCompile", 0)
    compiled = statistics.metrics.get("CompileTime")
    samples = compiled.samples if compiled else ()
    entries = [CacheEntry(seconds * 1e6, when) for when, seconds in samples]
    return CacheStatistics(hits + (compiled.count if compiled else 0), hits, entries)


def _clear_cache() -> None:
    """Forget the programs of operations. Those of compiled functions and those on the disk are kept."""
    code_memory.forget()


def _get_cache_requests() -> int:
    return _get_cache_stats().num_cache_reqs


def _get_cache_hits() -> int:
    return _get_cache_stats().num_cache_hits


def _get_cache_misses() -> int:
    stats = _get_cache_stats()
    return stats.num_cache_reqs - stats.num_cache_hits
