"""The record of one traced run of a function: what it read, computed, returned and changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import torch
from jax.extend.core import ClosedJaxpr

from ..storage.avals import Aval
from ..storage.cell import Cell
from ..storage.rebuild import NewStorage
from ..trace.async_errors import Assertion
from .attribute_tracking import AttributeReads
from .effects import Effects, EntryEffect
from .host_inputs import HostInput
from .host_script import HostScript, PassedNumbers
from .outputs import AliasOfInput, FoundObject, NewTensor, OutputTree
from .random_numbers import RngInputs
from .sources import TensorSource
from .state_graph import StateGraph


@dataclass(frozen=True, slots=True)
class TracedInputs:
    """The inputs that the run read, with their placeholder arrays among the constants of the jaxpr."""

    cells: dict[Cell, jax.Array]
    touched: frozenset[Cell]  # cells that the run read or wrote
    script: HostScript  # what each call does on the host: read numbers, and call schedulers
    rng: RngInputs  # the keys that each call draws
    uploads: tuple[HostInput, ...]  # host tensors
    placeholders: dict[str, Sequence[jax.Array]]  # of the numbers, keys and uploads
    host_tensors: tuple[torch.Tensor, ...]  # all host tensors that the run could read


@dataclass(frozen=True, slots=True)
class TracedOutputs:
    """What the run returned, and the arrays that the jaxpr computes for it.

    The jaxpr returns the arrays of written cells, then those of new tensors, then one bool array of the assertions, and
    then the outputs of the backward pass.
    """

    result: OutputTree
    storages: tuple[NewStorage, ...]  # the storages that the run made
    written: tuple[tuple[Cell, Aval], ...]  # outside cells that the run wrote, with their avals after it
    followers: tuple[tuple[Cell, Cell], ...]  # cells that get the array of a written one, on whose array they were
    assertions: tuple[Assertion, ...]
    aliases: tuple[AliasOfInput, ...]
    differentiable: tuple[NewTensor | AliasOfInput, ...]  # the results that autograd tracks
    device_index: int
    count: int  # the number of outputs before those of the backward pass
    found: tuple[FoundObject, ...]  # outside objects among the results and in effects
    held: frozenset[int]  # the ids of outside objects that results hold and that must be the same in every call
    shown: frozenset[int]  # arguments whose memory the run changed, returned, stored or asked for


@dataclass(frozen=True, slots=True)
class TracedBackward:
    """The backward pass of the results, traced after the function.

    The jaxpr returns the gradients of the leaves that get one, then one bool array of the assertions, the arrays of the
    effects, and those of the written cells.
    """

    cotangents: tuple[jax.Array, ...]
    leaves: tuple[TensorSource | NewTensor, ...]
    givers: tuple[frozenset[int], ...]  # for each leaf, the indices of the results that contribute to its gradient
    failure: str  # the message of the error that torch raised, and that every backward pass raises again; or empty
    effects: tuple[EntryEffect, ...]  # of entries that it changed
    storages: tuple[NewStorage, ...]  # the storages of the effects
    device_index: int
    written: tuple[Cell, ...]
    assertions: tuple[Assertion, ...] = ()
    functions: tuple[type[Any], ...] = ()  # the Python autograd functions that it called
    held: frozenset[int] = frozenset()  # as in `TracedOutputs`
    unfilled: tuple[tuple[str, tuple[frozenset[int], ...]], ...] = ()  # as from `unfilled_outputs`


@dataclass(frozen=True, slots=True)
class TracedStep:
    """One traced run of a function."""

    jaxpr: ClosedJaxpr
    arguments: tuple[Any, ...]  # the leaves of the arguments, as passed to the function
    state: StateGraph  # what the function reached before the run
    reads: AttributeReads
    gradients: tuple[tuple[torch.Tensor, torch.Tensor | None], ...]  # reached leaves with gradients before the run
    inputs: TracedInputs
    outputs: TracedOutputs
    effects: Effects
    backward: TracedBackward | None
    numbers: PassedNumbers  # numbers that vary but are not inputs yet; if any, the function must be traced again
