"""Inputs that share memory, in graphs that write to their inputs.

AOTAutograd compiles such a graph for the inputs that overlap in its first call. But torch (2.13) guards this only if
sizes are symbolic, compares positions of elements, not of bytes, where dtypes differ, and ends the process for some
results that are views of overlapping inputs. So a call with inputs that overlap runs the captured graph op by op.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import torch

from ..dispatch.overlap import memory_span


class Alias(NamedTuple):
    """An input that shares its storage with another one."""

    position: int
    storage: int  # the position of the first input of this storage
    start: int  # in bytes
    end: int


class UnlessOverlapping:
    """A compiled graph that writes to its inputs, run only for inputs that lie apart."""

    def __init__(
        self, compiled: Callable[..., Any], captured: Callable[..., Any], inputs: Sequence[Any], by_position: bool
    ) -> None:
        """`by_position` tells whether the graph reaches memory by its position: inputs must start where they did."""
        self.compiled = compiled
        self.captured = captured
        self.by_position = by_position
        self.offsets: list[int] | None = None
        self.shared = [group for group in _by_storage(inputs).values() if len(group) > 1]
        self.is_for_overlap: bool | None = None  # known from the first call

    def __call__(self, *args: Any) -> Any:
        return self.compiled(*args) if self.suits(args) else self.captured(*args)

    def suits(self, args: Sequence[Any]) -> bool:
        """Whether the compiled graph is right for these inputs."""
        if has_left_its_base(args) or (self.by_position and not self.start_as_before(args)):
            return False
        found = aliases(args)
        overlaps = _overlap(found)
        if self.is_for_overlap is None:
            self.is_for_overlap = overlaps
        return not overlaps and not self.is_for_overlap and (not self.shared or _groups_of(found) == self.shared)

    def start_as_before(self, args: Sequence[Any]) -> bool:
        """Whether the inputs start where those of the first call did."""
        offsets = [int(x.storage_offset()) for x in args if isinstance(x, torch.Tensor)]
        if self.offsets is None:
            self.offsets = offsets
        return offsets == self.offsets


def aliases(inputs: Sequence[Any]) -> list[Alias]:
    """The inputs that share a storage with another input.

    Those of several dtypes reach all of it: a graph writes to a copy of the storage for each dtype.
    """
    storages = [s for x in inputs if (s := storage_of(x)) is not None]
    if len(set(storages)) == len(storages):
        return []
    found = []
    for group in _by_storage(inputs).values():
        mixed = len({inputs[i].dtype for i in group}) > 1
        for i in group if len(group) > 1 else ():
            span = (0, inputs[i].untyped_storage().nbytes()) if mixed else memory_span(inputs[i])
            found.append(Alias(i, group[0], *span))
    return found


def share_storage(inputs: Sequence[Any]) -> bool:
    """Whether any two inputs share a storage."""
    return any(len(group) > 1 for group in _by_storage(inputs).values())


def has_left_its_base(inputs: Sequence[Any]) -> bool:
    """Whether an input is a view of a tensor with another storage, because it was given other data (`x.data = y`).

    AOTAutograd takes it for a view of that tensor's data.
    """
    return any(isinstance(x, torch.Tensor) and x._is_view() and storage_of(x) != storage_of(x._base) for x in inputs)


def storage_of(x: Any) -> int | None:
    """The storage of a tensor; None for what has none: other values, sparse tensors and those of `torch.func`."""
    try:
        return x.untyped_storage()._cdata if isinstance(x, torch.Tensor) else None
    except NotImplementedError:
        return None


def _overlap(found: Sequence[Alias]) -> bool:
    """Whether any two inputs of one storage reach a common byte."""
    # Sorted, because a buffer of parameters may have hundreds of views: if any two overlap, so do two neighbours.
    spans = sorted((x.storage, x.start, x.end) for x in found if x.start < x.end)
    return any(storage == other and start < end for (storage, _, end), (other, start, _) in pairwise(spans))


def _groups_of(found: Sequence[Alias]) -> list[list[int]]:
    groups = defaultdict[int, list[int]](list)
    for alias in found:
        groups[alias.storage].append(alias.position)
    return [*groups.values()]


def _by_storage(inputs: Sequence[Any]) -> dict[int, list[int]]:
    """The positions of the tensors of each storage."""
    groups = defaultdict[int, list[int]](list)
    for i, x in enumerate(inputs):
        if (storage := storage_of(x)) is not None:
            groups[storage].append(i)
    return groups
