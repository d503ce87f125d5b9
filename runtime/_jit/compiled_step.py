"""A compiled step: one traced run of a function as one XLA program, and what each call does on the host.

The arrays that the run read are inputs. Those that it wrote are outputs and replace the old ones, which are donated if
nothing else holds them. Every call repeats the changes that the run made in Python.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Sequence
from itertools import islice
from typing import Any

import torch
from jax.extend.core import Jaxpr

from ..dispatch.aot_call import AotCall
from ..storage.cell import Cell
from ..storage.tensors import cell_of
from ..trace.async_errors import raise_failed_assertions, record_assertions
from .backward import Backward
from .cell_arrays import CellArrays
from .cell_binding import (
    CellBinding,
    changed_tensors,
    find_slots,
    involved_cells,
    leaves_of_used_gradients,
    observed_leaves,
)
from .executables import Executables
from .guards import Guard, late_reads
from .inputs import Inputs
from .observations import observe
from .output_builder import Outputs
from .rebound_state import rebound_state
from .restriction import Restriction
from .sources import given_attributes, is_told_by_key, tensor_at
from .traced_step import TracedStep


class CompiledStep:
    """One run of a function, compiled."""

    def __init__(
        self,
        step: TracedStep,
        arguments: list[Any],
        varying: Container[int] = (),
        earlier: Sequence[CompiledStep] = (),
    ) -> None:
        """
        Args:
            step: the run.
            arguments: the leaves of the call's arguments.
            varying: the positions of arguments that are compared by structure if they are objects.
            earlier: other steps of the function; their programs are reused if they compute the same.

        Raises:
            RuntimeError: the step does not match the call that it was traced for.
        """
        involved = involved_cells(step)
        restriction, leaves = Restriction(step), changed_tensors(step, set(involved))
        rebound = rebound_state(step, arguments, varying, restriction, leaves)
        self.effects = step.effects.relocated(rebound.containers)
        self.rebound_numbers = rebound.numbers(step.state)
        slots = find_slots(step, set(involved), leaves, restriction, rebound)
        self.cells = CellBinding(step, arguments, slots, involved, restriction.nodes)
        self.result, self.assertions = step.outputs.result, step.outputs.assertions
        self.outputs = Outputs(
            step.outputs.storages, self.cells.index, self.cells.aliases, rebound.found_among(step.outputs.found)
        )
        free = slots.entries | step.inputs.script.passed()
        script = step.inputs.script.relocated(rebound.containers)
        step = dataclasses.replace(step, inputs=dataclasses.replace(step.inputs, script=script))
        leaf_gradients = observed_leaves(step, slots)
        observations = observe(step, self.cells.owners, slots.stable, leaf_gradients, free, restriction, rebound)
        had = {id(leaf) for leaf, gradient in leaf_gradients if gradient is not None}
        unused = (had | step.reads.cleared) - leaves_of_used_gradients(step, set(involved))
        changed = (effect.tensor for effect in step.effects.gradients)
        self.replaced = [leaf for leaf in changed if id(tensor_at(leaf, step.arguments)) in unused]
        self.guard, self.shown = Guard(observations), step.outputs.shown
        # Calls are told apart by the ids of objects, which no other may get as long as the program exists.
        tensors = [x for x in arguments if isinstance(x, torch.Tensor)]
        self.objects = {i: x for i, x in enumerate(arguments) if i not in varying and not is_told_by_key(x)}
        self.kept = [x for t in tensors for x in given_attributes(t).values()]
        self.kept += [t for t in tensors if t.layout is not torch.strided]
        self.pinned = any(step.inputs.script.needed())  # whether it is for some values of its inputs only
        self.number = 0  # of its program, among those that the function has made
        self.sharing: list[list[int]] = []  # groups of cells that must share an array
        cells = self.find(arguments)
        if isinstance(cells, str):
            raise RuntimeError(f"tenax.jit: a program does not fit the call that it was made for: {cells}")
        place = {cell: i for i, cell in enumerate(cells)}
        used = {id(c) for c in step.jaxpr.consts}
        groups: dict[int, list[int]] = {}
        for cell, array in step.inputs.cells.items():
            if id(array) in used:
                groups.setdefault(id(array), []).append(place[cell])
        self.sharing += [group for group in groups.values() if len(group) > 1]
        read = sorted(group[0] for group in groups.values())
        self.inputs = Inputs(step, [step.inputs.cells[cells[i]] for i in read], self.cells.index)
        self._has_effects, self._gives_numbers = bool(step.effects), step.inputs.script.choices.given
        self._marks = any(self.effects.written) or bool(self.effects.flags)
        differentiable = step.backward is not None and not step.backward.failure
        # From JAX 0.12 on, a jaxpr holds the values of its constants itself, among them the arguments of this call.
        jaxpr = step.jaxpr.replace(jaxpr=step.jaxpr.jaxpr, consts=[None] * len(step.jaxpr.consts)).jaxpr
        self.executables = Executables(jaxpr, self.inputs, step.outputs.count, differentiable)
        written, followers = step.outputs.written, step.outputs.followers
        self.arrays = CellArrays(
            read,
            [place[cell] for cell, _ in written],
            [(place[cell], place[lead]) for cell, lead in followers],
            held={*(read[i] for i in self.executables.saved), *(group[0] for group in self.sharing)},
            resizes=any(cell.aval is not aval for cell, aval in written),
            fixed=len(self.cells.owners),
            cells=len(cells),
        )
        others = [other.executables for other in earlier]
        self.executables.compile(len(read), self.arrays.donated, self.inputs.host_count, self.arrays.order, others)
        self.backward: Backward | None = None
        if (traced := step.backward) is not None:
            owners, verify = [t for _, t in self.cells.owners], late_reads(step, observations)
            self.backward = Backward(
                step, traced, self.executables, place, owners, read, self.cells.index, slots.of_tensors, verify
            )
        rebound.tensors.clear()  # the guard holds the rest, and no tensor of the run

    @property
    def jaxpr(self) -> Jaxpr:
        """The jaxpr of the run."""
        return self.executables.jaxpr

    @property
    def forward(self) -> AotCall:
        """The forward program."""
        return self.executables.forward

    def find(self, arguments: list[Any]) -> list[Cell] | str:
        """The cells of a call with these arguments, or the reason why the step does not match the call."""
        cells = self.guard.failure(arguments) or self.cells.find(arguments)
        if isinstance(cells, list) and any(len({id(cells[i].content) for i in group}) > 1 for group in self.sharing):
            return "step counts, or other 0-d tensors, no longer share the array that they shared"
        return cells

    def sharing_arguments(self, parts: dict[int, torch.Tensor], cells: list[Cell]) -> set[int]:
        """The positions of those of `parts`, arguments that copies replace, whose own memory matters: the run changes
        it, shows it, or reaches it in another way. `cells` are from `find`, for the copies."""
        others, apart = {*cells}, self.cells.apart
        return {i for i, t in parts.items() if i in self.shown or cell_of(t) in others or id(t) in apart}

    def call(self, arguments: list[Any], cells: list[Cell]) -> Any:
        """Run the step on the cells that `find` returned; return the function's result."""
        raise_failed_assertions()
        numbers = self.inputs.script.peek(arguments) if self._gives_numbers else ()
        host = self.inputs.from_host(arguments) if self.inputs.takes_host else []
        for leaf in self.replaced:  # the new gradients can take the memory of the old ones
            tensor_at(leaf, arguments).grad = None
        arrays, results = self.arrays.run(self.forward, cells, host)
        rest = islice(results, len(self.arrays.written), None)
        builder = self.outputs.builder(rest, arguments)
        builder.numbers = numbers
        if self.assertions:
            record_assertions(next(rest), self.assertions)
        if self._marks:
            self.effects.mark(arguments)
        if self.backward is not None:
            self.backward.attach(builder, arguments, cells, host, arrays, rest)
        if self._has_effects:
            self.effects.apply(builder, arguments)
        return builder.make(self.result)
