"""The cell, which holds the current array of a storage of the device, or a result that is not computed yet."""

from __future__ import annotations

from typing import Any
from weakref import ref

import jax
import numpy as np

from .avals import Aval, LazyFill, aval_of, meshes
from .mutation import donating, mutation_epoch
from .placement import materialise, sharding_of_array
from .recording import recording


class Cell:
    """The current content of a storage: an array in its natural shape, or a lazy fill.

    `array` is the content if the fast path of dispatch applies. It is None if the content is a fill, if the array is on
    a device other than the first, or if tensors of several dtypes share the storage, so that one test covers all three.
    """

    content: jax.Array | LazyFill
    array: jax.Array | None
    aval: Aval
    index = 0
    mixed = False
    freed: Aval | None = None  # the aval of the array before its storage was resized to 0 bytes
    pending: Any = None  # while a tape records: the result of a recorded operation, in place of content and array
    observed = False  # whether a compiled step depends on the geometry of a tensor on it

    def __init__(self, content: jax.Array | LazyFill, index: int = 0) -> None:
        self.content = content
        if content.__class__ is LazyFill:
            self.array = None
            self.aval = content.aval
        else:
            self.array = None if index else content  # type: ignore[assignment]
            self.aval = aval_of(content.shape, content.dtype, sharding_of_array(content))  # type: ignore[union-attr]
        if index:
            self.index = index

    @property
    def memory(self) -> Cell:
        """The cell that owns the array: another cell, if this one presents that cell's array."""
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the array; a tensor of another dtype is a bitcast view."""
        return self.aval.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the storage."""
        return self.aval.nbytes

    def settle(self) -> None:
        """Hold the array of a pending result, computed now if necessary."""
        content = self.pending.value()
        aval = aval_of(content.shape, content.dtype, sharding_of_array(content))  # a function of JAX may have moved it
        self.__dict__.update(content=content, array=None if self.index or self.mixed else content, aval=aval)
        self.__dict__.pop("pending", None)

    def take(self, source: Cell) -> None:
        """Share the content of another cell of the same aval; arrays are immutable, and a write separates the cells."""
        if source.pending is None or recording.tape is None:
            self.replace(source.content)
        else:
            source.pending.put_into(self)

    def copied(self) -> Cell:
        """A second cell with the same content, until the first write to either."""
        lazy = self.pending is not None and recording.tape is not None
        with donating:
            return self.pending.cell(self.index) if lazy else Cell(self.content, self.index)

    def __getattr__(self, name: str) -> Any:
        """Set `content` and `array` if the array is pending."""
        if name in ("content", "array") and self.pending is not None:
            self.settle()
        try:
            return self.__dict__[name]
        except KeyError:
            raise AttributeError(name) from None

    def read(self) -> jax.Array:
        """The array. A fill is materialised first."""
        content = self.content
        if content.__class__ is LazyFill:
            content = materialise(content, self.index)
            if not isinstance(content, jax.core.Tracer):  # set directly: a trace must not see this as a write
                self.__dict__.update(content=content, array=None if self.index or self.mixed else content)
        return content  # type: ignore[return-value]

    def write(self, array: jax.Array | LazyFill) -> None:
        """Replace the array, possibly by one of another shape, dtype or sharding."""
        self.replace(array)
        if isinstance(array, LazyFill):
            self.aval = array.aval
        else:
            self.aval = aval_of(array.shape, array.dtype, sharding_of_array(array))

    def replace(self, array: jax.Array | LazyFill) -> None:
        """Replace the array by one of the same shape and dtype."""
        state = self.__dict__
        if state.get("content").__class__ is not LazyFill:
            mutation_epoch.advance()
        self.content = array
        self.array = None if self.index or self.mixed or array.__class__ is LazyFill else array  # type: ignore[assignment]
        state.pop("pending", None)

    def mix(self) -> None:
        """Take the storage off the fast path, because a tensor of another dtype shares it."""
        self.mixed = True
        self.array = None


class FreshCell(Cell):
    """The cell of a new array on the first device, whose aval is known."""

    def __init__(self, array: jax.Array, aval: Aval) -> None:
        self.content = self.array = array
        self.aval = aval


class PendingArray:
    """The result of a recorded operation. Cells hold it in place of an array, until its tape computes it."""

    __slots__ = ("__weakref__", "array", "aval", "cells", "failure", "tape")

    array: jax.Array
    cells: list[ref[Cell]]  # the cells that hold it, if it may be on a mesh: their avals will have its sharding
    failure: tuple[Exception, str] | None  # if the operation failed: its error, and a description of the operation

    def __init__(self, tape: Any, aval: Aval) -> None:
        self.tape: Any = tape  # None once it is computed
        self.aval = aval
        self.cells = []

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
        if meshes.used:
            self.cells.append(ref(cell))

    def settle(self) -> None:
        """Give the cells that hold this result its array, once it is computed, and the sharding of that."""
        for held in self.cells:
            if self.failure is None and (cell := held()) is not None and cell.pending is self:
                cell.settle()

    def move(self, cell: Cell, aval: Aval) -> bool:
        """Move the array of a cell, which holds this result, to the sharding of an aval of as many elements; False if
        that cannot be recorded."""
        return False

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
        if meshes.used:
            pending.cells.append(ref(self))
        if index:
            self.index = index


def poison() -> None:
    """Make every cell raise: JAX does not survive a fork."""

    def lost(self: Cell, *value: Any) -> Any:
        raise RuntimeError(
            "Cannot re-initialize jax in forked subprocess. To use jax with multiprocessing, you must use the 'spawn' "
            "start method, or send tensors that were moved to the CPU"
        )

    for name in ("content", "array"):
        setattr(Cell, name, property(lost, lost))
