"""Where each call of a program finds the cells of its run, and what must be as it was then."""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..device import moves
from ..device.cell import Cell, Kind, cell_of
from . import hooks
from .guard import Guard
from .hooks import hooks_of, tables_of
from .host import HostCall, peek
from .places import Place
from .results import Outside, is_ours
from .run import Leaf, Run
from .watch import Watch

_requires_grad, _grad = attrgetter("requires_grad"), attrgetter("grad")


@dataclass(slots=True)
class Slot:
    """A place where every call finds another tensor of the same geometry: a gradient, a buffer that is set anew."""

    path: str
    fetch: Callable[[Sequence[Any]], Any]  # of the call's leaves
    kind: Kind
    geometry: tuple[Any, ...]

    def cell(self, leaves: Sequence[Any]) -> Cell | None:
        """The cell of the tensor that is there now; None when it is not as it was."""
        try:
            tensor = self.fetch(leaves)
            cell = tensor.untyped_storage().cell
        except (AttributeError, KeyError, IndexError, ValueError):
            return None
        return cell if cell.kind is self.kind and _geometry(tensor) == self.geometry else None


def _geometry(tensor: torch.Tensor) -> tuple[Any, ...]:
    bits = tensor.is_conj(), tensor.is_neg()
    return tensor.size(), tensor.stride(), tensor.storage_offset(), tensor.dtype, tensor.requires_grad, bits


def _slot(path: str, fetch: Callable[[Sequence[Any]], Any], tensor: torch.Tensor) -> Slot:
    return Slot(path, fetch, cell_of(tensor).kind, _geometry(tensor))


class Binding:
    """The cells that a run read or wrote, each with what finds it in another call: a slot, a tensor that stays, an
    argument, or else a tensor that nothing names and that must live on."""

    def __init__(self, run: Run, watch: Watch, leaves: list[Any]) -> None:
        """`leaves` are those of the call, `watch` what must be the same for another one."""
        used = {id(c) for c in run.closed.consts}
        involved = dict.fromkeys(c for c, a in run.trace.lifted.items() if id(a) in used)
        involved.update(dict.fromkeys([*run.written, *run.late]))
        involved.update(dict.fromkeys(cell_of(o.like) for o in run.outside if o.like is not None))
        arguments: dict[Cell, int] = {}
        for i, leaf in enumerate(leaves):
            if is_ours(leaf):
                arguments.setdefault(cell_of(leaf), i)
        stays = {cell_of(t): (path, t) for path, t in run.watch.tensors.values() if is_ours(t)}
        slots, changing, others = self._find_slots(run, involved)
        owned = [c for c in involved if c not in slots and c in stays]
        slotted = [c for c in involved if c in slots]
        given = [c for c in involved if c not in slots and c not in stays and c in arguments]
        rest = [c for c in involved if c not in slots and c not in stays and c not in arguments]
        cells = [*owned, *slotted, *given, *rest]
        self.index = next((c.index for c in cells), run.index)
        self.owned, self.owned_set = owned, set(owned)
        self.moves = -1  # the count of moves at which the owners were found to have these cells
        self.owners = [stays[c][1] for c in owned]
        self.paths = [stays[c][0] for c in owned]
        self.requires_grad = [t.requires_grad for t in self.owners] if torch.is_grad_enabled() else None
        self.slots = [slots[c] for c in slotted]
        self.given = [arguments[c] for c in given]
        self.rest = [weakref.ref(c) for c in rest]
        at = {c: i for i, c in enumerate(cells)}
        self.alike = [(slot, at[c]) for slot, c in others if c in at]
        pinned = [(i, cell_of(x)) for i, x in enumerate(leaves) if is_ours(x)]
        by_argument = dict(zip(given, self.given, strict=True))
        self.pinned = [(i, at[c]) for i, c in pinned if c in at and c not in by_argument]
        sources = [(o, self._source(o, slots, changing, by_argument)) for o in run.outside]
        self.outside = [(o, source) for o, source in sources if source is not None]
        for described, _ in self.outside:
            described.like = None  # it would keep the array of the first call
        self.script, self.asked = run.host.script, run.host.guards
        self.reached = [(t, t._version) for t in run.spy.reached]
        free = self.slotted | {(id(n.group), n.key) for n in self.script if not isinstance(n, HostCall)}
        self.guard = Guard(watch, free)

    def _find_slots(
        self, run: Run, involved: Container[Cell]
    ) -> tuple[dict[Cell, Slot], dict[int, Slot], list[tuple[Slot, Cell]]]:
        """The slots of cells that change with the places that hold them, the slots by the ids of the tensors in them,
        and further slots, whose tensors must go on sharing a cell with another."""
        slots: dict[Cell, Slot] = {}
        changing: dict[int, Slot] = {}
        others: list[tuple[Slot, Cell]] = []
        self.slotted: set[tuple[int, Any]] = set()

        def add(path: str, fetch: Callable[[Sequence[Any]], Any], old: torch.Tensor) -> None:
            cell, slot = cell_of(old), _slot(path, fetch, old)
            changing.setdefault(id(old), slot)
            if slots.setdefault(cell, slot) is not slot:
                others.append((slot, cell))

        for place, _ in run.effects:
            old = run.watch.before(place)
            if is_ours(old):
                self.slotted.add((id(place.container), place.key))
                add(place.path, _fetch(place), old)
        for place in (later.place for later in run.later):
            old = pytree.tree_leaves(run.watch.before(place))
            if all(is_ours(x) and cell_of(x) not in run.trace.lifted for x in old):  # which the run did not read
                self.slotted.add((id(place.container), place.key))
        for leaf, _ in run.data:
            add("a tensor whose .data is set", partial(at_leaf, leaf), at_leaf(leaf, run.leaves))
        touched = {id(g.leaf) for g in run.gradients if not isinstance(g.leaf, int)}
        touched |= {id(run.leaves[g.leaf]) for g in run.gradients if isinstance(g.leaf, int)}
        numbers = {id(x): i for i, x in enumerate(run.leaves)}
        # Arguments, whether they had no gradient, and their hooks.
        self.pattern: list[tuple[int, bool, list[Any]]] = []
        self.graded: list[torch.Tensor] = []  # tensors that stay, and the same of them
        self.ungraded: list[bool] = []
        for tensor, gradient in run.before.values():
            leaf = numbers.get(id(tensor), tensor)
            if is_ours(gradient) and cell_of(gradient) in involved:
                add("a gradient", _gradient(leaf), gradient)
            elif id(tensor) not in touched and id(tensor) not in run.reads.gradients:
                continue
            if isinstance(leaf, int):
                self.pattern.append((leaf, gradient is None, hooks_of(tensor)))
            else:
                self.graded.append(leaf)
                self.ungraded.append(gradient is None)
        self.hooks = -1  # the count of hooks at which these tensors were found to have no more dicts of them
        self.tables = [len(tables_of(t)) for t in self.graded]
        data = {id(at_leaf(leaf, run.leaves)) for leaf, _ in run.data}
        for tensor in run.watch.staying(self.slotted):
            if is_ours(tensor) and id(tensor) not in data and (slot := slots.pop(cell_of(tensor), None)) is not None:
                others.append((slot, cell_of(tensor)))  # its place must go on having the cell that stays
        return slots, changing, others

    @staticmethod
    def _source(
        described: Outside, slots: dict[Cell, Slot], changing: dict[int, Slot], given: dict[Cell, int]
    ) -> Callable[[Sequence[Any]], Any] | None:
        """What fetches, in each call, the tensor in whose place a described one is; None where its cell stays."""
        assert described.like is not None
        cell = cell_of(described.like)
        if described.found:
            return changing[id(described.like)].fetch if cell in slots and id(described.like) in changing else None
        if cell in slots:
            return slots[cell].fetch
        return partial(at_leaf, given[cell]) if cell in given else None

    def find(self, leaves: list[Any]) -> list[Cell] | str:
        """The cells of a call, or why the program does not stand for it."""
        reason = self.guard.failure()
        if reason is not None:
            return reason
        if self.asked.asked and not self.asked.hold(peek(self.script)):
            return "a number of an optimizer's group, on which a choice depends, has changed"
        if any(t._version != version for t, version in self.reached):
            return "a tensor on the CPU was written"
        if self.moves != (count := moves.count):
            now = [getattr(t.untyped_storage(), "cell", None) for t in self.owners]
            if now != self.owned:
                i = next(i for i, c in enumerate(now) if c is not self.owned[i])
                return f"{self.paths[i]} has other data (.data was set, or it was swapped or moved)"
            self.moves = count
        cells = self.owned.copy()
        if self.requires_grad is not None and [*map(_requires_grad, self.owners)] != self.requires_grad:
            i = next(i for i, t in enumerate(self.owners) if t.requires_grad != self.requires_grad[i])
            return f"{self.paths[i]}.requires_grad was {self.requires_grad[i]} and is {not self.requires_grad[i]}"
        if (now := [g is None for g in map(_grad, self.graded)]) != self.ungraded:
            return _regraded(next(none for none, is_none in zip(self.ungraded, now, strict=True) if none != is_none))
        if self.hooks != (count := hooks.count):
            if [len(tables_of(t)) for t in self.graded] != self.tables:
                return "a hook was registered on a tensor"
            self.hooks = count
        for i, none, hooked in self.pattern:
            if hooks_of(leaves[i]) != hooked:
                return f"argument {i} has other hooks"
            if (leaves[i].grad is None) is not none:
                return _regraded(none)
        fixed = self.owned_set
        found: set[Cell] = set()
        for slot in self.slots:
            cell = slot.cell(leaves)
            if cell is None or cell in fixed or cell in found:
                return f"{slot.path} is not the tensor that it was, or one like it"
            found.add(cell)
            cells.append(cell)
        for i in self.given:
            cell = leaves[i].untyped_storage().cell
            if cell in fixed or cell in found:
                return f"argument {i} shares memory with another tensor"
            cells.append(cell)
        for reference in self.rest:
            cell = reference()
            if cell is None:
                return "a tensor that the function used is gone"
            cells.append(cell)
        for slot, place in self.alike:
            if slot.cell(leaves) is not cells[place]:
                return f"{slot.path} does not share the memory that it shared"
        for i, place in self.pinned:
            if leaves[i].untyped_storage().cell is not cells[place]:
                return f"argument {i} does not share the memory that it shared"
        return cells


def _regraded(none: bool) -> str:
    return f"a gradient was {'' if none else 'not '}None and is {'not ' if none else ''}None"


def at_leaf(leaf: Leaf, leaves: Sequence[Any]) -> torch.Tensor:
    return leaves[leaf] if isinstance(leaf, int) else leaf


def _gradient(leaf: Leaf) -> Callable[[Sequence[Any]], Any]:
    return lambda leaves: at_leaf(leaf, leaves).grad


def _fetch(place: Place) -> Callable[[Sequence[Any]], Any]:
    container, key = place.container, place.key
    if isinstance(container, types.CellType):
        return lambda leaves: container.cell_contents
    return lambda leaves: container[key]
