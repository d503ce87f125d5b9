"""Reports that a program waits for compilation: a line on stderr after two seconds of waiting, then progress."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .totals import count_compiled

logger = logging.getLogger("tenax")

_PATIENCE = 2.0  # seconds of waiting before the line is printed
_PAUSE = 2.0  # seconds without compilation after which the waiting time is reset
_LOOK = 0.25  # seconds between two polls


class _Watch:
    """Polls for compilations on a thread of its own, which ends when nothing has been compiled for a while."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.began: float | None = None  # start time of the current period in which something is compiled
        self.ended = self.waited = 0.0
        self.name = ""
        self.programs = 0
        self.active = 0  # compilations in progress
        self.alive = False

    def begin(self, name: str) -> None:
        """Note the start of a compilation."""
        with self.lock:
            if not self.alive:
                self.alive, self.waited, self.programs = True, 0.0, 0
                threading.Thread(target=self.look, name="tenax-progress", daemon=True).start()
            self.name, self.active = name, self.active + 1
            if self.active == 1:
                self.began = time.monotonic()

    def end(self) -> None:
        """Note the end of a compilation."""
        with self.lock:
            self.programs += 1
            self.active -= 1
            if not self.active and self.began is not None:
                self.ended = time.monotonic()
                self.waited += self.ended - self.began
                self.began = None

    def look(self) -> None:
        """Print the line once, then show progress if stderr is a terminal."""
        status: Any = None
        said = False
        while True:
            time.sleep(_LOOK)
            with self.lock:
                now = time.monotonic()
                if self.began is None and now - self.ended > _PAUSE:
                    self.alive = False
                    break
                waited = self.waited + (0.0 if self.began is None else now - self.began)
            if waited > _PATIENCE and not said:
                said, status = True, self.announce(waited)
            elif status is not None:
                status.update(self.text(waited))
        if status is not None:
            status.stop()

    def text(self, waited: float) -> str:
        """The text of the line: what is being compiled."""
        return f"tenax: compiling {self.name}; {self.programs} programs before it, {waited:.1f} s so far"

    def announce(self, waited: float) -> Any:
        """Print the line; on a terminal, start and return a progress display."""
        if sys.stderr is None:
            return None
        print(
            f"{self.text(waited)}. New operations and shapes are compiled once, and kept for later runs "
            "(TENAX_QUIET=1 hides this line).",
            file=sys.stderr,
            flush=True,
        )
        if not sys.stderr.isatty():
            return None
        from rich.console import Console

        status = Console(stderr=True).status(self.text(waited))
        status.start()
        return status


_watch = _Watch()


@contextmanager
def waiting_for(name: str, blocks: bool = True) -> Iterator[None]:
    """Count and time a compilation; if it blocks the caller and takes long, report it to the user."""
    shown = blocks and os.environ.get("TENAX_QUIET") != "1"
    if shown:
        _watch.begin(name)
    start = time.perf_counter()
    try:
        yield
    finally:
        seconds = time.perf_counter() - start
        count_compiled(seconds)
        logger.debug("compiled %s in %.3f s", name, seconds)
        if shown:
            _watch.end()
