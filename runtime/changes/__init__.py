"""The table of everything that tenax changes in torch, JAX and Python, for the whole process.

Adding a device to torch requires changes to process-wide state. `PATCHES` lists the attributes that are replaced or
added, and `tenax.patches` refuses to replace any other; `ENTRIES` lists the registrations. `tenax changes` prints the
table, `tenax doctor` verifies it, and tests/changes/test_patches.py compares it with what a process actually changed.
"""

from __future__ import annotations

from .attributes import LIBRARIES
from .registrations import ENTRIES as ENTRIES
from .rows import Entry as Entry
from .rows import Patch as Patch
from .rows import When as When
from .trainers import TRAINERS

PATCHES = (*LIBRARIES, *TRAINERS)
