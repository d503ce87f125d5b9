"""A lifted program: one run of a function as one XLA program, and what a call of it does on the host.

The arrays that the run read are inputs; those that it wrote are outputs and take the place of the old ones, which are
donated when nobody else holds them. What the run changed in Python is done again by every call.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import islice, repeat
from operator import is_
from sys import getrefcount
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ..device.cell import Cell, cell_of, inverse, passed, transposed, writes
from ..dispatch.call import Lease
from ..dispatch.direct import Direct
from ..errors import TraceError
from ..tracing.deferred import defer, verify
from .binding import Binding, at_leaf
from .host import play
from .joined import Joined
from .joint import Jaxpr, Literal, after, applied, before, live, split
from .layout import Axes, layouts
from .places import SEQUENCES, Place, content_at, refill, same
from .results import Maker, Ref
from .run import Run
from .watch import Watch

_SMALL = 64  # elements of a constant that is compared by value
_PATIENCE = 3  # calls in a row that may lay arrays anew, before a program takes them as others leave them
_increment = torch.autograd.graph.increment_version


class Program:
    """One run of a function, compiled."""

    def __init__(self, run: Run, watch: Watch, leaves: list[Any], share: Sequence[Program] = ()) -> None:
        """`leaves` are those of the call, `watch` what must be the same for another one; a program of `share` that
        computes the same lends its executables.

        Raises:
            RuntimeError: the program does not stand for the call that it was made for.
        """
        self.result, self.effects, self.gradients, self.data = run.result, run.effects, run.gradients, run.data
        self.jaxpr = run.closed.jaxpr
        self.fills, self.draws, self.script = run.fills, run.draws, run.host.script
        self.outputs, self.givers = run.outputs, run.givers
        self.conditions = run.conditions
        self.later, self.later_fills, self.later_index = run.later, run.later_fills, run.later_index
        self.grad = bool(run.differentiable) and torch.is_grad_enabled()
        self.wrt, self.differentiable = run.wrt, [ref for _, ref in run.differentiable]
        self.binding = Binding(run, watch, leaves)
        self.index = self.binding.index
        cells = self.binding.find(leaves)
        if isinstance(cells, str):
            raise RuntimeError(f"tenax.jit: a program does not fit the call that it was made for: {cells}")
        self._place(run, cells)
        self._connect(run, cells)
        lays = not self.wrt and self.index == 0 and jax.default_backend() == "cpu"
        # Of arrays, by their places among the cells, that lie otherwise than their tensors.
        self.axes: dict[int, Axes] = self._layouts(cells) if lays else {}
        self.laid = 0  # calls in a row that had to lay arrays so
        self._compile(share)

    def _place(self, run: Run, cells: list[Cell]) -> None:
        """Note which of the cells are read and written, and what is kept of a call."""
        used = {id(c) for c in run.closed.consts}
        at = {c: i for i, c in enumerate(cells)}
        binding = self.binding
        self.reads = sorted(at[c] for c, a in run.trace.lifted.items() if id(a) in used)
        self.in_order = self.reads == list(range(len(cells)))
        self.writes = [at[c] for c in run.written]
        self.resizes = any(c.kind is not k for c, k in zip(run.written, run.kinds, strict=True))
        self.late = [at[c] for c in run.late]
        self.changed_late = [t for i, t in enumerate(binding.owners) if i in self.late]
        written, first = set(self.writes), len(binding.owned) + len(binding.slots)
        self.changed = [t for i, t in enumerate(binding.owners) if i in written]
        self.changed_given = [argument for i, argument in enumerate(binding.given, first) if i in written]
        changes = self.changed, self.changed_given, self.effects, self.data, self.gradients
        self.alters = any(changes) or bool(binding.outside) or self.grad
        self.wrt_at = [None if isinstance(x, Ref) else at.get(cell_of(at_leaf(x, run.leaves))) for x in self.wrt]
        # The arrays of the owned cells that are read, once a call has found them as the last one left them.
        self.kept: list[jax.Array] | None = None
        self.keeping = False  # whether `writes` knows of it
        self.seen = -1  # the count of writes when the last call ended
        self.keeps = sum(place < len(binding.owned) for place in self.reads)
        # Where they are after a call, among the arrays that it wrote and then those that it read.
        renewed = {place: n for n, place in enumerate(self.writes)}
        self.keep_from = [renewed.get(place, len(renewed) + i) for i, place in enumerate(self.reads[: self.keeps])]

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
        self.uploads = run.spy.uploads
        self.numbered, self.keyed = bool(run.host.known), bool(run.draws.known)
        self.numbers: tuple[bytes, Any] = b"", None  # those of the last call, and on the device
        self.hosted = bool(self.script or self.keyed or self.uploads)

    def _layouts(self, cells: list[Cell]) -> dict[int, Axes]:
        """The order in which arrays of tensors that are not written had better lie."""
        stay = set(range(len(self.binding.owned))).difference(self.writes)
        places = zip(self.jaxpr.constvars, self.sources, strict=True)
        inputs = {v: self.reads[s[1]] for v, s in places if s and s[0] == "cell" and self.reads[s[1]] in stay}
        return {i: axes for i, axes in layouts(self.jaxpr, inputs).items() if not cells[i].mixed}

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
            self.backward = Direct(function)
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
        self.forward = Direct(self._function(forward, reads), [first + i for i in self.donated])

    def _function(
        self, jaxpr: Jaxpr, reads: Sequence[int], cotangents: int = 0, residuals: int = 0
    ) -> Callable[..., Any]:
        """The function of the words of the numbers, the keys, cotangents, residuals, and the arrays of the cells at the
        positions `reads`."""
        sources, constants, numbered, keyed = self.sources, self.constants, self.numbered, self.keyed
        uploads = len(self.uploads)
        back = {i: inverse(self.axes[place]) for i, place in enumerate(self.reads) if place in self.axes}

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
            give("cell", [a.transpose(back[i]) if i in back else a for i, a in zip(reads, rest, strict=True)], reads)
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
            and self.axes == other.axes
            and len(self.uploads) == len(other.uploads)
            and all(map(_equal, self.constants, other.constants))
            and self.text == other.text
        )

    @cached_property
    def text(self) -> str:
        """The jaxpr as text."""
        return str(self.jaxpr)

    # -- a call ------------------------------------------------------------------------------------------------------

    def call(self, leaves: list[Any], cells: list[Cell]) -> Any:
        """Run the program on the cells that the binding found."""
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
            self._alter(maker, leaves, cells, first, arrays, list(fresh))
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

    def _alter(
        self, maker: Maker, leaves: list[Any], cells: list[Cell], first: Any, arrays: Any, residuals: list[jax.Array]
    ) -> None:
        """Repeat what the run changed besides arrays: versions, the graph, Python's places, data, gradients."""
        for described, source in self.binding.outside:
            maker.known[described] = described.on(source(leaves))
        if self.changed:
            _increment(self.changed)
        if self.changed_given:
            _increment([leaves[i] for i in self.changed_given])
        if self.grad:
            self._differentiate(maker, leaves, cells, first, arrays, residuals)
        for place, value in self.effects:
            _put(place, None if value is None else maker.make(value), value is None)
        for leaf, data in self.data:
            at_leaf(leaf, leaves).data = maker.make(data)
        for leaf, value in self.gradients:
            at_leaf(leaf, leaves).grad = None if value is None else maker.make(value)

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
        found = [c.value for c in reads] if kept or not self.axes else self._laid_arrays(cells)
        quick = not any(map(is_, found, repeat(None)))
        kept += found if quick else [c.read() if a is None else a for c, a in zip(reads, found, strict=True)]  # type: ignore[arg-type]
        return kept, quick

    def _laid_arrays(self, cells: list[Cell]) -> list[jax.Array | None]:
        """The arrays that are read, laid as `axes` says; None for one that is not made or not at hand."""
        laid = {i: cells[i].laid_as(axes) for i, axes in self.axes.items()}
        missing = [i for i, array in laid.items() if array is None]
        self.laid = self.laid + 1 if missing else 0
        if self.laid > _PATIENCE:  # somebody reads or writes them between the calls
            self.axes, laid = {}, {}
            self._compile(())
        elif missing:
            for i in missing:
                laid[i] = array = transposed(cells[i].read(), self.axes[i], cells[i].index)
                cells[i].lay(array, self.axes[i])
            writes.note()
        return [laid[i] if i in laid else cells[i].value for i in self.reads]

    def _from_host(self, leaves: list[Any]) -> list[jax.Array]:
        """What the host passes to a call, after it did its part of it."""
        found = []
        numbers = play(self.script)
        if self.numbered:
            now = np.asarray(numbers, np.float64)
            if now.tobytes() != self.numbers[0]:  # which seldom change from one call to the next
                self.numbers = now.tobytes(), passed(now.view(np.uint32).reshape(-1, 2), self.index)
            found.append(self.numbers[1])
        if self.keyed:
            found.append(passed(self.draws.keys(), self.index))
        return found + [upload.array(leaves) for upload in self.uploads]

    def _differentiate(
        self, maker: Maker, leaves: Any, cells: list[Cell], first: Any, arrays: Any, residuals: list[jax.Array]
    ) -> None:
        """Give the results that autograd follows a place in its graph."""
        refs = self.differentiable
        tensors = [maker.tensor(r) for r in refs]
        wrt = [maker.tensor(x) if isinstance(x, Ref) else at_leaf(x, leaves) for x in self.wrt]
        wrt = wrt or [torch.empty(0, device="jax", requires_grad=True)]
        saved = (*residuals, *(arrays[i] for i in self.saved))
        others = [weakref.ref(arrays[i]) for i in self.recomputed]
        given = leaves if self.later else None
        late = [(cells[i], cells[i].held) for i in self.late]
        for ref, tensor in zip(refs, Joined.apply(self, first, saved, others, tensors, given, late, *wrt), strict=True):
            maker.known[ref] = tensor

    def write_late(self, arrays: Iterator[jax.Array], late: list[tuple[Cell, Any]]) -> None:
        """Write the cells that the backward pass writes, as one does that computes forward again; with what they held
        after the call."""
        if any(cell.held is not held for cell, held in late):
            raise TraceError(
                "the backward pass of a compiled function writes a tensor (as BatchNorm under a checkpoint does) that "
                "was written since the function was called; call backward() before the next call"
            )
        for (cell, _), array in zip(late, arrays, strict=True):
            cell.write(array)
        _increment(self.changed_late)

    def repeat_later(self, arrays: Iterator[jax.Array], leaves: list[Any]) -> None:
        """Do again what the backward pass changed in Python; `arrays` are what it gave for that."""
        held = [next(arrays) if f is None else f for f in self.later_fills]
        maker = Maker(held, leaves, self.later_index)
        for place, value, appended, number, old in self.later:
            if number and not same(old, content_at(place)):
                raise TraceError(
                    f"the backward pass of a compiled function changes {place.path}, which is no longer what it was "
                    "when the function was called; call backward() before the next call"
                )
            made: Any = None if value is None else maker.make(value)
            if appended:
                refill(place.container, [*place.container, *made])
            else:
                _put(place, made, value is None)


def _equal(a: Any, b: Any) -> bool:
    return a is b or (np.size(a) <= _SMALL and np.array_equal(a, b))


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
