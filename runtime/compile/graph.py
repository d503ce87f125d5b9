"""A compiled FX graph of aten ops, traced once for each geometry of its inputs and then called without torch.

The whole graph runs on the device: CPU arguments are uploaded at each call, and CPU results are downloaded.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextlib import nullcontext
from operator import is_
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch import fx

from .._torch.operators import ITEM
from ..float32_products import float32_products
from ..storage import random
from ..storage.cell import Cell
from ..storage.mutation import donating, mutation_epoch
from ..storage.placement import put
from ..storage.spec import TensorSpec, lazy_bits
from ..storage.tensors import NAME, cell_of, new_tensor
from ..trace.async_errors import raise_failed_assertions
from ..trace.transfer import read, upload
from .graph_program import BackendOptions, Graph, GraphProgram, NotSharedError, SortedArguments
from .nodes import device_of, is_on_host, is_random, is_steady, on_device

_HELD = 256  # maximum programs per graph; beyond that the oldest is dropped


class ParameterCache:
    """The parameters among the arguments of a call, with their cells and arrays, while nothing in the process replaces
    an array. Looking up the array of each parameter took half of the host time of a call with 148 parameters."""

    def __init__(
        self, given: Sequence[Any], places: Sequence[int], cells: Sequence[Cell], values: Sequence[jax.Array], seen: int
    ) -> None:
        """`places` are the indices of the arguments' cells; `seen` is the mutation epoch before they were read."""
        self.at = [i for i, x in enumerate(given) if isinstance(x, torch.nn.Parameter)]
        self.tensors = [given[i] for i in self.at]
        known = {places[i] for i in self.at}
        self.rest = [(i, place) for i, place in enumerate(places) if not isinstance(given[i], torch.nn.Parameter)]
        self.cells: list[Any] = [c if k in known else None for k, c in enumerate(cells)]
        self.values: list[Any] = [v if k in known else None for k, v in enumerate(values)]
        self.seen = seen  # the epoch also counts tensors that move to another storage
        mutation_epoch.invalidators.append(weakref.ref(self))

    def among(self, given: Sequence[Any]) -> tuple[list[Any], list[Any]] | None:
        """The cells and arrays for these arguments, with None for those of `rest`; None if the cache is stale."""
        tensors, cells, values = self.tensors, self.cells, self.values  # another thread may call `invalidate`
        if self.seen != mutation_epoch.count or not all(map(is_, map(given.__getitem__, self.at), tensors)):
            return None
        return cells.copy(), values.copy()

    def invalidate(self) -> None:
        """Drop the cached arrays; see `Invalidator`."""
        self.tensors, self.cells, self.values = [], [], []


class CompiledGraph:
    """A graph of aten ops as a function of a list of arguments, which it clears."""

    def __init__(self, module: fx.GraphModule, name: str, options: BackendOptions) -> None:
        self.index = device_of(module) or 0
        inputs = [n for n in module.graph.nodes if n.op == "placeholder"]
        output = next(n for n in module.graph.nodes if n.op == "output")
        downloads = [i for i, n in enumerate(output.args[0]) if isinstance(n, fx.Node) and is_on_host(n)]
        # torch guards the strides of inputs, except those of incoming gradients.
        self.unguarded = [i for i, n in enumerate(inputs) if n.name.startswith("tangents")]
        # Inputs read with item(). If they are CPU tensors, their values are part of the key.
        self.numbers = {i for i, n in enumerate(inputs) if any(u.target is ITEM for u in n.users)}
        self.steady = all(map(is_steady, inputs))
        self.draws = sum(map(is_random, module.graph.nodes))
        module, self.constants = on_device(module)
        # The lazy bits for which the graph was captured; inputs with other bits are resolved before a call.
        self.bits = [*map(_bits_of, inputs), *(0 for _ in self.constants)]
        self.graph = Graph(module, name, self.index, downloads, options)
        self.programs: dict[Any, GraphProgram] = {}
        self.leads: dict[Any, list[int]] = {}  # of calls with cells that share an array and get different ones
        self.latest: GraphProgram | None = None
        self.seen = -1  # the mutation epoch at the last call
        self.kept: ParameterCache | None = None
        self.checks: list[tuple[int, tuple[int, ...], int]] = []  # (input, strides, offset) to check

    def __call__(self, args: list[Any]) -> Any:
        raise_failed_assertions()
        program = self.latest
        if program is None or program.precision != float32_products.in_effect:
            return self.bind(args)
        if not program.donated:
            return self.call(program, args)
        with donating:
            return self.call(program, args)

    def call(self, program: GraphProgram, args: list[Any]) -> Any:
        """Call the latest program if the arguments match it; otherwise `bind`."""
        given = [*args, *self.constants]
        still, self.seen = self.seen == mutation_epoch.count, mutation_epoch.count
        avals, kept = program.avals, self.kept
        known = None if kept is None else kept.among(given)
        if known is None or kept is None:
            known, rest = ([None] * len(avals), [None] * len(avals)), program.order
        else:
            rest = kept.rest
        cells, values = known
        for i, place in rest:
            cell = given[i].untyped_storage().cell
            if cells[place] is not None:  # it shares memory with an earlier argument
                if cells[place] is not cell:
                    return self.bind(args)
                continue
            if cell.aval is not avals[place] or cell.index or cell.mixed:
                return self.bind(args)
            cells[place] = cell
            values[place] = cell.read() if cell.array is None else cell.array
        for i, lead in program.followers:
            if values[i] is not values[lead]:
                return self.bind(args)
        for i, stride, offset in self.checks:
            x = given[i]
            if x.stride() != stride or x.storage_offset() != offset or lazy_bits(x) != self.bits[i]:
                return self.bind(args)
        if still and (kept is None or kept.seen != self.seen):
            self.kept = ParameterCache(given, program.places, cells, values, self.seen)
        args.clear()
        for i, _ in reversed(program.followers):
            del values[i]
        return program(given, cells, values, self.keys() if self.draws else ())

    def bind(self, args: list[Any]) -> Any:
        """Find or create the program for the arguments and call it."""
        given = [*args, *self.constants]
        args.clear()
        found = self.sort(given)
        natural, keys = found.key, self.keys()
        found = found._replace(leads=self.leads.get(natural, found.leads))
        try:
            return self.run(given, found, keys)
        except NotSharedError as error:
            self.programs.pop(found.key)
            if len(self.leads) >= _HELD:
                self.leads.clear()
            self.leads[natural] = error.leads
            return self.run(given, found._replace(leads=error.leads), keys)

    def run(self, given: list[Any], found: SortedArguments, keys: tuple[Any, ...]) -> Any:
        """Find or create the program for sorted arguments and call it."""
        key = found.key
        program = self.programs.get(key)
        if program is None:
            if len(self.programs) >= _HELD:
                del self.programs[next(iter(self.programs))]
            program = self.programs[key] = GraphProgram(self.graph, found)
        self.latest = self.kept = None
        if self.steady and not found.copied:
            self.latest = program
            avals = [program.avals[place] for place in program.places]
            self.checks = [
                (i, g.stride, g.offset)
                for i, (g, aval) in enumerate(zip(found.shown, avals, strict=True))
                if g is not None and (i in self.unguarded or g.size != aval.shape or g.stride != aval.stride)
            ]
        with donating if program.donated else nullcontext():
            values = [found.cells[i].read() for i in program.operands]
            before = [found.cells[k].content for k, _ in found.copied]
            results = program(given, found.cells, values, keys)
        for (k, x), held in zip(found.copied, before, strict=True):
            if x.nbytes and not found.cells[k].nbytes:
                x.untyped_storage().resize_(0)
            elif found.cells[k].content is not held:
                x.copy_(new_tensor(found.cells[k], x.size(), x.dtype))
        return results

    def sort(self, given: Sequence[Any]) -> SortedArguments:
        """Sort the arguments into operands and parts of the key."""
        found = SortedArguments([], [], [], [], [], [])
        numbers: dict[Cell, int] = {}
        copies: dict[Any, Cell] = {}
        for i, x in enumerate(given):
            if not isinstance(x, torch.Tensor) or (i in self.numbers and x.device.type != NAME):
                found.static.append(x)
                found.shown.append(None)
                found.places.append(None)
                continue
            host = x.device.type != NAME
            if host or lazy_bits(x) != self.bits[i]:
                cell = Cell(upload(x, self.index) if host else read(x), self.index)
                geometry = TensorSpec.contiguous(cell.shape, x.dtype)
                found.copied.append((len(found.cells), x))
            elif cell_of(x).mixed:
                cell, geometry = self._memory(x, found, copies), TensorSpec.of(x)
            else:
                cell, geometry = cell_of(x), TensorSpec.of(x)
            if cell not in numbers:
                numbers[cell] = len(found.cells)
                found.cells.append(cell)
            found.static.append(None)
            found.shown.append(geometry)
            found.places.append(numbers[cell])
        first: dict[int, int] = {}
        for i, cell in enumerate(found.cells):
            found.leads.append(i if cell.shape else first.setdefault(id(cell.content), i))
        return found

    def _memory(self, x: torch.Tensor, found: SortedArguments, copies: dict[Any, Cell]) -> Cell:
        """A copy of a mixed storage (viewed with several dtypes) in the dtype of `x`."""
        mixed = cell_of(x)
        if (copy := copies.get((mixed, x.dtype))) is None:
            whole = TensorSpec.contiguous((mixed.nbytes // x.itemsize,), x.dtype).on(x)
            copy = copies[mixed, x.dtype] = Cell(read(whole), self.index)
            found.copied.append((len(found.cells), whole))
        return copy

    def keys(self) -> tuple[Any, ...]:
        """Draw the keys of the random operations from the device's stream: uint32[draws, 2]."""
        if not self.draws:
            return ()
        found = [random.next_key() for _ in range(self.draws)]
        known = all(isinstance(k, np.ndarray) for k in found)
        return (put(np.stack(found), self.index) if known else jnp.stack(found),)


def _bits_of(node: fx.Node) -> int:
    """The lazy bits of a graph input."""
    example = node.meta.get("val")
    return lazy_bits(example) if isinstance(example, torch.Tensor) else 0
