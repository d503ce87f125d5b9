"""Inputs that share memory, in graphs that write to their inputs.

AOTAutograd compiles such a graph for the inputs that overlap in its first call. But torch (2.13) guards this only if
sizes are symbolic, compares positions of elements, not of bytes, where dtypes differ, and ends the process for some
results that are views of overlapping inputs. So a call with inputs that overlap runs the captured graph op by op.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch

from ..dispatch.overlap import memory_span


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
        self.shared = shared_storages(inputs)
        self.is_for_overlap: bool | None = None  # known from the first call

    def __call__(self, *args: Any) -> Any:
        return self.compiled(*args) if self.suits(args) else self.captured(*args)

    def suits(self, args: Sequence[Any]) -> bool:
        """Whether the compiled graph is right for these inputs."""
        if has_left_its_base(args) or (self.by_position and not self.start_as_before(args)):
            return False
        shared = shared_storages(args)
        overlaps = _overlap(args, shared)
        if self.is_for_overlap is None:
            self.is_for_overlap = overlaps
        return not overlaps and not self.is_for_overlap and (not self.shared or shared == self.shared)

    def start_as_before(self, args: Sequence[Any]) -> bool:
        """Whether the inputs start where those of the first call did."""
        offsets = [int(x.storage_offset()) for x in args if isinstance(x, torch.Tensor)]
        if self.offsets is None:
            self.offsets = offsets
        return offsets == self.offsets


def shared_storages(inputs: Sequence[Any]) -> list[list[int]]:
    """The positions of the tensors of each storage that several share."""
    storages = [storage_of(x) for x in inputs]
    known = [s for s in storages if s is not None]
    if len(set(known)) == len(known):
        return []  # without the groups, which take three times as long
    found = defaultdict[int, list[int]](list)
    for i, storage in enumerate(storages):
        if storage is not None:
            found[storage].append(i)
    return [group for group in found.values() if len(group) > 1]


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


def _overlap(inputs: Sequence[Any], shared: Sequence[Sequence[int]]) -> bool:
    """Whether any two inputs of one storage reach a common byte.

    Those of several dtypes reach all of it: a graph writes to a copy of the storage for each dtype.
    """
    for group in shared:
        tensors = [inputs[i] for i in group]
        mixed = len({x.dtype for x in tensors}) > 1
        spans = [(0, x.untyped_storage().nbytes()) if mixed else memory_span(x) for x in tensors]
        # Sorted, because a buffer of parameters may have hundreds of views: if any two overlap, so do two neighbours.
        spans = sorted(span for span in spans if span[0] < span[1])
        if any(start < end for (_, end), (start, _) in pairwise(spans)):
            return True
    return False
