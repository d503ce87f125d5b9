"""Operators on lists with 0-d tensors that share an array, such as the step counts of an optimizer: what is the same
for several elements is computed once, and their tensors share the new array, too."""

from __future__ import annotations

from typing import Any

import torch

from .._torch.operators import is_foreach
from ..storage.tensors import cell_of, covers_array, new_tensor
from .dispatcher import Dispatcher
from .foreach import part
from .list_path import ListKernel
from .signature import Signature

_RETURNS: tuple[list[str], ...] = ([], ["List[Tensor]"])  # in place, and one new tensor for each element


def run_once(dispatcher: Dispatcher, values: list[Any]) -> Any:
    """Execute a call of an operator on lists; `values` are its arguments in schema order."""
    signature, run = dispatcher.signature, ListKernel(dispatcher)
    if not is_foreach(signature.name):
        return run(*_with_one_count(signature, values))
    firsts = _firsts(signature, values)
    chosen = sorted(set(firsts))
    if len(chosen) == len(firsts):
        return run(*values)
    results = run(*part(signature, values, chosen))
    rest = [(i, first) for i, first in enumerate(firsts) if i != first]
    for slot, tensors in zip(signature.arguments, values, strict=True):
        if slot.written:
            for i, first in rest:
                cell_of(tensors[i]).take(cell_of(tensors[first]))
            torch.autograd.graph.increment_version([tensors[i] for i, _ in rest])
    if results is None:
        return None
    made = dict(zip(chosen, results, strict=True))
    return [made[first] if i == first else _copy(made[first]) for i, first in enumerate(firsts)]


def _with_one_count(signature: Signature, values: list[Any]) -> list[Any]:
    """The arguments of a fused step with the first step count alone, if all share its array."""
    place: int = signature.counts  # type: ignore[assignment]
    counts = values[place]
    if signature.arguments[place].written or len(set(map(_identity, counts))) > 1:
        return values
    return [*values[:place], counts[:1], *values[place + 1 :]]


def _firsts(signature: Signature, values: list[Any]) -> list[int]:
    """For each position of the lists of a call, the first position with the same operands."""
    slots = [(s, v) for s, v in zip(signature.arguments, values, strict=True) if v is not None]
    lists = [v for s, v in slots if s.kind in ("tensors", "numbers")]
    alone = [*range(len(lists[0]))]
    if signature.returns not in _RETURNS or any(len(v) != len(alone) for v in lists) or "scalars" in signature.names:
        return alone
    tensors = [(s, v if s.kind == "tensors" else [v]) for s, v in slots if s.kind in ("tensors", "tensor")]
    try:
        written = [id(cell_of(x).memory) for s, v in tensors if s.written for x in v]
        read = {id(cell_of(x).memory) for s, v in tensors if not s.written for x in v}
    except RuntimeError:  # a tensor on the CPU
        return alone
    if len(set(written)) < len(written) or not read.isdisjoint(written):  # an element reads what another one writes
        return alone
    first: dict[Any, int] = {}
    return [first.setdefault(tuple(map(_identity, each)), i) for i, each in enumerate(zip(*lists, strict=True))]


def _identity(operand: Any) -> Any:
    """A key that is the same for equal numbers, and for 0-d tensors on one array."""
    if not isinstance(operand, torch.Tensor):
        return repr(operand) if type(operand) in (int, float, bool, complex) else id(operand)
    cell = cell_of(operand)
    if cell.aval.shape or not covers_array(operand, cell):
        return id(operand)
    return id(cell.content if cell.pending is None else cell.pending)


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    return new_tensor(cell_of(tensor).copied(), tensor.size(), tensor.dtype)
