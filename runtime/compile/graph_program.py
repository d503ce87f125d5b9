"""An FX graph of aten ops as one JAX function, for one geometry of its inputs.

The trace runs the graph on tensors that wrap tracers, so views, strides and writes behave as in eager mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import torch
from torch import fx

from .._torch.dispatcher import DisableAutocast
from ..dispatch.aot_call import AotCall
from ..dispatch.donation import is_worthwhile, repeat_until_done
from ..dispatch.lowering_trace import with_torch_dtypes
from ..dispatch.reference_counts import held_elsewhere, is_available
from ..dtypes import numpy_dtype, torch_dtype
from ..errors import TraceError
from ..float32_products import float32_products
from ..storage.cell import Cell, FreshCell
from ..storage.ordinals import jax_devices
from ..storage.placement import no_jax_trace
from ..storage.spec import TensorSpec
from ..storage.tensors import new_tensor
from ..trace.async_errors import Assertion, record_assertions
from ..trace.tracing import Trace, tracing
from .graph_tracer import GraphTracer
from .outputs import GraphOutputs


class BackendOptions(NamedTuple):
    """How graphs are compiled."""

    donate: bool = True
    compiler_options: dict[str, Any] | None = None  # of `jax.jit`


class Graph(NamedTuple):
    """A graph and the settings for its programs."""

    module: fx.GraphModule  # on the device
    name: str
    device: int  # its index
    downloads: list[int]  # indices of the results that belong on the CPU
    options: BackendOptions


class SortedArguments(NamedTuple):
    """The arguments of a call, sorted."""

    static: list[Any]  # None where the argument is a tensor operand
    shown: list[TensorSpec | None]
    places: list[int | None]  # of the cell of each tensor
    cells: list[Cell]
    copied: list[tuple[int, torch.Tensor]]  # cells that are copies, and the tensors to write back to
    leads: list[int]  # for each cell, the first one whose array it shares, as the step counts of an optimizer do

    @property
    def key(self) -> Any:
        """Everything that a trace depends on."""
        static = tuple((x.__class__, repr(x) if isinstance(x, (float, torch.Tensor)) else x) for x in self.static)
        avals = tuple(c.aval for c in self.cells)
        modes = torch.get_default_dtype(), float32_products.in_effect
        return static, tuple(self.shown), tuple(self.places), avals, modes, tuple(self.leads)


class NotSharedError(Exception):
    """A run leaves cells that share an array on different ones. With the leads that suit it."""

    def __init__(self, leads: list[int]) -> None:
        super().__init__()
        self.leads = leads


class GraphProgram:
    """A graph for one geometry of its arguments."""

    def __init__(self, graph: Graph, sorted_: SortedArguments) -> None:
        self.index = graph.device
        self.options = graph.options
        self.downloads = graph.downloads
        self.avals = [c.aval for c in sorted_.cells]
        self.places = [place for place in sorted_.places if place is not None]
        self.order = [*enumerate(self.places)]
        self.followers = [(i, lead) for i, lead in enumerate(sorted_.leads) if i != lead]
        self.operands = [i for i, lead in enumerate(sorted_.leads) if i == lead]  # the cells whose arrays are passed
        self.precision = float32_products.in_effect
        self.outputs = GraphOutputs()
        self.assertions: tuple[Assertion, ...] = ()  # their outcomes are the last output
        self.traced = with_torch_dtypes(self.trace(graph, sorted_), numpy_dtype(torch.get_default_dtype()))
        self.traced.__name__ = self.traced.__qualname__ = graph.name
        self.run = AotCall(self.traced, options=graph.options.compiler_options)
        self.donating: AotCall | None = None
        self.donated: tuple[int, ...] | None = None  # known once traced

    def trace(self, graph: Graph, sorted_: SortedArguments) -> Callable[..., Any]:
        """Build the function that `jit` traces; it records the graph's outputs and writes."""
        module, recorded = graph.module, self.outputs
        static, shown, places = sorted_.static, sorted_.shown, sorted_.places
        avals = self.avals
        dtypes = [torch_dtype(aval.dtype) for aval in avals]
        leads, n = sorted_.leads, len(self.operands)
        position = {lead: i for i, lead in enumerate(self.operands)}

        def run(*operands: jax.Array) -> tuple[jax.Array, ...]:
            keys = iter(operands[n] if len(operands) > n else ())

            def draw(generator: torch.Generator | None) -> Any:
                if generator is not None:
                    raise TraceError("torch.compile(backend='tenax'): a generator; expected the device's own stream")
                key = next(keys, None)
                if key is None:
                    raise NotImplementedError(
                        "torch.compile(backend='tenax'): a random operation within control flow; draw outside of it"
                    )
                return key

            trace = Trace(lifts=False, draw=draw, asserts=True)
            with tracing(trace), torch.no_grad(), DisableAutocast():
                arrays = [operands[position[lead]] for lead in leads]
                cells = [FreshCell(x, aval) for x, aval in zip(arrays, avals, strict=True)]
                bases = [new_tensor(c, c.shape, d) for c, d in zip(cells, dtypes, strict=True)]
                given = [
                    x if g is None or k is None else g.on(bases[k])
                    for x, g, k in zip(static, shown, places, strict=True)
                ]
                results = GraphTracer(module).run(*given)
                outputs = recorded.record(given, places, cells, arrays, operands[:n], results)
                suited = recorded.leads(leads)
                if suited != leads:
                    raise NotSharedError(suited)
            self.assertions = tuple(assertion for _, assertion in trace.conditions)
            if not self.assertions:
                return outputs
            return *outputs, jnp.stack([jnp.all(holds) for holds, _ in trace.conditions])

        return run

    def __call__(self, args: Sequence[Any], cells: Sequence[Cell], values: list[Any], keys: tuple[Any, ...]) -> Any:
        if not no_jax_trace():
            outputs = self.run.inlined(*values, *keys)
        elif self.donated and not held_elsewhere(values, self.donated, [cells[self.operands[i]] for i in self.donated]):
            if self.donating is None:
                self.donating = AotCall(self.traced, self.donated, self.run.options)
            ran: list[Sequence[jax.Array]] = []
            try:
                self.donating.into(ran, [*values, *keys])
                return self.results(args, cells, ran[0], values)
            except BaseException:
                if ran:  # interrupted: the old arrays are donated, so the cells must still get the new ones
                    repeat_until_done(lambda: self.outputs.make(args, cells, ran[0], values, self.index))
                raise
        else:
            with nullcontext() if not self.index else jax.default_device(jax_devices()[self.index]):
                outputs = self.run([*values, *keys])
            if self.donated is None:
                self.donated = self.donations()
        return self.results(args, cells, outputs, values)

    def results(
        self, args: Sequence[Any], cells: Sequence[Cell], outputs: Sequence[jax.Array], values: list[Any]
    ) -> list[Any]:
        """Write back to the cells and build the results of a call."""
        if self.assertions:
            record_assertions(outputs[-1], self.assertions)
        results = self.outputs.make(args, cells, outputs, values, self.index)
        for i in self.downloads:
            results[i] = results[i].cpu()
        return results

    def donations(self) -> tuple[int, ...]:
        """The operands whose buffers the program may reuse: written ones whose old arrays are not kept by a result."""
        unchanged = self.outputs.unchanged()
        shared = {i for pair in self.followers for i in pair}
        position = {cell: i for i, cell in enumerate(self.operands) if cell not in shared}
        written = [i for w in self.outputs.written if (i := position.get(w.input)) is not None and i not in unchanged]
        large = is_worthwhile(sum(self.avals[self.operands[i]].nbytes for i in written), len(written))
        return tuple(written) if self.options.donate and large and is_available() else ()
