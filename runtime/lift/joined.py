"""A program in torch's graph: the gradients of its results are its backward part, and those of the gradients are made
of the whole of it anew."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

import torch

from ..device.cell import cell_of, materialise, tensor_kind, untraced, wrap
from ..device.convert import read
from ..dispatch.call import call
from ..dtypes import torch_dtype
from .hooks import hooks_of

if TYPE_CHECKING:
    from .program import Program


class Joined(torch.autograd.Function):
    """The results of a program, whose gradient is the program's backward part."""

    @staticmethod
    def forward(
        ctx: Any, program: Program, first: Any, saved: Any, others: Any, tensors: Any, given: Any, late: Any, *wrt: Any
    ) -> Any:
        """The tensors, as results of the leaves; `given` are the arguments of the call, where backward needs them,
        `late` the cells that it writes, with their arrays."""
        ctx.program, ctx.first, ctx.saved, ctx.others = program, first, saved, others
        ctx.wrt, ctx.given, ctx.late = wrt, given, late
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
            arrays = [*ctx.first, *given, *ctx.saved]
            # A function that reads a result of another compiled function is traced on into that one's graph.
            results = program.backward(arrays) if untraced() else program.backward.jitted(*arrays)
            found = (wrap(a, program.index) for a in results)
        present = {i for i, g in enumerate(gradients) if g is not None}
        wanted: list[torch.Tensor | None] = []
        for leaf, givers in zip(ctx.wrt, program.givers, strict=True):
            gradient = next(found) if givers else None
            waits = present & givers or not leaf.is_leaf or hooks_of(leaf)
            wanted.append(gradient if waits else None)
        rest = (read(tensor.detach()) for tensor in found)
        if program.later:
            program.repeat_later(rest, ctx.given)
        if program.late:
            program.write_late(rest, ctx.late)
        return None, None, None, None, None, None, None, *wanted


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
