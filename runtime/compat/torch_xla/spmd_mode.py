"""Whether the program is a single one over a mesh, and its mesh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class _Mode:
    spmd: bool = False
    mesh: Any = None  # set by `xs.set_global_mesh`


mode = _Mode()
