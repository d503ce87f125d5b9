"""Whether the program is a single one over a mesh, and its mesh."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any


@dataclass
class _Mode:
    spmd: bool = field(default_factory=lambda: os.environ.get("XLA_USE_SPMD") == "1")
    mesh: Any = None  # set by `xs.set_global_mesh`


mode = _Mode()
