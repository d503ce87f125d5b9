"""A result that is not computed yet, and the cell that holds it in place of an array."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..storage.avals import Aval
from ..storage.cell import Cell
from ..storage.mutation import mutation_epoch


class PendingArray:
    """The result of a recorded operation. Cells hold it in place of an array, until its tape computes it."""

    __slots__ = ("__weakref__", "array", "aval", "failure", "tape")

    array: jax.Array
    failure: tuple[Exception, str] | None  # if the operation failed: its error, and a description of the operation

    def __init__(self, tape: Any, aval: Aval) -> None:
        self.tape: Any = tape  # None once it is computed
        self.aval = aval

    def __getattr__(self, name: str) -> Any:
        """Raise the error of a failed operation when its array is read."""
        if name == "failure":
            return None
        if name == "array" and self.failure is not None:
            error, where = self.failure
            kind = type(error) if isinstance(error, RuntimeError) else RuntimeError
            raise kind(f"{error} (the result of {where})") from error
        raise AttributeError(name)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the array."""
        return self.aval.dtype

    def cell(self, index: int) -> Cell:
        """A new cell that holds this result."""
        return PendingCell(self, self.aval, index)

    def put_into(self, cell: Cell) -> None:
        """Replace the array of a cell."""
        mutation_epoch.advance()
        state = cell.__dict__
        state.pop("content", None)
        state.pop("array", None)
        state["pending"] = self

    def value(self) -> jax.Array:
        """The array, computed now if necessary."""
        tape = self.tape
        if tape is not None:
            tape.flush()
        return self.array


class PendingCell(Cell):
    """A cell whose array is computed when it is first read."""

    def __init__(self, pending: PendingArray, aval: Aval, index: int = 0) -> None:
        self.pending = pending
        self.aval = aval
        if index:
            self.index = index
