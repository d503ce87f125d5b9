"""Names of torch that are ours while any thread traces, and then torch's again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Replaced:
    """Names, each with what makes our function of torch's. Ours must not hold a trace, for torch may keep them."""

    def __init__(self, *names: tuple[Any, str, Callable[[Any], Any]]) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self._names = [(owner, name, vars(owner)[name], make(vars(owner)[name])) for owner, name, make in names]

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Have ours, together with whoever else has them."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        with self._lock:
            before, self._running = self._running, self._running + more
            if 0 in (before, self._running):
                for owner, name, plain, ours in self._names:
                    setattr(owner, name, ours if self._running else plain)
