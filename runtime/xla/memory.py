"""The memory budget for executables of eager operations: the least recently called ones are evicted.

A call on the fast path records no time stamp, which would cost as much as a tenth of a small operation. Instead, a new
age begins whenever an eighth of the budget has been filled, and the tables of the fast path are cleared: the next call
of each executable goes through `Dispatcher.run`, which records the age. Executables of the oldest ages are evicted.
Programs of compiled functions count too, but are never evicted: their functions hold them. With each eviction, tables
of facts about shapes are cleared, which take little time to find out again.
"""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from ..float32_products import float32_products
from .totals import totals

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SHARE = 8  # the default budget is the machine's memory divided by this
_AGES = 8  # number of ages in which the budget is filled once
_MAPS = 8  # an executable's code takes four memory mappings; this leaves half of a process's limit for other uses
_UNCOMPILED_BYTES = 18 << 10  # of an executable that is not compiled, measured by benchmarks/soak.py
_REMEMBERED = 1 << 14  # evicted executables whose keys are remembered
_THRASHING = 256  # rebuilds of evicted executables after which the user is warned


def bytes_of(name: str, default: int) -> int:
    """The number of bytes in a variable, such as 500M or 2G; the default if the variable is not set.

    Raises:
        ValueError: the text is not a number of bytes.
    """
    text = os.environ.get(name)
    if not text:
        return default
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if found is None:
        raise ValueError(f"{name}: {text!r}; expected a number of bytes such as 500M or 2G")
    return int(float(found[1]) * _UNITS[found[2].upper()])


P = ParamSpec("P")
T = TypeVar("T")
on_eviction: list[Callable[[], Any]] = []  # functions that clear tables of facts about shapes


def cached_until_eviction(size: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """As `functools.lru_cache` with this many entries, which eviction clears."""

    def cached(function: Callable[P, T]) -> Callable[P, T]:
        wrapper = lru_cache(size)(function)
        on_eviction.append(wrapper.cache_clear)
        return wrapper  # type: ignore[return-value]

    return cached


class CodeMemory:
    """The budget, and the dispatchers whose executables it bounds."""

    def __init__(self, budget: int, most: int) -> None:
        """`budget` is in bytes; `most` is the maximum number of executables."""
        self.budget, self.most = budget, most
        self.dispatchers: list[Any] = []
        self.age = 0
        self.lock = threading.Lock()
        self.filled = 0  # bytes held when the age began
        self.evicted: dict[int, None] = {}  # fingerprints of evicted keys, the oldest first
        self.known = 0  # upper bound of the number of executables in the dispatchers' tables
        self.again = 0

    def make_room(self, name: str, key: Any) -> None:
        """Evict executables if there is no room for the one that is about to be built for a key."""
        with self.lock:
            if self.evicted and _fingerprint(name, key) in self.evicted:
                self.again += 1
                if self.again == _THRASHING:
                    self.warn(name)
            self.known += 1
            if self.used(self.known) - self.filled > self.budget // _AGES:
                self.begin_age()
            if self.is_full(self.known, 1):
                self.known = sum(len(dispatcher.entries) for dispatcher in self.dispatchers)
                if self.is_full(self.known, 1):
                    self.shrink()

    def forget(self) -> None:
        """Drop the executables of all dispatchers, after a change of a setting that their keys do not contain."""
        for dispatcher in self.dispatchers:
            for table in (dispatcher.entries, dispatcher.fast, dispatcher.recorded_calls):
                table.clear()

    def room(self) -> int:
        """The bytes available to eager operations: at least a quarter, however much compiled functions take."""
        return max(self.budget - totals.pinned_bytes, self.budget // 4)

    def used(self, known: int) -> int:
        """The bytes of `known` executables; those that only traces use are not compiled."""
        return totals.held_bytes + max(0, known - totals.held) * _UNCOMPILED_BYTES

    def is_full(self, known: int, share: float) -> bool:
        """Whether this share of the room is taken while the dispatchers' tables have `known` executables."""
        return self.used(known) > share * self.room() or max(totals.held + totals.pinned, known) >= share * self.most

    def begin_age(self) -> None:
        """Begin a new age, in which the next call of each executable is recorded."""
        self.age += 1
        self.filled = self.used(self.known)
        for dispatcher in self.dispatchers:
            dispatcher.fast.clear()

    def shrink(self) -> None:
        """Evict until an eighth of the room is free."""
        self.begin_age()
        for clear in on_eviction:
            clear()
        found = [
            (executable.age, dispatcher, key)
            for dispatcher in self.dispatchers
            for key, executable in list(dispatcher.entries.items())
        ]
        found.sort(key=itemgetter(0))
        known = len(found)
        for _, dispatcher, key in found:
            if not self.is_full(known, (_AGES - 1) / _AGES):
                break
            if dispatcher.entries.pop(key, None) is not None:
                known -= 1
                totals.evicted += 1
                self.evicted[_fingerprint(dispatcher.signature.name, key)] = None
                if len(self.evicted) > _REMEMBERED:
                    self.evicted.pop(next(iter(self.evicted)))
        self.known, self.filled = known, self.used(known)

    def warn(self, name: str) -> None:
        """Warn that executables are evicted and rebuilt repeatedly."""
        warnings.warn(
            f"tenax: the program uses more executables than the {self.budget / 2**20:.0f} MiB of TENAX_CODE_MEMORY "
            f"hold, so that they are made again and again (now {name}). If the shapes of your data differ from step to "
            "step, pad them to a few sizes (tenax.pad, tenax.bucket); otherwise raise TENAX_CODE_MEMORY.",
            stacklevel=2,
        )


def _fingerprint(name: str, key: Any) -> int:
    """A hash by value, because what a key compares by identity may be created again for the same shapes."""
    return hash((name, repr(key)))


def _memory() -> int:
    """The machine's memory, or the container's limit if that is lower, in bytes."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(whole, _number("/sys/fs/cgroup/memory.max", whole))


def _number(path: str, default: int) -> int:
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):
        return default


def most_mappings() -> int:
    """The number of memory mappings that Linux allows a process."""
    return _number("/proc/sys/vm/max_map_count", 65530)


code_memory = CodeMemory(bytes_of("TENAX_CODE_MEMORY", _memory() // _SHARE), most_mappings() // _MAPS)
float32_products.changed = code_memory.forget
