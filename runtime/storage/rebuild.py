"""Results of a traced program: recorded when it is traced, rebuilt as tensors in every call.

A program returns arrays, but its results are tensors that may share memory with each other or with an input. A recorder
turns each tensor on a new storage into a record, and collects the arrays that the program must return; a builder turns
the records into tensors on the arrays of one call. Tensors on the storage of an input are rebuilt by `TensorSpec.on`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    """Where each call gets an array: from the program's outputs, from its unchanged inputs, or as a lazy fill."""

    output: int | None = None
    input: int | None = None
    fill: LazyFill | None = None

    def content(self, outputs: Sequence[jax.Array], inputs: Sequence[jax.Array]) -> jax.Array | LazyFill:
        """The array of a call, or the lazy fill in its place."""
        if self.output is not None:
            return outputs[self.output]
        if self.input is not None:
            return inputs[self.input]
        assert self.fill is not None
        return self.fill


class NewStorage(NamedTuple):
    """A storage that the program creates, and the aval of its array."""

    source: ArraySource
    aval: Aval


@dataclass(slots=True, eq=False)
class TensorOnStorage:
    """A tensor on a new storage. Each tensor has a record of its own, even with equal specs."""

    storage: int  # index among the new storages
    spec: TensorSpec
    whole: bool = False  # whether it is exactly the storage's array


class ResultRecorder:
    """Records tensors on storages that a traced program creates.

    `outputs` are the arrays that the program must return for them, without duplicates.
    """

    def __init__(self, inputs: Sequence[jax.Array] = ()) -> None:
        """`inputs` are arrays that every call passes, so that they need not be returned."""
        self.outputs: list[jax.Array] = []
        self._sources = {id(array): ArraySource(input=i) for i, array in enumerate(inputs)}
        self._inputs = inputs  # kept alive, because they are identified by id
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
        """Where a call gets this content of a cell; an array that is not an input becomes an output."""
        if content.__class__ is LazyFill:
            return ArraySource(fill=content)
        if id(content) not in self._sources:
            self._sources[id(content)] = ArraySource(output=len(self.outputs))
            self.outputs.append(content)  # type: ignore[arg-type]
        return self._sources[id(content)]

    def storages(self) -> list[NewStorage]:
        """The storages of all recorded tensors; call it after the last `record`.

        If no tensor is exactly the array of a storage, but one is a reshape of it, the array gets that tensor's shape,
        so that a call creates this tensor directly, without a base tensor.
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
    """Creates the tensors of one call from the contents of its new storages."""

    def __init__(
        self,
        storages: Sequence[NewStorage],
        contents: Sequence[jax.Array | LazyFill],
        index: int,
        another: Callable[[TensorSpec, torch.Tensor], torch.Tensor] = TensorSpec.on,
    ) -> None:
        """`contents` are those of `storages`, on device `index`; `another` makes a tensor on the storage of one."""
        self.storages, self.contents, self.index, self.another = storages, contents, index, another
        self._bases: dict[int, torch.Tensor] = {}  # the first tensor on each storage in this call

    def tensor(self, record: TensorOnStorage) -> torch.Tensor:
        """The tensor of a record."""
        number, spec = record.storage, record.spec
        base = self._bases.get(number)
        if base is not None:
            return self.another(spec, base)
        content, aval = self.contents[number], self.storages[number].aval
        known = not self.index and content.__class__ is not LazyFill and sharding_of_array(content) is aval.sharding
        cell = FreshCell(content, aval) if known else Cell(content, self.index)  # type: ignore[arg-type]
        if record.whole:
            first = new_tensor(cell, spec.size, spec.dtype)
        else:
            first = spec.on(new_tensor(cell, aval.shape, torch_dtype(aval.dtype)))
        self._bases[number] = first
        return first
