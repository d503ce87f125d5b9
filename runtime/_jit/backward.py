"""The backward pass of a compiled step: what a call saves for it, how it is computed, and what else it changes."""

from __future__ import annotations

import dataclasses
import math
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple

import jax
import torch

from .._torch.autograd import accumulators_of, keeps_graph
from ..dispatch.jax_call import FunctionLease, call
from ..dtypes import torch_dtype
from ..errors import TraceError
from ..storage.avals import Aval, tensor_aval
from ..storage.cell import Cell
from ..storage.placement import materialise, no_jax_trace
from ..storage.tensors import cell_of, wrap
from ..trace.async_errors import record_assertions
from ..trace.transfer import read
from .autograd_graph import requiring_gradients
from .cell_binding import RebindSlot
from .executables import Executables
from .output_builder import OutputBuilder, Outputs
from .outputs import NewTensor
from .sources import content_at, same_value, tensor_at
from .tensor_hooks import hooks_of
from .traced_step import TracedBackward, TracedStep
from .wrappers import is_wrapper

Cotangents = Sequence[torch.Tensor | None]
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


class Saved(NamedTuple):
    """What one call saves for its backward pass."""

    host: list[jax.Array]  # the operands that came from the host
    arrays: list[jax.Array]  # residuals, then the arrays of the cells that backward reads
    recomputed: list[weakref.ref[jax.Array]]  # further arrays, which only second derivatives read
    arguments: list[Any]  # of the call, if late effects need them
    contents: list[tuple[Cell, Any]]  # the cells that backward writes, with their contents


class Backward:
    """Computes the gradients of the leaves from the cotangents of the results."""

    def __init__(
        self,
        step: TracedStep,
        traced: TracedBackward,
        executables: Executables,
        cells: dict[Cell, int],
        owners: Sequence[torch.Tensor],
        places: list[int],
        index: int,
        slots: Mapping[int, RebindSlot],
        verify: Callable[[], None] | None,
    ) -> None:
        """
        Args:
            step: the traced run.
            traced: its backward pass.
            executables: the programs of the step.
            cells: the cells of the run, with their indices among the cells of a call.
            owners: the tensors of the first cells, which are the same in every call.
            places: the indices of the cells that are read.
            index: the index of the device.
            slots: the places that may hold other tensors in another call, by the ids of the run's tensors.
            verify: raises if Python state that backward reads has changed.
        """
        self.results, self.executables, self.places = step.outputs.differentiable, executables, places
        self.index, self.verify = index, verify
        self.written = [cells[cell] for cell in traced.written]
        self.tensors = [t for i, t in enumerate(owners) if i in self.written]
        self._outputs = Outputs(traced.storages, traced.device_index)
        found = {i: slots.get(id(leaf)) for i, leaf in enumerate(traced.leaves)}
        self.fetched = [(i, slot.fetch) for i, slot in found.items() if slot is not None]
        kept: tuple[Any, ...] = tuple(leaf if found[i] is None else None for i, leaf in enumerate(traced.leaves))
        # It holds no array of the run, and no tensor that another call finds elsewhere.
        self.traced = dataclasses.replace(traced, cotangents=(), written=(), leaves=kept)

        def place_of(leaf: Any) -> int | None:
            """The index of the cell of a leaf; None for a leaf of the run, or a wrapper."""
            tensor = None if isinstance(leaf, NewTensor) else tensor_at(leaf, step.arguments)
            return None if tensor is None or is_wrapper(tensor) else cells.get(cell_of(tensor))

        self.leaf_places = [*map(place_of, traced.leaves)]
        # For leaves whose arrays backward reads, it checks that they were not written since forward.
        saved = {places[number] for number in executables.saved}
        self.checked = [place in saved for place in self.leaf_places]

    def attach(
        self,
        builder: OutputBuilder,
        arguments: list[Any],
        cells: list[Cell],
        host: list[jax.Array],
        arrays: list[jax.Array],
        residuals: Iterable[jax.Array],
    ) -> None:
        """Attach the differentiable results of a call to autograd's graph, as outputs of one node with this pass.

        Args:
            builder: makes the results.
            arguments: the leaves of the call's arguments.
            cells: the cells of the call.
            host: the operands that came from the host.
            arrays: the arrays of the cells that were read.
            residuals: what forward computed for backward.
        """
        tensors, found = [builder.tensor(described) for described in self.results], self.traced.leaves
        leaves = [builder.tensor(x) if isinstance(x, NewTensor) else tensor_at(x, arguments) for x in found]
        for i, fetch in self.fetched:
            leaves[i] = fetch(arguments)
        saved = Saved(
            host,
            [*residuals, *(arrays[i] for i in self.executables.saved)],
            [weakref.ref(arrays[i]) for i in self.executables.recomputed],
            arguments if self.traced.effects else [],
            [(cells[i], cells[i].content) for i in self.written],
        )
        with requiring_gradients(leaves):
            alive = accumulators_of(leaves)  # noqa: F841 (until the node is made)
            attached = CompiledStepFunction.apply(self, saved, tensors, *leaves)
        for described, tensor in zip(self.results, attached, strict=True):
            builder.tensors[described] = tensor

    def apply_effects(self, arrays: Iterator[jax.Array], saved: Saved) -> None:
        """Change what the pass changes besides gradients, in Python state and in cells; it computed `arrays` for this.

        Raises:
            TraceError: the state to be changed has changed since the call.
        """
        traced = self.traced
        if traced.effects:
            builder = self._outputs.builder(arrays, saved.arguments)
        for effect in traced.effects:
            if effect.number and not same_value(effect.old, content_at(effect.source)):
                raise TraceError(
                    f"the backward pass of a compiled function changes {effect.source.path}, which is no longer what "
                    "it was when the function was called; call backward() before the next call"
                )
            effect.put(effect.source, builder)
        if not self.written:
            return
        if any(cell.content is not held for cell, held in saved.contents):
            raise TraceError(
                "the backward pass of a compiled function writes a tensor (as BatchNorm under a checkpoint does) that "
                "was written since the function was called; call backward() before the next call"
            )
        for (cell, _), array in zip(saved.contents, arrays, strict=True):
            cell.write(array)
        torch.autograd.graph.increment_version(self.tensors)

    def gradients(self, saved: Saved, cotangents: Cotangents, avals: Sequence[Aval]) -> Iterator[torch.Tensor]:
        """Run the backward program and return its outputs as tensors; a cotangent of None counts as zeros."""
        pairs = zip(cotangents, avals, strict=True)
        given = [materialise(aval.zeros, self.index) if g is None else read(g) for g, aval in pairs]
        operands = [*saved.host, *given, *saved.arrays]
        program = self.executables.backward
        assert program is not None
        # If this pass belongs to that of another traced function, inline the program there.
        outputs = program(operands) if no_jax_trace() else program.inlined(*operands)
        return (wrap(array, self.index) for array in outputs)

    def differentiable_gradients(
        self, saved: Saved, cotangents: Cotangents, avals: Sequence[Aval], leaves: Sequence[torch.Tensor]
    ) -> list[torch.Tensor]:
        """The same, as a differentiable function of the leaves and the cotangents.

        Raises:
            RuntimeError: an array that forward read no longer exists.
            NotImplementedError: a leaf was created within the function, or shares its memory with another.
        """
        index, programs = self.index, self.executables
        leaf_at = dict(zip(self.leaf_places, leaves, strict=True))
        if None in leaf_at or len(leaf_at) < len(leaves):
            raise NotImplementedError(
                "a second derivative of a compiled function by a tensor that was made in it, or that shares its memory "
                "with another; expected arguments and parameters with memory of their own"
            )
        kept = saved.arrays[len(saved.arrays) - len(programs.saved) :]
        arrays: dict[int, Any] = dict(zip(programs.saved, kept, strict=True))
        arrays |= {i: reference() for i, reference in zip(programs.recomputed, saved.recomputed, strict=True)}
        operands = []
        for number in programs.needed:
            leaf, array = leaf_at.get(self.places[number]), arrays[number]
            if leaf is not None:
                operands.append(_whole_memory(leaf))
            elif array is None or array.is_deleted():
                raise RuntimeError(
                    "a second derivative of a compiled function computes forward again, and what it read there was "
                    "overwritten or let go. Keep its arguments, and differentiate before the next call; if the "
                    "function itself writes what it reads (BatchNorm, spectral_norm), take both derivatives in it"
                )
            else:
                operands.append(wrap(array, index))
        pairs = zip(cotangents, avals, strict=True)
        given = [wrap(materialise(aval.zeros, index), index) if g is None else g for g, aval in pairs]
        return call(self._function.number, [*(wrap(x, index) for x in saved.host), *given, *operands])

    @cached_property
    def _function(self) -> FunctionLease:
        """The gradients as a function of arrays that recomputes forward."""
        function = self.executables.gradient()
        return FunctionLease(lambda *xs: tuple(function(*xs)), lambda: self)


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


def _whole_memory(tensor: torch.Tensor) -> torch.Tensor:
    """View a tensor in the shape of its cell's array: the same elements, in memory order.

    Raises:
        NotImplementedError: the tensor covers only a part of its memory, or has another dtype.
    """
    aval = cell_of(tensor).aval
    if tensor.size() == aval.shape and tensor.stride() == aval.stride and tensor.dtype is torch_dtype(aval.dtype):
        return tensor
    if tensor.numel() != math.prod(aval.shape) or tensor.dtype is not torch_dtype(aval.dtype) or tensor.is_conj():
        raise NotImplementedError(
            "a second derivative of a compiled function by a part of a tensor; expected one that is all of its memory"
        )
    return tensor.as_strided(aval.shape, aval.stride, 0)
