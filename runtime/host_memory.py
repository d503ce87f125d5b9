"""The setting of glibc's allocator, from which the arrays of the CPU and temporary memory of its programs come.

By default, glibc returns freed memory to the kernel when the end of its heap has twice the size of a large block: an
eager operation on a few MiB then takes its result from the kernel at each call, which clears it page by page. That
takes longer than the operation: a sum of two arrays of 4 MiB takes two to three times as long. The price of keeping the
memory is that a process may hold `_KEPT` bytes that it does not use.
"""

from __future__ import annotations

import ctypes
import os

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt(3)
_NUMBERS = ("trim_threshold", "mmap_threshold", "top_pad", "mmap_max")
_KEPT = 1 << 28  # bytes of freed memory at the end of a heap that are not returned
_OF_THE_HEAP = 1 << 25  # larger blocks are mapped, and returned when they are freed; glibc's own limit of this number


def keep_freed_memory() -> None:
    """Let glibc keep freed memory, unless the environment sets one of the numbers on which that depends."""
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    if any(f"MALLOC_{name.upper()}_" in os.environ or f"malloc.{name}=" in tunables for name in _NUMBERS):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # a function of glibc alone
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, _KEPT)
        mallopt(_MMAP_THRESHOLD, _OF_THE_HEAP)  # setting one of the two fixes both
