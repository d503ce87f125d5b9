"""What the ranks of a group have called, compared now and then: known programs are not compared before they run.

After every 32 calls a rank writes their checksums into the store of the group, and reads those that the next rank wrote
before. So ranks that called different programs of one size, whose results are wrong, learn of it within 64 calls.
It costs a few round trips of the store in 32 calls, whatever the number of ranks.
"""

from __future__ import annotations

import zlib
from typing import Any

EVERY = 32  # calls


class CallHistory:
    """The calls of this rank, and the comparison with those of the next one."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.next = rank, (rank + 1) % size
        self._calls: list[int] = []  # since the last comparison
        self._pending: dict[int, list[int]] = {}  # by the count of their last call: not compared yet
        self._names: dict[int, str] = {}  # the descriptions of checksums

    def add(self, store: Any, count: int, description: str) -> str:
        """Note a call; which earlier one the next rank did not make, or an empty text."""
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
            return ""  # it is that far behind; its calls are compared when they are there
        theirs, ours = [*map(int, store.get(key).split())], self._pending.pop(last)
        store.delete_key(key)
        for i, (a, b) in enumerate(zip(theirs, ours, strict=False)):
            if a != b:
                count = last - len(ours) + i + 1
                return (
                    f"called #{count} {self._names.get(a, 'something else')}, and this rank #{count} {self._names[b]}"
                )
        return ""
