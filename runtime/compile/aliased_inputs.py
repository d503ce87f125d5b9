"""Inputs that share memory, in graphs that write to their inputs.

AOTAutograd compiles such a graph for the inputs that overlap in its first call. But torch (2.13) guards this only if
sizes are symbolic, and compares positions of elements, not of bytes, where dtypes differ. So a call with inputs that
overlap in another way runs the captured graph op by op.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import torch


class Alias(NamedTuple):
    """An input that shares its storage with another one."""

    position: int
    storage: int  # the position of the first input of this storage
    dtype: torch.dtype
    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int

    @property
    def extent(self) -> range:
        """The bytes of the storage from the first to the last that the tensor reaches."""
        if 0 in self.size:
            return range(0)
        last = self.offset + sum((n - 1) * s for n, s in zip(self.size, self.stride, strict=True))
        return range(self.offset * self.dtype.itemsize, (last + 1) * self.dtype.itemsize)


def share_storage(inputs: Sequence[Any]) -> bool:
    """Whether any two inputs share a storage."""
    return any(len(group) > 1 for group in _by_storage(inputs).values())


def has_mixed_dtypes(inputs: Sequence[Any]) -> bool:
    """Whether two inputs view one storage with different dtypes."""
    return any(len({inputs[i].dtype for i in group}) > 1 for group in _by_storage(inputs).values())


class ForAliasing:
    """A compiled graph, run only for inputs that overlap as those of its first call did."""

    def __init__(self, compiled: Callable[..., Any], captured: Callable[..., Any]) -> None:
        self.compiled = compiled
        self.captured = captured
        self.first: list[Alias] | None = None

    def __call__(self, *args: Any) -> Any:
        found = aliases(args)
        if self.first is None:
            self.first = found
        if found == self.first or not (overlap(found) or overlap(self.first)):
            return self.compiled(*args)
        return self.captured(*args)


def aliases(inputs: Sequence[Any]) -> list[Alias]:
    """The inputs that share a storage with another input."""
    storages = [x.untyped_storage()._cdata for x in inputs if isinstance(x, torch.Tensor)]
    if len(set(storages)) == len(storages):
        return []
    return [
        Alias(i, group[0], (x := inputs[i]).dtype, tuple(x.size()), x.stride(), int(x.storage_offset()))
        for group in _by_storage(inputs).values()
        if len(group) > 1
        for i in group
    ]


def overlap(found: Sequence[Alias]) -> bool:
    """Whether the extents of any two inputs of one storage have a byte in common."""
    return any(
        x.storage == y.storage and max(x.extent.start, y.extent.start) < min(x.extent.stop, y.extent.stop)
        for x, y in combinations(found, 2)
    )


def _by_storage(inputs: Sequence[Any]) -> dict[int, list[int]]:
    """The indices of the tensors of each storage."""
    groups = defaultdict[int, list[int]](list)
    for i, x in enumerate(inputs):
        if isinstance(x, torch.Tensor):
            groups[x.untyped_storage()._cdata].append(i)
    return groups
