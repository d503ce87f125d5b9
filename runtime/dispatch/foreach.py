"""Foreach operators whose tensors share memory: torch processes the lists tensor by tensor, so each sees earlier
writes, whereas one executable reads everything before it writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from ..storage.spec import TensorSpec
from ..storage.tensors import NAME, cell_of
from .overlap import memory_span
from .signature import Argument, Signature


class _Access(NamedTuple):
    """The memory that an operator reads or writes through one tensor."""

    storage: int  # its id
    cell: int  # a detached tensor of a pure function has its own cell on the same storage, and writes all of it
    start: int  # in bytes
    end: int
    writes: bool
    spec: TensorSpec


def independent_parts(signature: Signature, values: list[Any]) -> list[list[Any]]:
    """Split the lists of a call into their elements if a tensor that one element writes is accessed by another, too.

    Calls on the parts, in order, do what torch does. Returns `[values]` if the lists are invalid, so that the single
    call raises.
    """
    slots = signature.arguments
    if signature.counts and len(values[signature.counts]) == 1:  # a fused step with one step count for all parameters
        values = [v * len(values[0]) if i == signature.counts else v for i, v in enumerate(values)]
    lists = [(s, v) for s, v in zip(slots, values, strict=True) if s.kind == "tensors" and v]
    count = len(lists[0][1])
    if any(len(v) != count for _, v in lists):
        return [values]
    accesses = [_access(v, False) for s, v in zip(slots, values, strict=True) if s.kind == "tensor" and _on_device(v)]
    for i in range(count):
        step = [_access(v[i], s.written) for s, v in lists if _on_device(v[i])]
        accesses += [a for a in step if a.writes or a._replace(writes=True) not in step]  # it may read what it writes
    return [values] if _is_conflict_free(accesses) else [part(signature, values, [i]) for i in range(count)]


def part(signature: Signature, values: Sequence[Any], indices: Sequence[int]) -> list[Any]:
    """The arguments of a call, restricted to the list elements at `indices`."""
    return [_picked(s, v, indices) for s, v in zip(signature.arguments, values, strict=True)]


def _on_device(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == NAME


def _access(tensor: torch.Tensor, writes: bool) -> _Access:
    cell = cell_of(tensor)
    return _Access(id(cell.memory), id(cell), *memory_span(tensor), writes, TensorSpec.of(tensor))


def _is_conflict_free(accesses: Sequence[_Access]) -> bool:
    """Whether no written memory is accessed twice. One sweep, because a flat parameter buffer may have many views."""
    if len({a.storage for a in accesses}) < len({a.cell for a in accesses}):
        return False
    storage, end, written_end = 0, 0, 0
    for access in sorted(accesses, key=lambda a: (a.storage, a.start)):
        if access.storage != storage:
            storage, end, written_end = access.storage, 0, 0
        if access.start < (end if access.writes else written_end) and access.start < access.end:
            return False
        end = max(end, access.end)
        written_end = max(written_end, access.end) if access.writes else written_end
    return True


def _picked(slot: Argument, value: Any, indices: Sequence[int]) -> Any:
    """An argument restricted to `indices`: elements of a list, or of a tensor with one number per element."""
    if value is None or (slot.kind not in ("tensors", "numbers") and slot.name != "scalars"):
        return value
    if isinstance(value, torch.Tensor):
        return value[list(indices)]
    return [value[i] for i in indices] if value else value
