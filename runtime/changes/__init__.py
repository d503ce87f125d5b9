"""The table of everything that tenax changes in torch, JAX and Python, for the whole process.

A device cannot be added to torch without touching state that the process shares. `PATCHES` are the attributes that are
replaced or added, and `tenax.patches` refuses to replace any other; `ENTRIES` are what is registered. The table is the
source of docs/side-effects.md (`tenax changes --write`), `tenax doctor` verifies it, and tests/test_patches.py compares
it with what a process really changed.
"""

from __future__ import annotations

from .attributes import LIBRARIES
from .registrations import ENTRIES as ENTRIES
from .rows import Entry as Entry
from .rows import Patch as Patch
from .rows import When as When
from .trainers import TRAINERS

PATCHES = (*LIBRARIES, *TRAINERS)
