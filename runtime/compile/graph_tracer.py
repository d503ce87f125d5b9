"""The interpreter that runs a graph's operations on tensors that wrap tracers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import torch
from torch import fx

from .._torch import pytree
from .._torch.operators import INDEX, VIEW_AS_DTYPE
from ..functional.control_flow import CONTROL
from ..storage import random
from ..storage.tensors import wrap
from ..trace.core import current_trace
from ..trace.masked_indexing import is_unknown_mask
from ..trace.transfer import read
from .nodes import line_of

_hop = torch.ops.higher_order


class GraphTracer(fx.Interpreter):
    """`fx.Interpreter` on tensors that wrap tracers, with lowered control flow and random states as keys."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module, garbage_collect_values=False)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Run an operation. The operators that save a random state for recomputation save its key instead."""
        if target is _hop.run_and_save_rng_state:
            key = random.next_key()
            return wrap(key), self.draw(key, *args, **kwargs)
        if target is _hop.run_with_rng_state:
            return self.draw(read(args[0]), *args[1:], **kwargs)
        if target is _hop.with_effects:  # a token and the operation that it orders
            found = args[1](*args[2:], **kwargs)
            return args[0], *(found if isinstance(found, tuple) else (found,))
        if target is VIEW_AS_DTYPE:
            args = (_dense_at_the_end(args[0]), *args[1:])
        if target is _hop.flex_attention_backward:
            args = (*args[:_CAPTURED], tuple(map(_asking, args[_CAPTURED])), *args[_CAPTURED + 1 :])
        if target in CONTROL:
            given = pytree.tree_map_only(torch.Tensor, read, (args, dict(kwargs)))
            return pytree.tree_map_only(jax.Array, wrap, CONTROL[target](self, *given[0], **given[1]))
        return super().call_function(target, args, dict(kwargs))

    def run_node(self, n: fx.Node) -> Any:
        """Run a node, and add the user's source line to its assertions."""
        conditions = current_trace().conditions
        count = len(conditions)
        result = _rows_of_known_number(self, n) if n.target is INDEX else None
        result = super().run_node(n) if result is None else result
        conditions[count:] = [(holds, a._replace(where=line_of(n))) for holds, a in conditions[count:]]
        return result

    def draw(self, key: jax.Array, op: Any, *args: Any, **kwargs: Any) -> Any:
        """Run a random operation with a given key."""
        drawing = random.drawing
        before, drawing.draw = drawing.draw, lambda generator: key
        try:
            return op(*args, **kwargs)
        finally:
            drawing.draw = before

    def nested(self, module: fx.GraphModule, *args: Any) -> Any:
        """Run a subgraph of control flow on arrays. Its assertions cannot leave it and are not checked."""
        trace = current_trace()
        assert trace is not None
        asserts, trace.asserts = trace.asserts, False
        try:
            return self.inlined(module, *args)
        finally:
            trace.asserts = asserts

    def inlined(self, module: fx.GraphModule, *args: Any) -> Any:
        """Run a subgraph on arrays."""
        results = GraphTracer(module).run(*pytree.tree_map_only(jax.Array, wrap, args))
        return pytree.tree_map_only(torch.Tensor, read, results)


def _rows_of_known_number(tracer: GraphTracer, node: fx.Node) -> torch.Tensor | None:
    """`x[mask]` where torch knows how many elements of a mask are true, as in the gradient of `x[mask] = rows`.

    None for other indices.
    """
    x, indices = tracer.fetch_args_kwargs_from_env(node)[0]
    first = next((k for k, index in enumerate(indices) if index is not None), 0)
    mask, found = indices[first], node.meta.get("val")
    if not is_unknown_mask(mask) or found is None or any(index is not None for index in indices[first + 1 :]):
        return None
    count = _concrete(tracer, found.shape[first])
    if count is None:
        return None
    places = torch.nonzero_static(mask, size=count).unbind(1)
    rows: torch.Tensor = INDEX(x, [*indices[:first], *places])
    return rows


def _concrete(tracer: GraphTracer, size: Any) -> int | None:
    """The value of a size that torch derived from those of the graph's inputs; None if it depends on data."""
    if isinstance(size, int):
        return size
    known: dict[Any, int] = {}
    for node in tracer.graph.find_nodes(op="placeholder"):
        like: Any = node.meta.get("val")
        given: Any = tracer.env.get(node)
        pairs = zip(like.shape, given.shape, strict=True) if isinstance(given, torch.Tensor) else [(like, given)]
        known.update((n.node.expr, int(value)) for n, value in pairs if isinstance(n, torch.SymInt))
    value = size.node.expr.xreplace(known)
    return int(value) if value.is_Integer else None


def _dense_at_the_end(x: torch.Tensor) -> torch.Tensor:
    """Give a last axis of one element the stride 1, as a view in another dtype requires.

    AOTAutograd checked that with its own strides. Those of a result on the device differ for such axes.
    """
    return x.as_strided(x.size(), (*x.stride()[:-1], 1)) if x.dim() and x.size(-1) == 1 != x.stride(-1) else x


_CAPTURED = 12  # the argument with the captured buffers of score_mod, which get gradients only if they require them


def _asking(buffer: Any) -> Any:
    """Make a floating-point tensor require a gradient, because tensors in a graph do not."""
    floats = isinstance(buffer, torch.Tensor) and buffer.is_floating_point()
    return buffer.detach().requires_grad_() if floats else buffer
