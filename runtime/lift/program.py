"""A lifted program: one run of a function as one XLA program, and what a call of it does on the host.

The arrays that the run read are inputs; those that it wrote are outputs and take the place of the old ones, which are
donated when nobody else holds them. What the run changed in Python is done again by every call.
"""

from __future__ import annotations

import math
import types
import weakref
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import compress, islice, repeat
from operator import attrgetter, is_
from sys import getrefcount
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ..device import moves
from ..device.cell import Cell, Kind, cell_of, materialise, put, tensor_kind, wrap, writes
from ..device.convert import read
from ..dispatch.call import Lease, call
from ..dtypes import torch_dtype
from ..tracing.deferred import defer, verify
from . import hooks
from .direct import Direct
from .hooks import hooks_of, tables_of
from .host import HostCall, peek, play
from .joint import Jaxpr, Literal, after, applied, before, live, split
from .results import Maker, Outside, Ref
from .run import Leaf, Run, is_ours
from .watch import SEQUENCES, Guard, Place, Watch, refill

_SMALL = 64  # elements of a constant that is compared by value
_requires_grad, _grad = attrgetter("requires_grad"), attrgetter("grad")
_increment = torch.autograd.graph.increment_version


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


class Program:
    """One run of a function, compiled."""

    def __init__(self, run: Run, watch: Watch, leaves: list[Any], share: Sequence[Program] = ()) -> None:
        """`leaves` are those of the call, `watch` what must be the same for another one; a program of `share` that
        computes the same lends its executables."""
        self.result, self.effects, self.gradients, self.data = run.result, run.effects, run.gradients, run.data
        self.jaxpr = run.closed.jaxpr
        self.fills, self.draws, self.script = run.fills, run.draws, run.host.script
        self.asked = run.host.guards
        self.outputs, self.givers = run.outputs, run.givers
        self.conditions = run.conditions
        self.grad = bool(run.differentiable) and torch.is_grad_enabled()
        self.wrt, self.differentiable = run.wrt, [ref for _, ref in run.differentiable]
        self._connect(run, self._place(run, leaves))
        free = self.slotted | {(id(n.group), n.key) for n in self.script if not isinstance(n, HostCall)}
        self.guard = Guard(watch, free)
        self._compile(share)

    def _place(self, run: Run, leaves: list[Any]) -> list[Cell]:
        """Find where each call finds the cells that the run read or wrote, which are given: in a slot, with a tensor
        that stays, with an argument, or else with a tensor that nothing names and that must live on."""
        used = {id(c) for c in run.closed.consts}
        involved = dict.fromkeys(c for c, a in run.trace.lifted.items() if id(a) in used)
        involved.update(dict.fromkeys(run.written))
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
        self.reads = sorted(at[c] for c, a in run.trace.lifted.items() if id(a) in used)
        self.in_order = self.reads == list(range(len(cells)))
        self.alike = [(slot, at[c]) for slot, c in others if c in at]
        pinned = [(i, cell_of(x)) for i, x in enumerate(leaves) if is_ours(x)]
        by_argument = dict(zip(given, self.given, strict=True))
        self.pinned = [(i, at[c]) for i, c in pinned if c in at and c not in by_argument]
        sources = [(o, self._source(o, slots, changing, by_argument)) for o in run.outside]
        self.outside = [(o, source) for o, source in sources if source is not None]
        for described, _ in self.outside:
            described.like = None  # it would keep the array of the first call
        self.writes = [at[c] for c in run.written]
        # The arrays of the owned cells that are read, once a call has found them as the last one left them.
        self.kept: list[jax.Array] | None = None
        self.keeping = False  # whether `writes` knows of it
        self.seen = -1  # the count of writes when the last call ended
        self.keeps = sum(place < len(owned) for place in self.reads)
        # Where they are after a call, among the arrays that it wrote and then those that it read.
        renewed = {place: n for n, place in enumerate(self.writes)}
        self.keep_from = [renewed.get(place, len(renewed) + i) for i, place in enumerate(self.reads[: self.keeps])]
        self.resizes = any(c.kind is not k for c, k in zip(run.written, run.kinds, strict=True))
        self.changed = [t for t, c in zip(self.owners, owned, strict=True) if at[c] in set(self.writes)]
        self.changed_given = [arguments[c] for c in given if at[c] in set(self.writes)]
        changes = self.changed, self.changed_given, self.effects, self.data, self.gradients
        self.alters = any(changes) or bool(self.outside) or self.grad
        self.wrt_at = [None if isinstance(x, Ref) else at.get(cell_of(_at(x, run.leaves))) for x in self.wrt]
        return cells

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

        for place, _ in self.effects:
            old = run.watch.before(place)
            if is_ours(old):
                self.slotted.add((id(place.container), place.key))
                add(place.path, _fetch(place), old)
        for leaf, _ in self.data:
            add("a tensor whose .data is set", partial(_at, leaf), _at(leaf, run.leaves))
        touched = {id(g.leaf) for g in self.gradients if not isinstance(g.leaf, int)}
        touched |= {id(run.leaves[g.leaf]) for g in self.gradients if isinstance(g.leaf, int)}
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
        data = {id(_at(leaf, run.leaves)) for leaf, _ in self.data}
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
        return partial(_at, given[cell]) if cell in given else None

    def _connect(self, run: Run, cells: list[Cell]) -> None:
        """Find out what each constant of the jaxpr stands for."""
        known: dict[int, tuple[str, int]] = {}
        lifted = [run.trace.lifted[cells[i]] for i in self.reads]
        for kind, arrays in (
            ("number", run.host.known),
            ("key", run.draws.order()),
            ("cell", lifted),
            ("cotangent", run.cotangents),
            ("upload", run.spy.known),
        ):
            known.update({id(a): (kind, i) for i, a in enumerate(arrays)})
        self.sources = [known.get(id(c)) for c in run.closed.consts]
        self.constants = [c if s is None else None for c, s in zip(run.closed.consts, self.sources, strict=True)]
        self.uploads, self.reached = run.spy.uploads, [(t, t._version) for t in run.spy.reached]
        self.numbered, self.keyed = bool(run.host.known), bool(run.draws.known)
        self.hosted = bool(self.script or self.keyed or self.uploads)

    def _compile(self, share: Sequence[Program]) -> None:
        jaxpr, outputs = self.jaxpr, self.outputs
        cotangents = {i for i, s in enumerate(self.sources) if s and s[0] == "cotangent"}
        self.forward: Direct
        self.backward: Direct | None = None
        forward, reads = jaxpr, range(len(self.reads))
        self.saved: list[int] = []  # the positions of the arrays that backward reads, too
        if self.wrt and cotangents:
            forward, backward, residuals = split(jaxpr, outputs, cotangents)
            used = {v for e in backward.eqns for v in e.invars if v.__class__ is not Literal} | set(backward.outvars)
            places = zip(self.sources, jaxpr.constvars, strict=True)
            self.saved = sorted({s[1] for s, v in places if s and s[0] == "cell" and v in used})
            function = self._function(backward, self.saved, len(cotangents), residuals)
            self.backward = Direct(function, (), bool(jaxpr.effects))
        elif cotangents:
            forward = before(jaxpr, outputs, cotangents)
        written = set(self.writes)
        self.donated = [i for i, place in enumerate(self.reads) if place in written and i not in self.saved]
        needed = live(jaxpr, jaxpr.outvars[outputs:])
        places = zip(self.sources, jaxpr.constvars, strict=True)
        self.needed = sorted({s[1] for s, v in places if s and s[0] == "cell" and v in needed})
        self.recomputed = [i for i in self.needed if i not in self.saved]
        saved = {self.reads[i] for i in self.saved}
        self.saves = [place in saved for place in self.wrt_at]
        for other in share:
            if self._computes_as(other):
                self.forward, self.backward = other.forward, other.backward
                return
        first = self.numbered + self.keyed + len(self.uploads)
        self.forward = Direct(self._function(forward, reads), [first + i for i in self.donated], bool(jaxpr.effects))

    def _function(
        self, jaxpr: Jaxpr, reads: Sequence[int], cotangents: int = 0, residuals: int = 0
    ) -> Callable[..., Any]:
        """The function of the words of the numbers, the keys, cotangents, residuals, and the arrays of the cells at the
        positions `reads`."""
        sources, constants, numbered, keyed = self.sources, self.constants, self.numbered, self.keyed
        uploads = len(self.uploads)

        def program(*operands: jax.Array) -> Any:
            rest = iter(operands)
            given: dict[tuple[str, int], Any] = {}

            def give(kind: str, arrays: Any, places: Sequence[int] | None = None) -> None:
                given.update({(kind, i): a for i, a in zip(places or range(len(arrays)), arrays, strict=True)})

            if numbered:
                with jax.enable_x64(True):
                    give("number", jax.lax.bitcast_convert_type(next(rest), np.float64))
            if keyed:
                give("key", next(rest))
            give("upload", list(islice(rest, uploads)))
            give("cotangent", list(islice(rest, cotangents)))
            saved = list(islice(rest, residuals))
            give("cell", list(rest), reads)
            consts = [c if s is None else given.get(s) for s, c in zip(sources, constants, strict=True)]
            return applied(jaxpr, consts, saved)

        return program

    @cached_property
    def gradient(self) -> Lease:
        """The gradients, as a function of what `_function` takes and the arrays at `needed`: forward is done again."""
        cotangents = {i for i, s in enumerate(self.sources) if s and s[0] == "cotangent"}
        joint = after(self.jaxpr, self.outputs)
        function = self._function(joint, self.needed, len(cotangents))
        return Lease(lambda *xs: tuple(function(*xs)), lambda: self)

    def _computes_as(self, other: Program) -> bool:
        """Whether the other's executable does for this program."""
        return (
            self.sources == other.sources
            and self.donated == other.donated
            and self.outputs == other.outputs
            and len(self.uploads) == len(other.uploads)
            and all(map(_equal, self.constants, other.constants))
            and self.text == other.text
        )

    @cached_property
    def text(self) -> str:
        """The jaxpr as text."""
        return str(self.jaxpr)

    # -- a call ------------------------------------------------------------------------------------------------------

    def bind(self, leaves: list[Any]) -> list[Cell] | str:
        """The cells of a call, or why the program does not stand for it."""
        reason = self.guard.failure()
        if reason is not None:
            return reason
        if self.asked.asked and not self.asked.hold(peek(self.script)):
            return "a number of an optimizer's group, on which a choice depends, has changed"
        if any(t._version != version for t, version in self.reached):
            return "a tensor on the CPU was written"
        if self.moves != (count := moves.count):
            now = [t.untyped_storage().cell for t in self.owners]  # type: ignore[attr-defined]
            if now != self.owned:
                i = next(i for i, c in enumerate(now) if c is not self.owned[i])
                return f"{self.paths[i]} has other data (.data was set, or it was swapped)"
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

    def call(self, leaves: list[Any], cells: list[Cell]) -> Any:
        """Run the program on the cells that `bind` gave."""
        still = self.seen == writes.count
        arrays, quick = self._arrays(cells, still)
        if self.donated:
            self._keep_for_others(arrays, cells, quick)
        verify()
        first = self._from_host(leaves) if self.hosted else []
        results = self.forward([*first, *arrays] if first else arrays)
        fresh = iter(results)
        held = [next(fresh) if f is None else f for f in self.fills]
        maker = Maker(held, leaves, self.index)
        new: list[jax.Array] = []
        if self.writes:
            new = list(islice(fresh, len(self.writes)))
            self._write(cells, new)
        self.seen = writes.count
        if still and quick and not self.resizes:
            self._keep(arrays, new)
        if self.conditions:
            defer(next(fresh), self.conditions)
        if self.alters:
            self._alter(maker, leaves, first, arrays, list(fresh))
        return maker.make(self.result)

    def _keep_for_others(self, arrays: list[jax.Array], cells: list[Cell], quick: bool) -> None:
        """Copy the arrays that are about to be donated and that somebody else holds."""
        if writes.keepers:
            writes.release()
        # Held by the cell, as `held` and `value`, by `arrays` and by `map`: what others hold too is not given away.
        if quick and max(map(getrefcount, map(arrays.__getitem__, self.donated))) <= 4:
            return
        for i in self.donated:
            if getrefcount(arrays[i]) > 3 + (cells[self.reads[i]].value is not None):
                arrays[i] = jnp.array(arrays[i], copy=True)

    def _write(self, cells: list[Cell], new: list[jax.Array]) -> None:
        for i, array in zip(self.writes, new, strict=True):
            cell = cells[i]
            if self.resizes or cell.value is None:
                cell.write(array)
            else:
                cell.held = cell.value = array
        writes.note()

    def _alter(self, maker: Maker, leaves: list[Any], first: Any, arrays: Any, residuals: list[jax.Array]) -> None:
        """Repeat what the run changed besides arrays: versions, the graph, Python's places, data, gradients."""
        for described, source in self.outside:
            maker.known[described] = described.on(source(leaves))
        if self.changed:
            _increment(self.changed)
        if self.changed_given:
            _increment([leaves[i] for i in self.changed_given])
        if self.grad:
            self._differentiate(maker, leaves, first, arrays, residuals)
        for place, value in self.effects:
            _put(place, None if value is None else maker.make(value), value is None)
        for leaf, data in self.data:
            _at(leaf, leaves).data = maker.make(data)
        for leaf, value in self.gradients:
            _at(leaf, leaves).grad = None if value is None else maker.make(value)

    def release(self) -> None:
        """Keep no arrays, see `Keeper`."""
        self.kept, self.keeping = None, False

    def _keep(self, arrays: list[jax.Array], new: list[jax.Array]) -> None:
        """Keep the arrays that a call read, with those that it put in their place."""
        self.kept = [*map([*new, *arrays].__getitem__, self.keep_from)] if new else arrays[: self.keeps]
        if not self.keeping:
            self.keeping = True
            writes.keepers.append(weakref.ref(self))

    def _arrays(self, cells: list[Cell], still: bool) -> tuple[list[jax.Array], bool]:
        """The arrays that are read, and whether all of them are made and at hand; `still`: none was replaced."""
        kept, self.kept = self.kept, None
        if kept is None or not still:
            kept = []
        reads = cells if self.in_order and not kept else [cells[i] for i in self.reads[len(kept) :]]
        found = [c.value for c in reads]
        quick = not any(map(is_, found, repeat(None)))
        kept += found if quick else [c.read() for c in reads]  # type: ignore[arg-type]
        return kept, quick

    def _from_host(self, leaves: list[Any]) -> list[jax.Array]:
        """What the host passes to a call, after it did its part of it."""
        found = []
        numbers = play(self.script)
        if self.numbered:
            found.append(put(np.asarray(numbers, np.float64).view(np.uint32).reshape(-1, 2), self.index))
        if self.keyed:
            found.append(put(self.draws.keys(), self.index))
        return found + [upload.array(leaves) for upload in self.uploads]

    def _differentiate(self, maker: Maker, leaves: Any, first: Any, arrays: Any, residuals: list[jax.Array]) -> None:
        """Give the results that autograd follows a place in its graph."""
        refs = self.differentiable
        tensors = [maker.tensor(r) for r in refs]
        wrt = [maker.tensor(x) if isinstance(x, Ref) else _at(x, leaves) for x in self.wrt]
        wrt = wrt or [torch.empty(0, device="jax", requires_grad=True)]
        saved = (*residuals, *(arrays[i] for i in self.saved))
        others = [weakref.ref(arrays[i]) for i in self.recomputed]
        for ref, tensor in zip(refs, Joined.apply(self, first, saved, others, tensors, *wrt), strict=True):
            maker.known[ref] = tensor


class Joined(torch.autograd.Function):
    """The results of a program, whose gradient is the program's backward part."""

    @staticmethod
    def forward(ctx: Any, program: Program, first: Any, saved: Any, others: Any, tensors: Any, *wrt: Any) -> Any:
        """The tensors, as results of the leaves."""
        ctx.program, ctx.first, ctx.saved, ctx.others = program, first, saved, others
        ctx.wrt = wrt
        ctx.save_for_backward(*wrt)  # whose versions a second derivative checks
        ctx.versions = [(t, t._version) for t in compress(wrt, program.saves)]
        ctx.kinds = [tensor_kind(t.size(), t.dtype) for t in tensors]
        ctx.set_materialize_grads(False)
        return tuple(tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> Any:
        """The gradients of the leaves; None of those that no result with a gradient was computed from, unless hooks
        may wait for one."""
        program = ctx.program
        if program.backward is None:
            raise RuntimeError(
                "Trying to backward through the graph a second time (or directly access saved tensors after they have "
                "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
                "if you need to access saved tensors after calling backward."
            )
        for tensor, version in ctx.versions:
            if tensor._version != version:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an inplace operation: "
                    f"[torch.jax.{tensor.type().rpartition('.')[2]} {list(tensor.shape)}] is at version "
                    f"{tensor._version}; expected version {version} instead."
                )
        found: Iterator[torch.Tensor]
        if torch.is_grad_enabled():
            found = iter(_differentiable(ctx, gradients))
        else:
            kinds = zip(gradients, ctx.kinds, strict=True)
            given = [materialise(kind.zeros, program.index) if g is None else read(g) for g, kind in kinds]
            found = (wrap(a, program.index) for a in program.backward([*ctx.first, *given, *ctx.saved]))
        present = {i for i, g in enumerate(gradients) if g is not None}
        wanted: list[torch.Tensor | None] = []
        for leaf, givers in zip(ctx.wrt, program.givers, strict=True):
            gradient = next(found) if givers else None
            waits = present & givers or not leaf.is_leaf or hooks_of(leaf)
            wanted.append(gradient if waits else None)
        return None, None, None, None, None, *wanted


def _differentiable(ctx: Any, gradients: Sequence[torch.Tensor | None]) -> list[torch.Tensor]:
    """The gradients as a function of the leaves and the given gradients, which is differentiated in its turn.

    Raises:
        RuntimeError: an array that forward read is gone.
        NotImplementedError: a leaf was made within the function, or shares its memory with others.
    """
    program, index = ctx.program, ctx.program.index
    arrays = dict(zip(program.saved, ctx.saved[len(ctx.saved) - len(program.saved) :], strict=True))
    arrays |= {i: reference() for i, reference in zip(program.recomputed, ctx.others, strict=True)}
    leaves = dict(zip(program.wrt_at, ctx.saved_tensors, strict=True))
    if None in leaves or len(leaves) < len(program.wrt_at):
        raise NotImplementedError(
            "a second derivative of a compiled function by a tensor that was made in it, or that shares its memory "
            "with another; expected arguments and parameters with memory of their own"
        )
    operands = []
    for i in program.needed:
        leaf, array = leaves.get(program.reads[i]), arrays[i]
        if leaf is not None:
            operands.append(_base(leaf))
        elif array is None or array.is_deleted():
            raise RuntimeError(
                "a second derivative of a compiled function computes forward again, and what it read there was "
                "overwritten or let go; keep its arguments, and differentiate before the next call"
            )
        else:
            operands.append(wrap(array, index))
    kinds = zip(gradients, ctx.kinds, strict=True)
    given = [wrap(materialise(kind.zeros, index), index) if g is None else g for g, kind in kinds]
    return call(program.gradient.number, [*(wrap(x, index) for x in ctx.first), *given, *operands])


def _base(leaf: torch.Tensor) -> torch.Tensor:
    """A tensor as the array of its cell has it: of the same elements, in the order of memory."""
    kind = cell_of(leaf).kind
    if leaf.size() == kind.shape and leaf.stride() == kind.stride and leaf.dtype is torch_dtype(kind.dtype):
        return leaf
    if leaf.numel() != math.prod(kind.shape) or leaf.dtype is not torch_dtype(kind.dtype) or leaf.is_conj():
        raise NotImplementedError(
            "a second derivative of a compiled function by a part of a tensor; expected one that is all of its memory"
        )
    return leaf.as_strided(kind.shape, kind.stride, 0)


def _equal(a: Any, b: Any) -> bool:
    return a is b or (np.size(a) <= _SMALL and np.array_equal(a, b))


def _regraded(none: bool) -> str:
    return f"a gradient was {'' if none else 'not '}None and is {'not ' if none else ''}None"


def _at(leaf: Leaf, leaves: Sequence[Any]) -> torch.Tensor:
    return leaves[leaf] if isinstance(leaf, int) else leaf


def _gradient(leaf: Leaf) -> Callable[[Sequence[Any]], Any]:
    return lambda leaves: _at(leaf, leaves).grad


def _fetch(place: Place) -> Callable[[Sequence[Any]], Any]:
    container, key = place.container, place.key
    if isinstance(container, types.CellType):
        return lambda leaves: container.cell_contents
    return lambda leaves: container[key]


def _put(place: Place, value: Any, gone: bool) -> None:
    container, key = place.container, place.key
    if isinstance(container, types.CellType):
        container.cell_contents = value
    elif isinstance(container, SEQUENCES):
        refill(container, value)
    elif gone:
        container.pop(key, None)
    else:
        container[key] = value
