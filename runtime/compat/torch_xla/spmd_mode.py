"""Whether the program is one over a mesh, and its mesh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class _Mode:
    spmd: bool = False
    mesh: Any = None  # of `xs.set_global_mesh`


mode = _Mode()
