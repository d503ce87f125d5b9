"""Periodic comparison of the calls of the ranks of a group, since known programs are not compared before they run.

After every 32 calls a rank writes their checksums to the store of the group, and reads those that the next rank wrote
before. Ranks that called different programs of the same size, with wrong results, thus detect it within 64 calls. The
cost is a few round trips to the store per 32 calls, whatever the number of ranks.
"""

from __future__ import annotations

import zlib
from typing import Any

EVERY = 32  # calls


class CallHistory:
    """The calls of this rank, and their comparison with those of the next one."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.next = rank, (rank + 1) % size
        self._calls: list[int] = []  # since the last comparison
        self._pending: dict[int, list[int]] = {}  # not compared yet, by the count of their last call
        self._names: dict[int, str] = {}  # the descriptions of checksums

    def add(self, store: Any, count: int, description: str) -> str:
        """Record a call; return a description of an earlier mismatch with the next rank, or an empty string."""
        number = zlib.crc32(description.encode())
        self._names[number] = description
        self._calls.append(number)
        if count % EVERY or self.next == self.rank:
            return ""
        store.set(f"history/{count}/{self.rank}", " ".join(map(str, self._calls)))
        found = next(filter(None, (self._compared(store, n) for n in sorted(self._pending))), "")
        self._pending[count], self._calls = self._calls, []
        return found

    def _compared(self, store: Any, last: int) -> str:
        key = f"history/{last}/{self.next}"
        if not store.check([key]):
            return ""  # the next rank is that far behind; its calls are compared later
        theirs, ours = [*map(int, store.get(key).split())], self._pending.pop(last)
        store.delete_key(key)
        for i, (a, b) in enumerate(zip(theirs, ours, strict=False)):
            if a != b:
                count = last - len(ours) + i + 1
                return (
                    f"called #{count} {self._names.get(a, 'something else')}, and this rank #{count} {self._names[b]}"
                )
        return ""
