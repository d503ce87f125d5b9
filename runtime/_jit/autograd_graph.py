"""The autograd graph of a tensor: its leaves, and the gradients that a backward pass accumulates in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch.autograd.function import BackwardCFunction

from .._torch.autograd import forward_class
from .._torch.operators import OPERATOR_AUTOGRAD_MODULE
from ..dispatch.jax_call import JaxCall
from ..patches import ScopedPatches

# The modules of autograd functions that belong to operators: torch.library's, and ours.
_OPERATORS = OPERATOR_AUTOGRAD_MODULE, JaxCall.__module__


class GraphLeaves(NamedTuple):
    """Where the graph of a tensor ends."""

    leaves: dict[int, torch.Tensor]  # by id, in a fixed order
    functions: dict[type, None]  # the Python autograd functions in the graph
    unfilled: dict[tuple[Any, int], None]  # the outputs of those that get None, not zeros, without a gradient

    @property
    def open(self) -> bool:
        """Whether there may be more leaves: the backward of a Python function may run a backward pass of its own."""
        return bool(self.functions)


def graph_leaves(tensor: torch.Tensor) -> GraphLeaves:
    """Follow the graph of a tensor."""
    leaves: dict[int, torch.Tensor] = {}
    pending, seen = [(tensor.grad_fn, tensor.output_nr)], set()
    functions: dict[type, None] = {}
    unfilled: dict[tuple[Any, int], None] = {}
    while pending:
        node, output = pending.pop()
        if getattr(node, _FILLS, True) is False and not _is_of_a_library(node):
            unfilled[node, output] = None
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            leaves.setdefault(id(node.variable), node.variable)
        if _runs_python(node):
            functions[forward_class(node)] = None
        pending.extend(node.next_functions)
    return GraphLeaves(leaves, functions, unfilled)


def unfilled_outputs(graphs: Sequence[GraphLeaves]) -> tuple[tuple[str, tuple[frozenset[int], ...]], ...]:
    """The autograd functions with `set_materialize_grads(False)` whose outputs contribute to different results: their
    names, and for each output the indices of its results."""
    results: defaultdict[Any, defaultdict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for i, graph in enumerate(graphs):
        for node, output in graph.unfilled:
            results[node][output].add(i)
    found = ((node, {*map(frozenset, outputs.values())}) for node, outputs in results.items())
    return tuple((forward_class(node).__name__, tuple(sets)) for node, sets in found if len(sets) > 1)


def _is_of_a_library(node: Any) -> bool:
    """Whether a Python node is torch's or tenax's, for which zeros are None."""
    return forward_class(node).__module__.partition(".")[0] in ("torch", "tenax")


def _noting(plain: Callable[[Any, bool], None]) -> Callable[[Any, bool], None]:
    def set_materialize_grads(ctx: Any, value: bool) -> None:
        plain(ctx, value)
        setattr(ctx, _FILLS, value)

    return set_materialize_grads


_FILLS = "tenax_materialize_grads"  # of a node, whose own attribute cannot be read
noting_materialized_gradients = ScopedPatches(
    ("torch.autograd.function.FunctionCtx.set_materialize_grads", _noting)
).attached


def _runs_python(node: Any) -> bool:
    """Whether a node is a user's `autograd.Function`; the backward of an operator depends on tensors alone."""
    return isinstance(node, BackwardCFunction) and forward_class(node).__module__ not in _OPERATORS


@contextmanager
def requiring_gradients(leaves: Sequence[torch.Tensor]) -> Iterator[None]:
    """Temporarily set `requires_grad` on frozen leaves. A function may freeze a leaf after using it: its node stays in
    the graph, and drops or accumulates the gradient depending on the leaf's flag when backward runs."""
    frozen = [leaf for leaf in leaves if not leaf.requires_grad]
    for leaf in frozen:
        leaf.requires_grad_()
    try:
        yield
    finally:
        for leaf in frozen:
            leaf.requires_grad_(False)


def accumulated_gradients(
    outputs: Sequence[torch.Tensor], leaves: Sequence[torch.Tensor], cotangents: Sequence[torch.Tensor]
) -> list[torch.Tensor | None]:
    """The gradients of leaves, including those from nested backward passes, as in a reentrant checkpoint."""
    before = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    try:
        torch.autograd.backward(outputs, cotangents)
        return [leaf.grad for leaf in leaves]
    finally:
        for leaf, gradient in zip(leaves, before, strict=True):
            leaf.grad = gradient
