"""Results of a traced program: recorded when it is traced, rebuilt as tensors in every call.

A program returns arrays, and results are tensors that may share memory: with each other, or with an input. A recorder
turns each tensor on a new storage into a record and lists what the program must return; a builder turns the records
into tensors on the arrays of one call. What lies on the storage of an input is rebuilt by `TensorSpec.on`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import torch

from ..dtypes import torch_dtype
from .avals import Aval, LazyFill, array_shape, tensor_aval
from .cell import Cell, FreshCell
from .placement import sharding_of_array
from .spec import TensorSpec
from .tensors import cell_of, new_tensor


class ArraySource(NamedTuple):
    """Where every call finds an array: among the program's outputs, among its inputs as they were, or nowhere yet."""

    output: int | None = None
    input: int | None = None
    fill: LazyFill | None = None

    def content(self, outputs: Sequence[jax.Array], inputs: Sequence[jax.Array]) -> jax.Array | LazyFill:
        """The array of a call, or the fill that stands for it."""
        if self.output is not None:
            return outputs[self.output]
        if self.input is not None:
            return inputs[self.input]
        assert self.fill is not None
        return self.fill


class NewStorage(NamedTuple):
    """A storage that the program makes, and the aval of its array."""

    source: ArraySource
    aval: Aval


@dataclass(slots=True, eq=False)
class TensorOnStorage:
    """A tensor on a new storage. Two tensors of one spec are two records."""

    storage: int  # its number among the new ones
    spec: TensorSpec
    whole: bool = False  # whether it shows the storage's array as it is


class ResultRecorder:
    """Records tensors on storages that a traced program makes.

    `outputs` are the arrays that the program must return for them, each once.
    """

    def __init__(self, inputs: Sequence[jax.Array] = ()) -> None:
        """`inputs` are arrays that a call passes anyway, and that need not be returned."""
        self.outputs: list[jax.Array] = []
        self._sources = {id(array): ArraySource(input=i) for i, array in enumerate(inputs)}
        self._inputs = inputs  # kept alive: they are known by their ids
        self._cells: dict[Cell, int] = {}
        self._records: list[TensorOnStorage] = []

    @property
    def index(self) -> int:
        """The index of the device that holds the storages."""
        return next((cell.index for cell in self._cells), 0)

    def record(self, tensor: torch.Tensor) -> TensorOnStorage:
        """The record of a tensor on a new storage."""
        record = TensorOnStorage(self._cells.setdefault(cell_of(tensor), len(self._cells)), TensorSpec.of(tensor))
        self._records.append(record)
        return record

    def source(self, content: jax.Array | LazyFill) -> ArraySource:
        """Where a call finds this content of a cell; an array that no input is becomes an output."""
        if content.__class__ is LazyFill:
            return ArraySource(fill=content)
        if id(content) not in self._sources:
            self._sources[id(content)] = ArraySource(output=len(self.outputs))
            self.outputs.append(content)  # type: ignore[arg-type]
        return self._sources[id(content)]

    def storages(self) -> list[NewStorage]:
        """The storages of all recorded tensors, once these are complete.

        An array that no tensor shows as it is takes the shape of one that shows all of it, so that a call makes that
        tensor and no other one below it.
        """
        contents: list[Any] = [cell.content for cell in self._cells]
        avals = [cell.aval for cell in self._cells]
        for record in self._records:
            record.whole = record.spec.covers(avals[record.storage])
        shown = {record.storage for record in self._records if record.whole}
        for record in self._records:
            spec, number = record.spec, record.storage
            aval = avals[number]
            if number in shown or spec.dtype is not torch_dtype(aval.dtype):
                continue
            if spec.is_contiguous() and spec.is_reshape_of(aval.shape):
                aval = avals[number] = tensor_aval(array_shape(spec.size), spec.dtype)
                content = contents[number]
                lazy = content.__class__ is LazyFill
                contents[number] = LazyFill(aval, content.value) if lazy else content.reshape(aval.shape)
                record.whole = True
                shown.add(number)
        return [NewStorage(self.source(content), aval) for content, aval in zip(contents, avals, strict=True)]


class ResultBuilder:
    """Makes the tensors of one call from the contents of its new storages."""

    def __init__(self, storages: Sequence[NewStorage], contents: Sequence[jax.Array | LazyFill], index: int) -> None:
        """`contents` are those of `storages`, on device `index`."""
        self.storages, self.contents, self.index = storages, contents, index
        self._bases: dict[int, torch.Tensor] = {}  # the first tensor on each storage that exists in this call

    def tensor(self, record: TensorOnStorage) -> torch.Tensor:
        """The tensor of a record."""
        number, spec = record.storage, record.spec
        base = self._bases.get(number)
        if base is not None:
            return spec.on(base)
        content, aval = self.contents[number], self.storages[number].aval
        known = not self.index and content.__class__ is not LazyFill and sharding_of_array(content) is aval.sharding
        cell = FreshCell(content, aval) if known else Cell(content, self.index)  # type: ignore[arg-type]
        if record.whole:
            base = self._bases[number] = new_tensor(cell, spec.size, spec.dtype)
            return base
        base = self._bases[number] = new_tensor(cell, aval.shape, torch_dtype(aval.dtype))
        return spec.on(base)
