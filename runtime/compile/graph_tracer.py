"""The interpreter of a graph: it runs the operations on tensors that wrap tracers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import jax
import torch
from torch import fx

from .._torch import pytree
from ..storage import random
from ..storage.tensors import wrap
from ..trace.core import current_trace
from ..trace.transfer import read
from .control_flow import CONTROL

_hop = torch.ops.higher_order


class GraphTracer(fx.Interpreter):
    """torch's interpreter, on tensors that wrap tracers."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module, garbage_collect_values=False)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """An operation; the operators that keep a random state for a second run keep its key."""
        if target is _hop.run_and_save_rng_state:
            key = random.next_key()
            return wrap(key), self.draw(key, *args, **kwargs)
        if target is _hop.run_with_rng_state:
            return self.draw(read(args[0]), *args[1:], **kwargs)
        if target is _hop.with_effects:  # a token, and an operation that it orders
            found = args[1](*args[2:], **kwargs)
            return args[0], *(found if isinstance(found, tuple) else (found,))
        if target is _hop.flex_attention_backward:
            args = (*args[:_CAPTURED], tuple(map(_asking, args[_CAPTURED])), *args[_CAPTURED + 1 :])
        if target in CONTROL:
            given = pytree.tree_map_only(torch.Tensor, read, (args, dict(kwargs)))
            return pytree.tree_map_only(jax.Array, wrap, CONTROL[target](self, *given[0], **given[1]))
        return super().call_function(target, args, dict(kwargs))

    def run_node(self, n: fx.Node) -> Any:
        """The result of a node; what it asserts names the user's line."""
        conditions = current_trace().conditions
        count = len(conditions)
        result = super().run_node(n)
        conditions[count:] = [(holds, a._replace(where=_line_of(n))) for holds, a in conditions[count:]]
        return result

    def draw(self, key: jax.Array, op: Any, *args: Any, **kwargs: Any) -> Any:
        """A random operation, by a key."""
        drawing = random.drawing
        before, drawing.draw = drawing.draw, lambda generator: key
        try:
            return op(*args, **kwargs)
        finally:
            drawing.draw = before

    def nested(self, module: fx.GraphModule, *args: Any) -> Any:
        """A graph that control flow runs, on arrays; its assertions stay within the control flow, unchecked."""
        trace = current_trace()
        assert trace is not None
        asserts, trace.asserts = trace.asserts, False
        try:
            return self.inlined(module, *args)
        finally:
            trace.asserts = asserts

    def inlined(self, module: fx.GraphModule, *args: Any) -> Any:
        """A graph within the graph, on arrays."""
        results = GraphTracer(module).run(*pytree.tree_map_only(jax.Array, wrap, args))
        return pytree.tree_map_only(torch.Tensor, read, results)


_CAPTURED = 12  # the argument with what a score function closes over, which has gradients where it asks for them


def _asking(buffer: Any) -> Any:
    """A tensor that asks for its gradient, as those of a graph do not."""
    floats = isinstance(buffer, torch.Tensor) and buffer.is_floating_point()
    return buffer.detach().requires_grad_() if floats else buffer


def _line_of(node: fx.Node) -> str:
    """The user's line that a node comes from."""
    found = re.findall(r'File "(.+)", line (\d+), in (.+)', node.meta.get("stack_trace") or "")
    return " ({}:{}, in {})".format(*found[-1]) if found else ""
