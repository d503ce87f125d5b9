"""Arguments that share memory: where they overlap, and which of them are expanded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from .._torch import pytree
from ..storage.avals import LazyFill
from ..storage.cell import PendingArray
from ..storage.placement import no_jax_trace
from ..storage.spec import TensorSpec
from ..storage.tensors import NAME, cell_of
from .encode import EncodedCall
from .signature import Signature


def shares_storage(call: EncodedCall) -> bool:
    """Whether the array of a written tensor may be passed more than once."""
    stored = [c.pending or c.content for c in call.cells]
    contents = [x.array if isinstance(x, PendingArray) and x.tape is None else x for x in stored]  # as in the operands
    if any(c.__class__ is LazyFill for c in contents):  # each read creates a new array
        return True
    if not no_jax_trace():  # each read may create a new tracer
        return True
    held = {id(c) for c in contents}
    return sum([id(o) in held for o in call.operands]) > len(call.cells) - call.positions.count(-1)


def overlaps(written: Sequence[torch.Tensor], reads: Sequence[Any]) -> Iterator[tuple[int, bool]]:
    """For each tensor that may overlap a written one, yield its offset from that tensor in bytes, and whether the
    strides are equal: torch rejects unequal ones, even for axes of size 1, whose strides are not in keys."""
    tensors = [x for x in pytree.tree_leaves(reads) if isinstance(x, torch.Tensor)]
    others = [*written, *(x for x in tensors if x.device.type == NAME)]  # others are 0-d CPU tensors
    for i, target in enumerate(written):
        memory, (start, end) = cell_of(target).memory, memory_span(target)
        for other in others[i + 1 :]:
            if cell_of(other).memory is memory:
                other_start, other_end = memory_span(other)
                if max(start, other_start) < min(end, other_end):
                    yield other_start - start, other.stride() == target.stride()


def memory_span(tensor: torch.Tensor) -> tuple[int, int]:
    """The byte range of its storage that a tensor spans: the first, and one past the last."""
    spec = TensorSpec.of(tensor)
    start = spec.offset * tensor.itemsize
    return start, start + spec.extent * tensor.itemsize


def writes_expanded(signature: Signature, written: Sequence[torch.Tensor]) -> bool:
    """Whether a call writes to an expanded tensor and its lowering does not support that."""
    return not signature.writes_expanded and any(t.numel() and TensorSpec.of(t).is_expanded() for t in written)
