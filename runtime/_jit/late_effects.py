"""Late effects: what the backward pass of a compiled step changes besides gradients, in Python state and in cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import jax
import torch

from ..errors import TraceError
from ..storage.cell import Cell
from .output_builder import OutputBuilder
from .sources import content_at, elements_of, put_at, refill, same_value
from .traced_step import TracedBackward, output_count

Contents = list[tuple[Cell, Any]]  # cells with their contents
_increment_versions = torch.autograd.graph.increment_version


class LateEffects:
    """The changes that each backward pass makes."""

    __slots__ = ("cells", "device_index", "effects", "storages", "tensors")

    def __init__(self, traced: TracedBackward, cells: list[int], tensors: list[torch.Tensor]) -> None:
        """`cells` are the indices of written cells among the cells of a call; `tensors` are the tensors on them."""
        self.effects, self.storages, self.device_index = traced.effects, traced.storages, traced.device_index
        self.cells, self.tensors = cells, tensors

    def contents(self, cells: Sequence[Cell]) -> Contents:
        """The contents of the written cells at the end of a call."""
        return [(cells[i], cells[i].content) for i in self.cells]

    def apply(self, arrays: Iterator[jax.Array], arguments: Sequence[Any] | None, contents: Contents) -> None:
        """Make the changes of a call with these arguments; `arrays` were computed by the backward pass.

        Raises:
            TraceError: the state to be changed has changed since the call.
        """
        if self.effects:
            self._repeat(arrays, arguments or ())
        if self.cells:
            self._write(arrays, contents)

    def _repeat(self, arrays: Iterator[jax.Array], arguments: Sequence[Any]) -> None:
        outputs = [*islice(arrays, output_count(self.storages))]
        contents = [storage.source.content(outputs, ()) for storage in self.storages]
        builder = OutputBuilder(self.storages, contents, arguments, self.device_index)
        for source, described, appended, number, old in self.effects:
            if number and not same_value(old, content_at(source)):
                raise TraceError(
                    f"the backward pass of a compiled function changes {source.path}, which is no longer what it was "
                    "when the function was called; call backward() before the next call"
                )
            value: Any = None if described is None else builder.make(described)
            if appended:
                refill(source.container, [*elements_of(source.container), *value])
            else:
                put_at(source, value, described is None)

    def _write(self, arrays: Iterator[jax.Array], contents: Contents) -> None:
        if any(cell.content is not held for cell, held in contents):
            raise TraceError(
                "the backward pass of a compiled function writes a tensor (as BatchNorm under a checkpoint does) that "
                "was written since the function was called; call backward() before the next call"
            )
        for (cell, _), array in zip(contents, arrays, strict=True):
            cell.write(array)
        _increment_versions(self.tensors)
