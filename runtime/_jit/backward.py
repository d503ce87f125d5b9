"""The backward pass of a compiled step: what a call saves for it, and how it is computed."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import jax
import torch

from ..dispatch.jax_call import FunctionLease, call
from ..dtypes import torch_dtype
from ..storage.avals import Aval
from ..storage.cell import Cell
from ..storage.placement import materialise, no_jax_trace
from ..storage.tensors import cell_of, wrap
from ..trace.transfer import read
from .executables import Executables
from .late_effects import Contents, LateEffects
from .late_reads import LateReads
from .outputs import AliasOfInput, NewTensor
from .sources import TensorSource
from .traced_step import TracedBackward

Cotangents = Sequence[torch.Tensor | None]


class Saved(NamedTuple):
    """What one call saves for its backward pass."""

    host: list[jax.Array]  # the operands that came from the host
    arrays: list[jax.Array]  # residuals, then the arrays of the cells that backward reads
    recomputed: list[weakref.ref[jax.Array]]  # further arrays, which only second derivatives read
    arguments: list[Any] | None  # of the call, if late effects need them
    contents: Contents  # of the cells that backward writes


class Backward:
    """Computes the gradients of the leaves from the cotangents of the results."""

    def __init__(
        self,
        traced: TracedBackward,
        results: Sequence[NewTensor | AliasOfInput],
        executables: Executables,
        late: LateEffects,
        leaf_places: list[int | None],
        places: list[int],
        index: int,
    ) -> None:
        """
        Args:
            traced: the traced backward pass.
            results: the differentiable results.
            executables: the programs of the step.
            late: what the pass changes besides gradients.
            leaf_places: for each leaf, the index of its cell among the cells of a call, or None.
            places: the indices of the cells that are read.
            index: the index of the device.
        """
        self.leaves: tuple[TensorSource | NewTensor, ...] = traced.leaves
        self.givers, self.failure, self.assertions = traced.givers, traced.failure, traced.assertions
        self.results, self.late, self.index, self.unfilled = results, late, index, traced.unfilled
        self.executables = executables
        self.leaf_places, self.places = leaf_places, places
        self.reads: LateReads | None = None  # what Python autograd functions read in backward
        # For leaves whose arrays backward reads, it checks that they were not written since forward.
        saved = {places[number] for number in executables.saved}
        self.checked = [place in saved for place in leaf_places]

    def saved(
        self, cells: list[Cell], host: list[jax.Array], arrays: list[jax.Array], residuals: list[jax.Array], args: Any
    ) -> Saved:
        """What a call saves; `arrays` are those that it read."""
        return Saved(
            host,
            [*residuals, *(arrays[i] for i in self.executables.saved)],
            [weakref.ref(arrays[i]) for i in self.executables.recomputed],
            args if self.late.effects else None,
            self.late.contents(cells),
        )

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
