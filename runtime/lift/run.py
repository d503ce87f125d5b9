"""One run of a torch function under a JAX trace that lifts: what it reads, gives and changes."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from sys import getrefcount
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import torch
from jax.extend.core import ClosedJaxpr
from torch.utils import _pytree as pytree

from ..device import engine
from ..device.cell import Cell, Fill, cell_of, put, wrap
from ..device.convert import read
from ..dtypes import numpy_dtype
from ..errors import TraceError
from ..tracing.index import Indexing
from ..tracing.trace import Trace, tracing
from . import chance
from .draws import Draws
from .hooks import unhooked
from .host import Host, HostCall
from .joint import accumulated, ends_of, marked
from .places import MISSING, SEQUENCES, Place, content_at, is_simple
from .results import Described, Ref, Results, is_described, is_ours
from .scopes import named
from .spy import Spy
from .watch import Watch

Leaf = torch.Tensor | int  # a tensor that stays, or the number of an argument


class Effect(NamedTuple):
    """What a run left at a place: None where the entry is gone; the whole of a list."""

    place: Place
    value: Described | None


class Later(NamedTuple):
    """What the backward pass of the results left at a place: None where the entry is gone."""

    place: Place
    value: Described | None
    appended: bool = False  # whether the value is a list of what was appended at the place
    number: bool = False  # whether it is no tensor, and was made of what stood there: `old`
    old: Any = None


class Gradient(NamedTuple):
    """What a run left as the gradient of a leaf."""

    leaf: Leaf
    value: Described | None


class Data(NamedTuple):
    """What a run left as the data of a tensor, by `.data` or `set_`."""

    leaf: Leaf
    value: Described


class Run:
    """One traced run of a function: the jaxpr, and what it read, gave and changed."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: Any,
        kwargs: Any,
        leaves: list[Any],
        watch: Watch,
        varying: Any = frozenset(),
        own: Any = frozenset(),
    ) -> None:
        """`leaves` are those of the arguments, as the function gets them; `varying` and `own` see `Host`.

        Raises:
            TraceError: the run asks for what only a value can tell, or changes what no program can.
        """
        self.watch, self.leaves = watch, leaves
        self.draws = Draws()
        self.trace = Trace(lifts=True, draw=self.draws.draw)
        self.host = Host(self.trace, watch, varying, own)
        self.reads = watch.read()
        self.spy = Spy(self.trace, leaves, [t for _, t in watch.tensors.values()])
        self.indexing = Indexing()
        tensors = [*(t for _, t in watch.tensors.values()), *(x for x in leaves if is_ours(x))]
        self.before = {id(t): (t, t.grad) for t in tensors if t.is_leaf}
        self.effects: list[Effect] = []
        self.gradients: list[Gradient] = []
        self.data: list[Data] = []
        self.written: list[Cell] = []
        self.wrt: list[Leaf | Ref] = []  # the leaves to which the results are differentiable
        self.cotangents: list[jax.Array] = []
        self.later: list[Later] = []
        self.later_fills: list[Fill | None] = []
        self.later_index = 0
        self.late: list[Cell] = []  # which the backward pass writes
        self.givers: list[set[int]] = []  # for each of them, the numbers of the results that give it a gradient
        failures: list[Exception] = []

        def run() -> list[jax.Array]:
            modes = _modes()
            with tracing(self.trace):
                try:
                    before = pytree.tree_flatten((args, kwargs))
                    attributes = [(x, dict(vars(x))) for x in leaves if isinstance(x, torch.Tensor)]
                    with (
                        chance.refused(watch.generators),
                        self.host.attached(),
                        self.spy.attached(),
                        named(watch.modules),
                        self.reads.attached(),
                        self.indexing,
                    ):
                        result = function(*args, **kwargs)
                    _refuse_changed(before, (args, kwargs))
                    _refuse_written(watch)
                    _refuse_attributes(attributes, watch)
                    if _modes() != modes:
                        raise TraceError(
                            "a compiled function leaves gradients or the default dtype otherwise than it found them; "
                            "use `with torch.set_grad_enabled(...)`, or set it outside"
                        )
                    return self._finish(result)
                except Exception as failure:  # raised below, without the frames and the note of JAX
                    failures.append(failure)
                    return []
                finally:
                    torch.set_grad_enabled(modes[0])
                    torch.set_default_dtype(modes[1])
                    watch.restore()
                    for tensor, data in self.trace.moved.values():
                        tensor.data = data
                    for leaf, gradient in self.before.values():
                        if leaf.grad is not gradient:
                            leaf.grad = gradient

        try:
            self.closed: ClosedJaxpr = jax.make_jaxpr(run)()
        finally:
            self.draws.finish()
            self.trace.lose()
        if failures:
            raise failures.pop()

    def _finish(self, result: Any) -> list[jax.Array]:
        """Describe what the run gave and changed; what the program gives."""
        trace = self.trace
        arguments = {id(x): i for i, x in enumerate(self.leaves) if isinstance(x, torch.Tensor)}
        found = {id(t) for _, t in self.watch.tensors.values()} | self._gradients()
        results = Results(trace.born, arguments, found, self.watch.reached(), self.spy.refuse)
        self.result = results.describe(result)
        self._describe_changes(results)
        for leaf, gradient in self.before.values():
            if leaf.grad is not gradient:
                value = None if leaf.grad is None else results.describe(leaf.grad)
                self.gradients.append(Gradient(arguments.get(id(leaf), leaf), value))
        self._describe_data(results, arguments)
        self.indexing.verify([tensor for tensor, _ in results.refs.values()])
        self.differentiable = results.differentiable
        self.outside = [described for _, described in results.outside.values()]
        self.index = next((cell.index for cell in results.cells), 0)
        held = results.arrays()
        self.fills = [x if isinstance(x, Fill) else None for x in held]
        arrays = [x for x in held if not isinstance(x, Fill)]
        for cell in trace.written:
            if cell.held is not trace.lifted.get(cell):
                self.written.append(cell)
                arrays.append(cell.read())
        self.conditions = tuple(c for _, c in trace.conditions)
        if self.conditions:
            arrays.append(jnp.stack([jnp.all(holds) for holds, _ in trace.conditions]))
        self.kinds = [cell.kind for cell in self.written]
        self.outputs = len(arrays)
        if self.differentiable and torch.is_grad_enabled():
            contents = self.watch.contents()
            ended = {cell: cell.held for cell in (*trace.lifted, *trace.written)}
            kept = [
                (place, pytree.tree_leaves(content_at(place))) for place, _ in self.effects if place.key is not None
            ]
            with self.reads.attached(gradients=False):
                arrays += self._backward(results, arguments)
            arrays += self._describe_later(Results(*results.rules), contents, kept)
            self.late = [cell for cell in trace.written if cell.held is not ended.get(cell)]
            arrays += [cell.read() for cell in self.late]
        return arrays

    def _describe_later(self, results: Results, contents: Any, kept: list[tuple[Place, list[Any]]]) -> list[jax.Array]:
        """What hooks, and functions in Python, changed in the backward pass: by places that were there before, with
        their contents, or in what forward put at the places of `kept`."""
        lists: dict[int, tuple[Place, list[Any]]] = {}
        changed: dict[tuple[int, Any], tuple[Place, Any, Any]] = {}
        for place, old, new in self.watch.changes(contents):
            if isinstance(place.container, SEQUENCES):
                before = next(
                    c for h, c in zip(self.watch.held, contents, strict=True) if h.container is place.container
                )
                lists[id(place.container)] = place._replace(key=None), [*before.values()]
            else:
                changed[id(place.container), place.key] = place, old, new
        for place, leaves in kept:
            now = content_at(place)
            if not all(map(operator.is_, leaves, found := pytree.tree_leaves(now))) or len(found) != len(leaves):
                changed.setdefault((id(place.container), place.key), (place, leaves, now))
        for place, old, new in changed.values():
            value = None if new is MISSING else results.describe(new)
            self.later.append(Later(place, value, number=is_simple(old) or is_simple(new), old=old))
        for place, elements in lists.values():
            now = [*place.container]
            grew = len(now) >= len(elements) and all(map(operator.is_, elements, now))
            self.later.append(Later(place, results.describe(now[len(elements) :] if grew else now), appended=grew))
        if any(not o.found for _, o in results.outside.values()):
            raise TraceError(
                "a backward hook keeps a view of a tensor that a compiled function was given; keep a clone of it"
            )
        held = results.arrays()
        self.later_fills = [x if isinstance(x, Fill) else None for x in held]
        self.later_index = next((cell.index for cell in results.cells), 0)
        return [x for x in held if not isinstance(x, Fill)]

    def _gradients(self) -> set[int]:
        """The ids of the gradients that the run found."""
        return {id(gradient) for _, gradient in self.before.values() if gradient is not None}

    def _describe_changes(self, results: Results) -> None:
        """What the run changed in Python. The numbers of schedulers and scalers change by the host's part."""
        scripted = self.watch.scripted()
        passed = {(id(n.group), n.key) for n in self.host.script if not isinstance(n, HostCall)} | self.host.moved
        lists: dict[int, Place] = {}
        changes = self.watch.changes()
        self.own = self.host.found_own(place for place, _, _ in changes)
        for place, old, new in changes:
            if old is MISSING:
                self.reads.made.setdefault(id(place.container), []).append(place.key)
            if (id(place.container), place.key) in passed:
                continue
            if isinstance(place.container, SEQUENCES):
                lists.setdefault(id(place.container), place)
                continue
            value = None if new is MISSING else results.describe(new)
            if id(place.container) in scripted and not (value and is_described(value)):
                continue
            self.effects.append(Effect(place, value))
        for place in lists.values():
            self.effects.append(Effect(place._replace(key=None), results.describe(list(place.container))))

    def _describe_data(self, results: Results, arguments: dict[int, int]) -> None:
        """What the run left as the data of tensors from outside; of its own it may do as it likes."""
        reached = [t for _, t in self.watch.tensors.values()] + [self.leaves[i] for i in arguments.values()]
        known = {id(t): t for t in reached}
        others = Counter(cell_of(t) for t in known.values() if is_ours(t) and id(t) not in self.trace.moved)
        others.update(cell_of(before) for _, before in self.trace.moved.values())
        for tensor, before in self.trace.moved.values():
            if id(tensor) in known:
                if others[cell_of(before)] > 1:
                    raise TraceError("a tensor that shares memory with another gets new data in a compiled function")
                self.data.append(Data(arguments.get(id(tensor), tensor), results.describe(tensor.detach())))
            elif cell_of(before) not in self.trace.born and getrefcount(tensor) > 3:
                raise TraceError(
                    "a tensor that is not reached from the compiled function gets new data; write into it instead"
                )

    def _backward(self, results: Results, arguments: dict[int, int]) -> list[jax.Array]:
        """Trace torch's backward pass from the results, after a mark; its gradients."""
        outputs = [t for t, _ in self.differentiable]
        # Made on the host: on the device, XLA would compile a program for each shape.
        self.cotangents = [put(np.zeros(tuple(t.shape), numpy_dtype(t.dtype)), self.index) for t in outputs]
        given = [wrap(a) for a in marked(self.cotangents)]
        graphs = [ends_of(t) for t in outputs]
        shown = {i: leaf for graph in graphs for i, leaf in graph.leaves.items()}
        opens = any(graph.open for graph in graphs)
        hidden = {i: t for i, (t, _) in self.before.items() if t.requires_grad} if opens else {}
        leaves, begun = list({**shown, **hidden}.values()), engine.begun()
        try:
            with unhooked(t for t in leaves if results.ref(t) is None):  # whose hooks each call's backward calls
                if opens:
                    found = accumulated(outputs, leaves, given)
                else:
                    found = list(torch.autograd.grad(outputs, leaves, given, allow_unused=True))
        except RuntimeError as error:
            if "second time" not in str(error):
                raise
            return []  # the graph of the results was used up within
        nested = engine.begun() > begun + 1
        for leaf, gradient in zip(leaves, found, strict=True):
            if gradient is None and id(leaf) not in shown:
                continue
            ref = results.ref(leaf)
            self.wrt.append(arguments.get(id(leaf), leaf) if ref is None else ref)
            givers = (i for i, g in enumerate(graphs) if id(leaf) in g.leaves or (nested and g.open))
            self.givers.append(set() if gradient is None else set(givers))
        return [read(g) for g in found if g is not None]


def _modes() -> tuple[bool, torch.dtype]:
    return torch.is_grad_enabled(), torch.get_default_dtype()


def _refuse_changed(before: Any, now: Any) -> None:
    leaves, spec = pytree.tree_flatten(now)
    if spec != before[1] or any(a is not b for a, b in zip(leaves, before[0], strict=True)):
        raise TraceError("a compiled function changes a container among its arguments; return the new one instead")


def _same_items(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(a[k] is b[k] for k in a)


def _refuse_attributes(before: list[tuple[torch.Tensor, dict[str, Any]]], watch: Watch) -> None:
    for tensor, attributes in before:
        if not _same_items(vars(tensor), attributes) and id(tensor) not in watch.tensors:
            name = next(k for k in {**vars(tensor), **attributes} if vars(tensor).get(k) is not attributes.get(k))
            vars(tensor).clear()
            vars(tensor).update(attributes)
            raise TraceError(f"a compiled function sets the attribute {name} of an argument; return it instead")


def _refuse_written(watch: Watch) -> None:
    for memory in watch.memory:
        if memory.changed():
            raise TraceError(
                f"a compiled function writes into {memory.path}, an array of the host, which no program does again; "
                "keep it in a tensor on device jax"
            )
