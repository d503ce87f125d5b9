"""The results of one traced run of a function, as data: what it read, computed, returned and changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import torch
from jax.extend.core import ClosedJaxpr

from ..storage.avals import Aval
from ..storage.cell import Cell
from ..storage.rebuild import NewStorage
from ..trace.async_errors import Assertion
from .attribute_tracking import AttributeReads
from .effects import Effects
from .host_inputs import HostInput
from .host_script import HostScript, PassedNumbers
from .outputs import AliasOfInput, FoundObject, NewTensor, OutputTree
from .rng_inputs import RngInputs
from .sources import Fetch, Source, TensorSource
from .state_graph import StateGraph


def output_count(storages: Sequence[NewStorage]) -> int:
    """How many outputs of a program are the arrays of storages."""
    return 1 + max((s.source.output for s in storages if s.source.output is not None), default=-1)


@dataclass(frozen=True, slots=True)
class TracedInputs:
    """What the run read, with the arrays that stand for it among the constants of the jaxpr."""

    cells: dict[Cell, jax.Array]
    touched: frozenset[Cell]  # those that it read or wrote
    script: HostScript  # what each call does on the host: numbers of optimizers' groups, and calls of schedulers
    numbers: tuple[jax.Array, ...]
    rng: RngInputs  # what each call draws
    keys: tuple[jax.Array, ...]
    uploads: tuple[HostInput, ...]  # tensors of the host
    uploaded: tuple[jax.Array, ...]
    host_tensors: tuple[torch.Tensor, ...]  # that the run could read

    def relocated(self, containers: Mapping[int, Fetch]) -> TracedInputs:
        """The same with numbers in containers that each call finds by a function, given by the ids of those of the
        run."""
        return dataclasses.replace(self, script=self.script.relocated(containers))


class WrittenCell(NamedTuple):
    """A cell from outside that the run wrote, and the shape and dtype that it gave it."""

    cell: Cell
    aval: Aval


@dataclass(frozen=True, slots=True)
class TracedOutputs:
    """What the run returned, and the arrays that the jaxpr computes for it.

    The jaxpr returns the arrays of the new tensors, then of the written cells, then one bool array of the assertions,
    and then what belongs to the backward pass.
    """

    result: OutputTree
    storages: tuple[NewStorage, ...]  # that the run made
    written: tuple[WrittenCell, ...]
    assertions: tuple[Assertion, ...]
    aliases: tuple[AliasOfInput, ...]
    differentiable: tuple[NewTensor | AliasOfInput, ...]  # the results that autograd follows
    device_index: int
    count: int  # outputs of the jaxpr before those of the backward pass
    found: tuple[FoundObject, ...]  # objects from outside among the results and in what the run changed
    held: frozenset[int]  # the ids of objects from outside that results hold and that must be the same in every call


class BackwardEffect(NamedTuple):
    """What the backward pass of the results left in an entry: None if it deleted the entry."""

    source: Source
    value: OutputTree | None
    appended: bool = False  # whether the value is a list of what was appended to a sequence
    number: bool = False  # whether it is no tensor, and was computed from what the entry held: `old`
    old: Any = None


@dataclass(frozen=True, slots=True)
class TracedBackward:
    """The backward pass of the results, traced on behind the function.

    The jaxpr returns the gradients of the leaves that get one, then the arrays of the effects, then the arrays of the
    written cells.
    """

    cotangents: tuple[jax.Array, ...]
    leaves: tuple[TensorSource | NewTensor, ...]
    givers: tuple[frozenset[int], ...]  # for each leaf, the numbers of the results that give it a gradient
    failure: str  # the error that torch raised, which every backward pass raises again; or nothing
    effects: tuple[BackwardEffect, ...]
    storages: tuple[NewStorage, ...]  # that the effects need
    device_index: int
    written: tuple[Cell, ...]
    functions: tuple[type[Any], ...] = ()  # in Python, that it called
    held: frozenset[int] = frozenset()  # as in `TracedOutputs`


@dataclass(frozen=True, slots=True)
class TracedStep:
    """One traced run of a function."""

    jaxpr: ClosedJaxpr
    arguments: tuple[Any, ...]  # the leaves of the arguments, as the function got them
    state: StateGraph  # what the function reached before the run
    reads: AttributeReads
    gradients: tuple[tuple[torch.Tensor, torch.Tensor | None], ...]  # of the leaves that it reached, before the run
    inputs: TracedInputs
    outputs: TracedOutputs
    effects: Effects
    backward: TracedBackward | None
    numbers: PassedNumbers  # that the run found and that its inputs lack: it must be traced again with them
