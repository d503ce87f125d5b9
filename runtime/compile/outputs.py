"""The results and writes of a traced graph: recorded during the trace, rebuilt by every call.

A result that is an argument must be that same tensor object, and one that shares memory with an argument or another
result must keep sharing it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import torch

from ..storage.avals import Aval, LazyFill
from ..storage.cell import Cell
from ..storage.placement import pinned
from ..storage.rebuild import ArraySource, NewStorage, ResultBuilder, ResultRecorder, TensorOnStorage
from ..storage.spec import TensorSpec
from ..storage.tensors import cell_of


class SameArgument(NamedTuple):
    """A result that is an argument."""

    argument: int


class SameResult(NamedTuple):
    """A result that is an earlier result."""

    result: int


class ViewOfArgument(NamedTuple):
    """A result on the storage of an argument."""

    argument: int
    spec: TensorSpec


class WrittenInput(NamedTuple):
    """An input whose cell gets a new array."""

    input: int
    source: ArraySource
    aval: Aval


def _as_before(cell: Cell) -> jax.Array | LazyFill:
    """The content of a written cell, pinned to the sharding that it had before."""
    content = cell.content
    return content if content.__class__ is LazyFill else pinned(content, cell.aval.sharding)  # type: ignore[arg-type]


class GraphOutputs:
    """The results and writes of one traced graph."""

    def __init__(self) -> None:
        self.storages: list[NewStorage] = []
        self.written: list[WrittenInput] = []
        self.results: list[Any] = []  # records, or plain values of any other class
        self.moved: list[tuple[int, Any]] = []  # arguments that got other data by `set_`, and its records

    def record(
        self,
        arguments: Sequence[Any],
        inputs: Sequence[int | None],
        cells: Sequence[Cell],
        arrays: Sequence[jax.Array],
        operands: Sequence[jax.Array],
        results: Sequence[Any],
    ) -> tuple[jax.Array, ...]:
        """Record the results and writes of a graph; return the outputs that the program must have.

        Args:
            arguments: the graph's arguments, including the tensors on `cells`.
            inputs: the index of each argument's cell, None for non-tensors.
            cells: the cells of the inputs, after the graph ran.
            arrays: the arrays that the cells held before.
            operands: these arrays, once each, as every call passes them.
            results: the graph's results.
        """
        recorder = ResultRecorder(operands)
        self.written = [
            WrittenInput(i, recorder.source(_as_before(cell)), cell.aval)
            for i, (cell, array) in enumerate(zip(cells, arrays, strict=True))
            if cell.content is not array
        ]
        positions = {id(x): i for i, x in enumerate(arguments) if isinstance(x, torch.Tensor)}
        numbers = {cell: i for i, cell in enumerate(cells)}

        def recorded(result: Any) -> Any:
            if not isinstance(result, torch.Tensor):
                return result
            if id(result) in positions:
                return SameArgument(positions[id(result)])
            cell = cell_of(result)
            if cell in numbers:
                return ViewOfArgument(inputs.index(numbers[cell]), TensorSpec.of(result))
            return recorder.record(result)

        first: dict[int, int] = {}
        self.results = [
            SameResult(first[id(x)]) if first.setdefault(id(x), i) != i and isinstance(x, torch.Tensor) else recorded(x)
            for i, x in enumerate(results)
        ]
        places = [(i, place) for i, place in enumerate(inputs) if place is not None]
        moved = [i for i, place in places if cell_of(arguments[i]) is not cells[place]]
        positions.clear()
        self.moved = [(i, recorded(arguments[i])) for i in moved]
        self.storages = recorder.storages()
        return tuple(recorder.outputs)

    def leads(self, leads: Sequence[int]) -> list[int]:
        """For each cell, the first one that was on its array before the run and got the same new one."""
        sources: dict[int, Any] = {w.input: w.source for w in self.written}
        first: dict[Any, int] = {}
        return [first.setdefault((lead, sources.get(i, i)), i) for i, lead in enumerate(leads)]

    def unchanged(self) -> set[int | None]:
        """The operands that end up in a result or in a written cell."""
        sources = [*(w.source for w in self.written), *(s.source for s in self.storages)]
        return {source.input for source in sources}

    def make(
        self, arguments: Sequence[Any], cells: Sequence[Cell], outputs: Sequence[jax.Array], arrays: Any, index: int
    ) -> list[Any]:
        """Write the cells of a call and return its results."""
        for i, source, aval in self.written:
            cells[i].replace(source.content(outputs, arrays))
            cells[i].aval = aval
        contents = [s.source.content(outputs, arrays) for s in self.storages]
        builder = ResultBuilder(self.storages, contents, index, TensorSpec.viewed)

        def made(record: Any) -> Any:
            if record.__class__ is TensorOnStorage:
                return builder.tensor(record)
            if record.__class__ is SameArgument:
                return arguments[record.argument]
            return record.spec.on(arguments[record.argument]) if record.__class__ is ViewOfArgument else record

        results: list[Any] = []
        for record in self.results:
            results.append(results[record.result] if record.__class__ is SameResult else made(record))
        if self.moved:
            data = [made(record) for _, record in self.moved]  # all of them made before any `set_`
            with torch.no_grad():
                for (i, _), tensor in zip(self.moved, data, strict=True):
                    arguments[i].set_(tensor)
        return results
