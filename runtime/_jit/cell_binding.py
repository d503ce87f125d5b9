"""How each call of a compiled step finds the cells that the traced run read or wrote."""

from __future__ import annotations

import weakref
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from .._torch import pytree
from ..storage.avals import Aval
from ..storage.cell import Cell
from ..storage.spec import TensorSpec
from ..storage.tensors import cell_of, covers_array
from .outputs import AliasOfInput, is_device_tensor
from .rebound_state import ReboundState
from .restriction import Restriction
from .sources import EntryId, Fetch, TensorSource, fetch_entry, tensor_at
from .traced_step import TracedStep
from .wrappers import part_at, parts_of, wrapping


def _autograd(tensor: torch.Tensor) -> int:
    return tensor.requires_grad and 1 + tensor.is_leaf


@dataclass(frozen=True, slots=True)
class RebindSlot:
    """A place that may hold another tensor of the same geometry in every call: a gradient, a reassigned attribute."""

    path: str
    fetch: Fetch
    aval: Aval
    spec: TensorSpec
    autograd: int  # 0 if the tensor requires no gradient, 2 for a leaf that does, and 1 for others
    whole: bool  # whether the tensor covers all of its cell's array, which is quicker to compare

    def cell(self, arguments: Sequence[Any]) -> Cell | None:
        """The cell of the tensor that is there now; None if the tensor does not match."""
        try:
            tensor = self.fetch(arguments)
            cell = tensor.untyped_storage().cell
        except (AttributeError, KeyError, IndexError, ValueError):
            return None
        if cell.aval is not self.aval or _autograd(tensor) != self.autograd:
            return None
        same = covers_array(tensor, cell) if self.whole else TensorSpec.of(tensor) == self.spec
        return cell if same else None

    def mismatch(self, arguments: Sequence[Any]) -> str:
        """Why `cell` found none."""
        try:
            tensor = self.fetch(arguments)
        except (AttributeError, KeyError, IndexError, ValueError):
            return f"{self.path} is gone"
        if isinstance(tensor, torch.Tensor):
            was, now = (f"{str(t.dtype)[6:]}{[*t.size]}" for t in (self.spec, TensorSpec.of(tensor)))
            if was != now:
                return f"{self.path} was {was} and is {now}"
        return f"{self.path} is not the tensor that it was, or one like it"


@dataclass(slots=True)
class Slots:
    """The places where each call may find another tensor."""

    of_cells: dict[Cell, RebindSlot] = field(default_factory=dict)
    of_tensors: dict[int, RebindSlot] = field(default_factory=dict)  # by the id of the traced tensor
    sharing: list[tuple[RebindSlot, Cell]] = field(default_factory=list)  # their tensors must keep sharing a cell
    entries: set[EntryId] = field(default_factory=set)  # the entries of containers among these places
    read: list[tuple[RebindSlot, Cell]] = field(default_factory=list)  # the run read their tensors, maybe not the data
    # The device tensors that the run could read and that are the same in every call, with their paths.
    stable: list[tuple[str, torch.Tensor]] = field(default_factory=list)

    def add(self, path: str, fetch: Fetch, tensor: torch.Tensor, read: bool) -> None:
        """Add the place of a tensor."""
        cell = cell_of(tensor)
        spec, whole = TensorSpec.of(tensor), covers_array(tensor, cell)
        slot = RebindSlot(path, fetch, cell.aval, spec, _autograd(tensor), whole)
        self.of_tensors.setdefault(id(tensor), slot)
        if read:
            self.read.append((slot, cell))
        if self.of_cells.setdefault(cell, slot) is not slot:
            self.sharing.append((slot, cell))


def find_slots(
    step: TracedStep, involved: Container[Cell], leaves: set[int], restriction: Restriction, rebound: ReboundState
) -> Slots:
    """Find the places that a run changed whose tensors are on cells that it read or wrote; `leaves` are the ids of the
    tensors of which more than the data matters."""
    slots, arguments, effects = Slots(entries={*rebound.entries}), step.arguments, step.effects
    for path, fetch, held in rebound.tensors.values():
        slots.add(path, fetch, held, read=True)
    # A tensor that another place holds too is found there, so it cannot be replaced by another one here.
    changed = {source.entry for source, *_ in effects.entries} | slots.entries
    staying = {id(t) for t in step.state.staying(changed)} - rebound.tensors.keys()
    for source, *_ in effects.entries:
        old = step.state.before(source)
        written = is_device_tensor(old) and not restriction.observes(source)  # but not read
        if written and id(old) not in leaves and id(old) not in staying:
            slots.entries.add(source.entry)
            slots.add(source.path, fetch_entry(source), old, read=False)
    for late in step.backward.effects if step.backward else ():
        tensors = pytree.tree_leaves(step.state.before(late.source))
        if all(is_device_tensor(x) and cell_of(x) not in step.inputs.cells for x in tensors):  # forward never read them
            slots.entries.add(late.source.entry)
    for tensor, _ in effects.data:
        slots.add("a tensor whose .data is set", partial(tensor_at, tensor), tensor_at(tensor, arguments), True)
    numbers = {id(x): i for i, x in enumerate(arguments)}
    for leaf, gradient in step.gradients:
        for path, part in {} if gradient is None else parts_of(gradient).items():
            if cell_of(part) in involved:
                fetch = _fetch_gradient(numbers.get(id(leaf), leaf), path, wrapping(gradient))
                slots.add("a gradient", fetch, part, False)
    data = {id(tensor_at(tensor, arguments)) for tensor, _ in effects.data}
    staying = {id(t) for t in step.state.staying(slots.entries)} - rebound.tensors.keys()
    for i, (path, tensor) in step.state.reached.tensors.items():
        if i in staying and is_device_tensor(tensor):
            cell = cell_of(tensor)
            if i not in data and cell in slots.of_cells:  # a place that holds the tensor must keep the tensor's cell
                slots.sharing.append((slots.of_cells.pop(cell), cell))
            if i not in slots.of_tensors:
                slots.stable.append((path, tensor))
    return slots


def changed_tensors(step: TracedStep, involved: Container[Cell]) -> set[int]:
    """The ids of the tensors that no other can replace, because more than their data matters: those whose gradient,
    `.data`, geometry or flag the run read or changed, and the leaves of the results' graph; not state that was computed
    outside, whose history each call continues."""
    effects, backward = step.effects, step.backward
    changes = (effects.data, effects.gradients, effects.geometries, effects.flags)
    found = {id(tensor) for kind in changes for tensor, _ in kind if isinstance(tensor, torch.Tensor)}
    found |= {id(x) for x in (backward.leaves if backward else ()) if isinstance(x, torch.Tensor) and x.is_leaf}
    return found | step.reads.gradients | leaves_of_used_gradients(step, involved)


def leaves_of_used_gradients(step: TracedStep, involved: Container[Cell]) -> set[int]:
    """The ids of the leaves whose gradients before the run are inputs or results of it."""
    held = ((leaf, part) for leaf, g in step.gradients if g is not None for part in parts_of(g).values())
    return {id(leaf) for leaf, part in held if cell_of(part) in involved}


def observed_leaves(step: TracedStep, slots: Slots) -> list[tuple[torch.Tensor, torch.Tensor | None]]:
    """The leaves whose gradients the run read or changed, with their gradients before it."""
    changed = {id(tensor_at(effect.tensor, step.arguments)) for effect in step.effects.gradients}
    observed = changed | step.reads.gradients | step.reads.cleared
    return [
        (t, g)
        for t, g in step.gradients
        if id(t) in observed or (g is not None and any(id(part) in slots.of_tensors for part in parts_of(g).values()))
    ]


class CellBinding:
    """The cells of a run in order, and how a call finds each: through a tensor that is the same in every call, a slot,
    or an argument; any other is held weakly and must still be alive."""

    def __init__(
        self,
        step: TracedStep,
        arguments: Sequence[Any],
        slots: Slots,
        involved: Iterable[Cell],
        visited: Container[int],
    ) -> None:
        """
        Args:
            step: the run.
            arguments: the leaves of the arguments of the traced call.
            slots: the places whose tensors change between calls.
            involved: the cells that the run read or wrote, or of which its results are views.
            visited: the ids of the objects that the run read.
        """
        # The first argument on each cell.
        numbers = {cell_of(x): i for i, x in reversed([*enumerate(arguments)]) if is_device_tensor(x)}
        owners = {cell_of(t): (path, t) for path, t in step.state.reached.tensors.values() if is_device_tensor(t)}
        kinds: tuple[list[Cell], ...] = ([], [], [], [])
        for cell in involved:
            kind = 1 if cell in slots.of_cells else 0 if cell in owners else 2 if cell in numbers else 3
            kinds[kind].append(cell)
        self.fixed, slotted, given, rest = kinds
        cells = [cell for kind in kinds for cell in kind]
        self.index = next((c.index for c in cells), step.outputs.device_index)
        self.owners = [owners[c] for c in self.fixed]
        self.slots = [slots.of_cells[c] for c in slotted]
        self.given = [numbers[c] for c in given]
        self.rest = [weakref.ref(c) for c in rest]
        place = {c: i for i, c in enumerate(cells)}
        # Further places and arguments that must share a cell with one of these.
        self.sharing = [(slot, place[c]) for slot, c in slots.sharing if c in place]
        # Places whose tensors the run saw without reading their data: it may have read their shapes.
        self.seen = [slot for slot, c in slots.read if c not in place]
        self.sharing_arguments = [
            (i, place[c])
            for i, c in ((i, cell_of(x)) for i, x in enumerate(arguments) if is_device_tensor(x))
            if c in place and c not in given
        ]
        self._fixed_set = set(self.fixed)
        # An argument is the same one of these tensors in every call, or none of them, as in `x is self.last`.
        known = {id(t): t for _, t in (*slots.stable, *self.owners) if id(t) in visited}
        self._same = [(i, known[id(x)]) for i, x in enumerate(arguments) if id(x) in known]
        self.apart = frozenset(known) - {id(t) for _, t in self._same}  # the ids of tensors that no argument may be
        # The results and effects on outside storages that differ between calls, and what fetches a tensor on these.
        positions = {cell: numbers[cell] for cell in given}
        pairs = [(alias, _source_of(alias, slots, positions)) for alias in step.outputs.aliases]
        self.aliases = [(alias, fetch) for alias, fetch in pairs if fetch is not None]
        for alias, _ in self.aliases:
            alias.like = None  # it would keep the array of the first call alive

    def find(self, arguments: list[Any]) -> list[Cell] | str:
        """The cells of a call for which the guard holds, or the reason why the step does not match it."""
        cells, fixed = self.fixed.copy(), self._fixed_set
        others: set[Cell] = set()
        if self.apart and not self.apart.isdisjoint(map(id, arguments)):
            return "an argument is a tensor that the function also reaches in another way"
        for i, tensor in self._same:
            if arguments[i] is not tensor:
                return f"argument {i} is no longer a tensor that the function also reaches in another way"
        for slot in self.slots:
            cell = slot.cell(arguments)
            if cell is None:
                return slot.mismatch(arguments)
            if cell in fixed or cell in others:
                return f"{slot.path} shares memory with another tensor"
            others.add(cell)
            cells.append(cell)
        for slot in self.seen:
            if slot.cell(arguments) is None:
                return slot.mismatch(arguments)
        for i in self.given:
            cell = arguments[i].untyped_storage().cell
            if cell in fixed or cell in others:
                return f"argument {i} shares memory with another tensor"
            cells.append(cell)
        for reference in self.rest:
            cell = reference()
            if cell is None:
                return "a tensor that the function used is gone"
            cells.append(cell)
        for slot, place in self.sharing:
            if slot.cell(arguments) is not cells[place]:
                return f"{slot.path} does not share the memory that it shared"
        for i, place in self.sharing_arguments:
            if arguments[i].untyped_storage().cell is not cells[place]:
                return f"argument {i} does not share the memory that it shared"
        return cells


def _source_of(alias: AliasOfInput, slots: Slots, given: dict[Cell, int]) -> Fetch | None:
    """The function that fetches, in each call, a tensor on the alias's storage; None if its cell is always the same."""
    assert alias.like is not None
    cell = cell_of(alias.like)
    if alias.found:
        slot = slots.of_tensors.get(id(alias.like))
        return slot.fetch if slot is not None and cell in slots.of_cells else None
    if cell in slots.of_cells:
        return slots.of_cells[cell].fetch
    return partial(tensor_at, given[cell]) if cell in given else None


def involved_cells(step: TracedStep) -> list[Cell]:
    """The cells that the run read or wrote, or of which its results are views, in a fixed order."""
    used = {id(c) for c in step.jaxpr.consts}
    cells = [cell for cell, array in step.inputs.cells.items() if id(array) in used]
    cells += [cell for cell, _ in step.outputs.written]
    cells += [cell for cell, _ in step.outputs.followers]
    cells += step.backward.written if step.backward else ()
    cells += [cell_of(alias.like) for alias in step.outputs.aliases if alias.like is not None]
    return [*dict.fromkeys(cells)]


def _fetch_gradient(source: TensorSource, path: str, like: Any) -> Fetch:
    if like is None:
        return lambda arguments: tensor_at(source, arguments).grad
    return lambda arguments: part_at(tensor_at(source, arguments).grad, path, like)
