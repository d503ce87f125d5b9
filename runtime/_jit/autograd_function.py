"""Attaches the results of a compiled step to autograd's graph, as outputs of one node with the step's backward."""

from __future__ import annotations

from itertools import compress
from typing import Any

import torch

from .._torch.autograd import keeps_graph
from ..storage.avals import tensor_aval
from ..trace.async_errors import record_assertions
from ..trace.transfer import read
from .autograd_graph import requiring_gradients
from .backward import Backward, Saved
from .output_builder import OutputBuilder
from .outputs import NewTensor
from .sources import tensor_at
from .tensor_hooks import hooks_of

_FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have "
    "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
    "if you need to access saved tensors after calling backward."
)

_UNFILLED = (
    ".backward, in the backward pass of a compiled function, must get None for what the loss does not depend on "
    "(set_materialize_grads), and the pass was compiled for all results: call backward() within the function, or "
    "return only results that the loss uses"
)


def attach(backward: Backward, builder: OutputBuilder, arguments: list[Any], saved: Saved) -> None:
    """Attach the differentiable results of a call with these arguments, which `builder` makes, to the graph."""
    tensors = [builder.tensor(described) for described in backward.results]
    found = backward.traced.leaves
    leaves = [builder.tensor(x) if isinstance(x, NewTensor) else tensor_at(x, arguments) for x in found]
    with requiring_gradients(leaves):
        attached = CompiledStepFunction.apply(backward, saved, tensors, *leaves)
    for described, tensor in zip(backward.results, attached, strict=True):
        builder.tensors[described] = tensor


class CompiledStepFunction(torch.autograd.Function):
    """The results of a compiled step as a function of the leaves."""

    @staticmethod
    def forward(ctx: Any, backward: Backward, saved: Saved, tensors: list[torch.Tensor], *leaves: torch.Tensor) -> Any:
        """Return the tensors; `leaves` are the leaves of their graph."""
        ctx.backward, ctx.saved, ctx.leaves = backward, saved, leaves
        if not backward.traced.failure:
            ctx.save_for_backward(*leaves)  # a second derivative checks their versions
        ctx.versions = [(t, t._version) for t in compress(leaves, backward.checked)]
        ctx.avals = [tensor_aval(t.size(), t.dtype) for t in tensors]
        ctx.freed = set()  # the results whose part of the graph a backward pass has freed
        ctx.set_materialize_grads(False)
        return tuple(tensors)

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> Any:
        """Return the gradients of the leaves. One that no result with a cotangent depends on gets None, unless it has
        hooks or, outside of the step, a history."""
        backward: Backward = ctx.backward
        traced = backward.traced
        present = {i for i, g in enumerate(cotangents) if g is not None}
        if traced.failure or not ctx.freed.isdisjoint(present):
            raise RuntimeError(traced.failure or _FREED)
        for name, parts in traced.unfilled:
            if len({present.isdisjoint(results) for results in parts}) > 1:
                raise RuntimeError(f"{name}{_UNFILLED}")
        if backward.verify is not None:
            backward.verify()
        for tensor, version in ctx.versions:
            if tensor._version != version:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an inplace operation: "
                    f"[{tensor.type()} {list(tensor.shape)}] is at version "
                    f"{tensor._version}; expected version {version} instead."
                )
        if torch.is_grad_enabled():
            leaves = ctx.saved_tensors
            outputs = iter(backward.differentiable_gradients(ctx.saved, cotangents, ctx.avals, leaves))
        else:
            outputs = backward.gradients(ctx.saved, cotangents, ctx.avals)
        gradients: list[torch.Tensor | None] = []
        for leaf, givers in zip(ctx.leaves, traced.givers, strict=True):
            gradient = next(outputs) if givers else None
            wanted = present & givers or not leaf.is_leaf or hooks_of(leaf)
            gradients.append(gradient if wanted else None)
        rest = (read(tensor.detach()) for tensor in outputs)
        if traced.assertions:
            record_assertions(next(rest), traced.assertions)
        backward.apply_effects(rest, ctx.saved)
        # As in eager mode, a graph that saved nothing is not freed. Other results may still be differentiated.
        if ctx.saved.arrays and not keeps_graph():
            ctx.freed |= present
            if len(ctx.freed) == len(cotangents):
                ctx.saved = None
        return None, None, None, *gradients
