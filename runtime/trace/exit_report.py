"""Report at exit the failed assertions that nothing has read, with exit status 1."""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
from collections.abc import Callable


@functools.cache
def report_at_exit(raise_failed: Callable[[bool], None], forget: Callable[[], None]) -> None:
    """Report when this process ends; a forked child has no assertions of its own."""
    os.register_at_fork(after_in_child=forget)
    atexit.register(_report, raise_failed)


def _report(raise_failed: Callable[[bool], None]) -> None:
    """Raise, so that Python prints the error. It ignores errors of exit functions, so the C library sets the status."""
    try:
        raise_failed(True)
    except BaseException:
        libc = ctypes.CDLL(None)  # after Python has ended, it runs the last function first
        libc["__cxa_atexit"](libc["_exit"], ctypes.c_void_p(1), None)
        libc["__cxa_atexit"](libc["fflush"], None, None)
        raise
