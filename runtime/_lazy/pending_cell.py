"""The cell of a result that is not yet computed."""

from __future__ import annotations

from typing import Any

from ..storage.avals import Aval
from ..storage.cell import Cell


class PendingCell(Cell):
    """A cell without an array until somebody reads it."""

    def __init__(self, pending: Any, aval: Aval, index: int = 0) -> None:
        self.pending = pending
        self.aval = aval
        if index:
            self.index = index
