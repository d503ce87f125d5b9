"""Memory mappings of executables: Linux allows a process a number of them, beyond which LLVM ends the process.

A program of a compiled function takes three to a hundred. It lives as long as the function does: a dropped function
that is part of a reference cycle is freed when Python's garbage collector next looks at it, which may be thousands of
compilations later.
"""

from __future__ import annotations

import gc
import itertools
from pathlib import Path

from .memory import most_mappings

_EVERY = 16  # programs between two counts: reading the list of mappings takes a microsecond for each


def count() -> int:
    """The number of mappings of this process; 0 where the system does not tell."""
    try:
        return Path("/proc/self/maps").read_bytes().count(b"\n")
    except OSError:
        return 0


_programs = itertools.count(1)


def make_room() -> None:
    """Free programs of dropped functions if mappings run low. It is called before a program is compiled.

    Raises:
        RuntimeError: functions that are still in use hold nearly all mappings.
    """
    if next(_programs) % _EVERY or count() < most_mappings() // 2:
        return
    gc.collect()
    held, most = count(), most_mappings()
    if held > most - most // 16:
        raise RuntimeError(
            f"this process has {held} of the {most} memory mappings that Linux allows (vm.max_map_count), and another "
            "compiled program might end it: drop compiled functions that are no longer needed, or have fewer versions "
            "of them (tenax.explain shows why a function has several)"
        )
