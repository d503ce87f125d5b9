"""Traces torch's backward pass after a run, so that the gradient of a compiled function is torch's own."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from .._torch import pytree
from ..dtypes import numpy_dtype
from ..errors import TraceError
from ..storage.placement import put
from ..storage.tensors import wrap
from ..trace import autograd_engine
from ..trace.tracing import Trace
from ..trace.transfer import read
from .attribute_tracking import AttributeReads
from .autograd_graph import GraphLeaves, accumulated_gradients, graph_leaves, requiring_gradients, unfilled_outputs
from .effects import Effects, EntryEffect
from .outputs import OutputDescriber
from .partition import mark_boundary
from .sources import MISSING, SEQUENCES, Source, content_at, elements_of, is_plain
from .state_graph import StateGraph
from .tensor_hooks import unhooked
from .traced_step import TracedBackward
from .wrappers import is_wrapper

Contents = list[tuple[Source, list[Any]]]  # the leaves of the values of entries


def trace_backward(
    describer: OutputDescriber,
    trace: Trace,
    state: StateGraph,
    reads: AttributeReads,
    effects: Effects,
    gradients: Sequence[tuple[torch.Tensor, torch.Tensor | None]],
    arguments: dict[int, int],
    index: int,
) -> tuple[TracedBackward, list[jax.Array]]:
    """Trace the backward pass of the differentiable results. Return its description, and the outputs that it adds to
    the jaxpr.

    Args:
        describer: the describer of the run.
        trace: the trace of the run.
        state: what the function reached before the run.
        reads: the record of attribute reads.
        effects: what the run changed in Python.
        gradients: the leaves that the function reached, with their gradients before the run.
        arguments: the positions of argument tensors, by id.
        index: the index of the results' device.
    """
    before = state.moment()
    forward = {cell: cell.content for cell in (*trace.lifted, *trace.written)}
    entries = [source for source, *_ in effects.entries if source.key is not None]
    kept = [(source, pytree.tree_leaves(content_at(source))) for source in entries]
    checked = len(trace.conditions)
    with reads.attached(gradients=False):
        backward = _BackwardTracer(describer, gradients, arguments, index)
        arrays = backward.run()
    if checks := trace.conditions[checked:]:
        arrays.append(jnp.stack([jnp.all(holds) for holds, _ in checks]))
    cotangents, leaves, givers = tuple(backward.cotangents), tuple(backward.leaves), tuple(backward.givers)
    if backward.failure:
        return TracedBackward(cotangents, leaves, givers, backward.failure, (), (), index, ()), []
    later = OutputDescriber(describer.scope)
    changes = _describe_changes(later, state, before, kept)
    if any(not described.found for _, described in later.aliases.values()):
        raise TraceError(
            "a backward hook keeps a view of a tensor that a compiled function was given; keep a clone of it"
        )
    storages = tuple(later.recorder.storages())
    arrays += later.recorder.outputs
    written = tuple(cell for cell in trace.written if cell.content is not forward.get(cell))
    arrays += [cell.read() for cell in written]
    place, functions, unfilled = later.recorder.index, tuple(backward.functions), backward.unfilled
    held = frozenset(later.held | later.found.keys())
    assertions = tuple(assertion for _, assertion in checks)
    traced = TracedBackward(
        *(cotangents, leaves, givers, "", changes, storages, place, written, assertions, functions, held, unfilled)
    )
    return traced, arrays


class _BackwardTracer:
    """One backward pass from the results of a run."""

    def __init__(
        self,
        describer: OutputDescriber,
        gradients: Sequence[tuple[torch.Tensor, torch.Tensor | None]],
        arguments: dict[int, int],
        index: int,
    ) -> None:
        self.describer, self.gradients, self.arguments = describer, gradients, arguments
        self.results = [t for t, _ in describer.differentiable]
        # Made on the host: on the device, XLA would compile a program for each shape.
        zeros = (np.zeros(tuple(t.shape), numpy_dtype(t.dtype)) for t in self.results)
        self.cotangents = [put(array, index) for array in zeros]
        self.leaves: list[Any] = []
        self.givers: list[frozenset[int]] = []
        self.failure = ""
        self.functions: dict[type, None] = {}
        self.unfilled: tuple[tuple[str, tuple[frozenset[int], ...]], ...] = ()

    def run(self) -> list[jax.Array]:
        """Trace the pass; return the gradients of the leaves that get one."""
        cotangents = [wrap(a) for a in mark_boundary(self.cotangents)]
        graphs = [graph_leaves(t) for t in self.results]
        shown = {i: leaf for graph in graphs for i, leaf in graph.leaves.items()}
        opens = any(graph.open for graph in graphs)
        self.unfilled = unfilled_outputs(graphs) if opens else ()
        for graph in graphs:
            self.functions |= graph.functions
        hidden = {id(t): t for t, _ in self.gradients if t.requires_grad} if opens else {}
        leaves, begun = list({**shown, **hidden}.values()), autograd_engine.backward_count()
        if any(map(is_wrapper, leaves)):
            kind = next(type(leaf).__name__ for leaf in leaves if is_wrapper(leaf))
            self._fail(f"the backward pass of a compiled function reaches a {kind}: call backward() within it", leaves)
            return []
        try:
            # Hooks of leaves that the run did not create are called by each call's own backward pass.
            with requiring_gradients(leaves), unhooked(t for t in leaves if self.describer.new_tensor(t) is None):
                if opens:
                    found = accumulated_gradients(self.results, leaves, cotangents)
                else:
                    found = list(torch.autograd.grad(self.results, leaves, cotangents, allow_unused=True))
        except (TraceError, NotImplementedError):
            raise
        except RuntimeError as error:
            self._fail(str(error), leaves)
            return []
        nested = autograd_engine.backward_count() > begun + 1
        for leaf, gradient in zip(leaves, found, strict=True):
            if gradient is not None or id(leaf) in shown:
                self.leaves.append(self._source(leaf))
                self.givers.append(_givers(leaf, graphs, nested) if gradient is not None else frozenset())
        return [read(gradient) for gradient in found if gradient is not None]

    def _fail(self, message: str, leaves: Sequence[torch.Tensor]) -> None:
        """Record that torch cannot differentiate the results: the run freed their graph, or overwrote saved tensors.
        They still get a graph, whose backward pass raises; one leaf is enough to make it."""
        self.failure = message
        self.leaves = [self._source(leaf) for leaf in leaves[:1]]
        self.givers = [frozenset()] * len(self.leaves)

    def _source(self, leaf: torch.Tensor) -> Any:
        described = self.describer.new_tensor(leaf)
        return self.arguments.get(id(leaf), leaf) if described is None else described


def _givers(leaf: torch.Tensor, graphs: Sequence[GraphLeaves], nested: bool) -> frozenset[int]:
    """The indices of the results that may contribute a gradient to a leaf."""
    return frozenset(i for i, g in enumerate(graphs) if id(leaf) in g.leaves or (nested and g.open))


def _describe_changes(
    describer: OutputDescriber, state: StateGraph, before: Any, kept: Contents
) -> tuple[EntryEffect, ...]:
    """Describe what hooks and Python autograd functions changed in the backward pass.

    Args:
        describer: a new one for these changes.
        state: the containers.
        before: what they held when forward ended.
        kept: the values that forward left in entries, whose leaves the backward pass may have changed.
    """
    sequences: dict[int, tuple[Source, list[Any]]] = {}
    changed: dict[tuple[int, Any], tuple[Source, Any, Any]] = {}
    for source, old, new in state.changes(before):
        if isinstance(source.container, SEQUENCES):
            content = next(
                c for s, (_, c) in zip(state.snapshots, before, strict=True) if s.container is source.container
            )
            sequences[id(source.container)] = source._replace(key=None), [*content.values()]
        else:
            changed[source.entry] = source, old, new
    for source, leaves in kept:
        value = content_at(source)
        now = pytree.tree_leaves(value)
        if len(now) != len(leaves) or not all(map(operator.is_, leaves, now)):
            changed.setdefault(source.entry, (source, leaves, value))
    effects = []
    for source, old, new in changed.values():
        described = None if new is MISSING else describer.describe(new)
        effects.append(EntryEffect(source, described, number=is_plain(old) or is_plain(new), old=old))
    for source, elements in sequences.values():
        now = [*elements_of(source.container)]
        grew = len(now) >= len(elements) and all(map(operator.is_, elements, now))
        described = describer.describe(now[len(elements) :] if grew else now)
        effects.append(EntryEffect(source, described, appended=grew))
    return tuple(effects)
