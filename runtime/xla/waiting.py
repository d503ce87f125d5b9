"""Tells the user that the program waits for compilation, in a line on stderr: when this has taken two seconds in all,
and for each later program that takes two seconds itself."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from .totals import count_compiled, totals

logger = logging.getLogger("tenax")

PATIENCE = 2.0  # seconds of waiting before a line is printed
_waited = [0.0]  # seconds so far


def _announce(name: str) -> None:
    if sys.stderr is not None:
        print(
            f"tenax: compiling {name}; {totals.compiled} programs before it took {totals.compile_seconds:.1f} s. New "
            "operations and shapes are compiled once, and kept for later runs (TENAX_QUIET=1 hides this line).",
            file=sys.stderr,
            flush=True,
        )


@contextmanager
def waiting_for(name: str, blocks: bool = True) -> Iterator[None]:
    """Count and time a compilation; if it blocks the caller and takes long, tell the user."""
    timer = None
    if blocks and os.environ.get("TENAX_QUIET") != "1":
        left = PATIENCE - _waited[0]
        timer = threading.Timer(left if left > 0 else PATIENCE, _announce, (name,))
        timer.daemon = True
        timer.start()
    start = time.perf_counter()
    try:
        yield
    finally:
        seconds = time.perf_counter() - start
        count_compiled(seconds)
        logger.debug("compiled %s in %.3f s", name, seconds)
        if timer is not None:
            timer.cancel()
            _waited[0] += seconds
