"""An FX graph of aten ops as one JAX function: traced once for each geometry of its inputs, then called without torch.

The trace runs the graph on tensors that wrap tracers, so views, strides and writes are those of eager mode. All of a
graph runs on the device: CPU tensors among its arguments are uploaded at each call, CPU results are downloaded.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch import fx
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from tenax.generated.table import ROWS

from .._torch import pytree
from .._torch.dispatcher import DisableAutocast
from .._torch.operators import ITEM
from ..aten.registry import signature_of
from ..dispatch.aot_call import AotCall
from ..dispatch.donation import donating, held_elsewhere, is_available, is_worthwhile, repeat_until_done
from ..dispatch.lowering_trace import with_torch_dtypes
from ..dtypes import numpy_dtype, torch_dtype
from ..errors import TraceError
from ..storage import random
from ..storage.cell import Cell, FreshCell
from ..storage.mutation import mutation_epoch
from ..storage.ordinals import jax_devices
from ..storage.placement import no_jax_trace, put
from ..storage.spec import TensorSpec
from ..storage.tensors import cell_of, new_tensor
from ..trace.async_errors import Assertion, raise_failed_assertions, record_assertions
from ..trace.core import current_trace
from ..trace.tracing import Trace, tracing
from ..trace.transfer import read, upload
from .graph_tracer import GraphTracer
from .outputs import GraphOutputs
from .parameter_cache import ParameterCache

_hop = torch.ops.higher_order
_HELD = 256  # programs of a graph; beyond them the oldest is dropped


class BackendOptions(NamedTuple):
    """How graphs are compiled."""

    donate: bool = True
    compiler_options: dict[str, Any] | None = None  # of `jax.jit`


class SortedArguments(NamedTuple):
    """The arguments of a call, sorted."""

    static: list[Any]  # None in the place of a tensor that is an operand
    shown: list[TensorSpec | None]
    places: list[int | None]  # of the cell of each tensor
    cells: list[Cell]
    copied: list[tuple[int, torch.Tensor]]  # cells that hold a copy of a tensor, which a write must reach

    @property
    def key(self) -> Any:
        """What a trace depends on."""
        static = tuple((x.__class__, repr(x) if isinstance(x, (float, torch.Tensor)) else x) for x in self.static)
        avals = tuple(c.aval for c in self.cells)
        return static, tuple(self.shown), tuple(self.places), avals, torch.get_default_dtype()


class GraphProgram:
    """A graph for one geometry of its arguments."""

    def __init__(self, graph: CompiledGraph, sorted_: SortedArguments) -> None:
        self.index = graph.index
        self.options = graph.options
        self.downloads = [i for i, host in enumerate(graph.host_results) if host]
        self.avals = [c.aval for c in sorted_.cells]
        self.places = [place for place in sorted_.places if place is not None]
        self.order = [*enumerate(self.places)]
        self.outputs = GraphOutputs()
        self.assertions: tuple[Assertion, ...] = ()  # whose outcomes are the last output
        self.asserts = graph.name != "backward"  # which indexes by what forward has checked
        self.traced = with_torch_dtypes(self.trace(graph, sorted_), numpy_dtype(torch.get_default_dtype()))
        self.traced.__name__ = self.traced.__qualname__ = graph.name
        self.run = AotCall(self.traced, options=graph.options.compiler_options)
        self.donating: AotCall | None = None
        self.donated: tuple[int, ...] | None = None  # known when it was traced

    def trace(self, graph: CompiledGraph, sorted_: SortedArguments) -> Callable[..., Any]:
        """The function that `jit` traces, which records what the graph did."""
        module, recorded = graph.module, self.outputs
        static, shown, places = sorted_.static, sorted_.shown, sorted_.places
        avals = self.avals
        dtypes = [torch_dtype(aval.dtype) for aval in avals]
        n = len(dtypes)

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

            trace = Trace(lifts=False, draw=draw, asserts=self.asserts)
            with tracing(trace), torch.no_grad(), DisableAutocast():
                cells = [FreshCell(x, aval) for x, aval in zip(operands, avals, strict=False)]
                bases = [new_tensor(c, c.shape, d) for c, d in zip(cells, dtypes, strict=True)]
                given = [
                    x if g is None or k is None else g.on(bases[k])
                    for x, g, k in zip(static, shown, places, strict=True)
                ]
                results = GraphTracer(module).run(*given)
                outputs = recorded.record(given, places, cells, operands[:n], results)
            self.assertions = tuple(assertion for _, assertion in trace.conditions)
            if not self.assertions:
                return outputs
            return *outputs, jnp.stack([jnp.all(holds) for holds, _ in trace.conditions])

        return run

    def __call__(self, args: Sequence[Any], cells: Sequence[Cell], values: list[Any], keys: tuple[Any, ...]) -> Any:
        if not no_jax_trace():
            outputs = self.run.inlined(*values, *keys)
        elif self.donated and not held_elsewhere(values, self.donated, map(cells.__getitem__, self.donated)):
            if self.donating is None:
                self.donating = AotCall(self.traced, self.donated, self.options.compiler_options)
            ran: list[Sequence[jax.Array]] = []
            try:
                self.donating.into(ran, [*values, *keys])
                return self.results(args, cells, ran[0], values)
            except BaseException:
                if ran:  # Ctrl-C: the old arrays are donated, so the cells get the new ones
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
        """What a call returns; writes the cells that the program writes."""
        if self.assertions:
            self.report(outputs[-1])
        results = self.outputs.make(args, cells, outputs, values, self.index)
        for i in self.downloads:
            results[i] = results[i].cpu()
        return results

    def report(self, holds: jax.Array) -> None:
        """Pass on the outcomes of the assertions: to a compiled function that calls this one, else to the next call."""
        outer = current_trace()
        if no_jax_trace():
            record_assertions(holds, self.assertions)
        elif outer is not None and outer.asserts:
            outer.conditions += zip(holds, self.assertions, strict=True)

    def donations(self) -> tuple[int, ...]:
        """The operands whose buffers the program may reuse: those written, and no part of a result as they were."""
        unchanged = self.outputs.unchanged()
        written = tuple(w.input for w in self.outputs.written if w.input not in unchanged)
        large = is_worthwhile(sum(self.avals[i].nbytes for i in written), len(written))
        return written if self.options.donate and large and is_available() else ()


class CompiledGraph:
    """A graph of aten ops as a function of a list of arguments, which it empties."""

    def __init__(self, module: fx.GraphModule, name: str, options: BackendOptions) -> None:
        self.name = name
        self.options = options
        self.index = device_of(module) or 0
        inputs = [n for n in module.graph.nodes if n.op == "placeholder"]
        output = next(n for n in module.graph.nodes if n.op == "output")
        self.host_results = [isinstance(n, fx.Node) and _on_host(n) for n in output.args[0]]
        # torch guards the strides of inputs; those of incoming gradients are their maker's affair.
        self.unguarded = [i for i, n in enumerate(inputs) if n.name.startswith("tangents")]
        # Numbers that the program reads of CPU tensors are part of its key.
        self.numbers = {i for i, n in enumerate(inputs) if any(u.target is ITEM for u in n.users)}
        self.steady = all(map(_is_steady, inputs))
        self.draws = sum(map(is_random, module.graph.nodes))
        self.module, self.constants = _on_device(module)
        self.programs: dict[Any, GraphProgram] = {}
        self.latest: GraphProgram | None = None
        self.seen = -1  # the count of writes at the last call
        self.kept: ParameterCache | None = None
        self.checks: list[tuple[int, tuple[int, ...], int]] = []  # strides and offsets to be those of the latest call

    def __call__(self, args: list[Any]) -> Any:
        raise_failed_assertions()
        program = self.latest
        if program is None:
            return self.bind(args)
        if not program.donated:
            return self.call(program, args)
        with donating:
            return self.call(program, args)

    def call(self, program: GraphProgram, args: list[Any]) -> Any:
        """A call of the latest program, if it fits."""
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
            if cells[place] is not None:  # it shares memory with one before
                if cells[place] is not cell:
                    return self.bind(args)
                continue
            if cell.aval is not avals[place] or cell.index or cell.mixed:
                return self.bind(args)
            cells[place] = cell
            values[place] = cell.read() if cell.array is None else cell.array
        for i, stride, offset in self.checks:
            if given[i].stride() != stride or given[i].storage_offset() != offset:
                return self.bind(args)
        if still and (kept is None or kept.seen != self.seen):
            self.kept = ParameterCache(given, program.places, cells, values, self.seen)
        args.clear()
        return program(given, cells, values, self.keys() if self.draws else ())

    def bind(self, args: list[Any]) -> Any:
        """A call whose program is not that of the latest."""
        given = [*args, *self.constants]
        args.clear()
        found = self.sort(given)
        key = found.key
        program = self.programs.get(key)
        if program is None:
            if len(self.programs) >= _HELD:
                del self.programs[next(iter(self.programs))]
            program = self.programs[key] = GraphProgram(self, found)
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
            values = [c.read() for c in found.cells]
            before = [found.cells[k].content for k, _ in found.copied]
            results = program(given, found.cells, values, self.keys())
        for (k, x), held in zip(found.copied, before, strict=True):
            if found.cells[k].content is not held:
                x.copy_(new_tensor(found.cells[k], x.size(), x.dtype))
        return results

    def sort(self, given: Sequence[Any]) -> SortedArguments:
        """The arguments as operands and parts of the key."""
        found = SortedArguments([], [], [], [], [])
        numbers: dict[Cell, int] = {}
        copies: dict[Any, Cell] = {}
        for i, x in enumerate(given):
            if not isinstance(x, torch.Tensor) or (i in self.numbers and x.device.type != "jax"):
                found.static.append(x)
                found.shown.append(None)
                found.places.append(None)
                continue
            host = x.device.type != "jax"
            if host or x.is_conj() or x.is_neg():
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
        return found

    def _memory(self, x: torch.Tensor, found: SortedArguments, copies: dict[Any, Cell]) -> Cell:
        """A copy, in the dtype of a tensor, of its storage, which is seen through several dtypes."""
        mixed = cell_of(x)
        if (copy := copies.get((mixed, x.dtype))) is None:
            whole = TensorSpec.contiguous((mixed.nbytes // x.itemsize,), x.dtype).on(x)
            copy = copies[mixed, x.dtype] = Cell(read(whole), self.index)
            found.copied.append((len(found.cells), whole))
        return copy

    def keys(self) -> tuple[Any, ...]:
        """The keys of the random operations, from the device's stream: uint32[draws, 2]."""
        if not self.draws:
            return ()
        found = [random.next_key() for _ in range(self.draws)]
        known = all(isinstance(k, np.ndarray) for k in found)
        return (put(np.stack(found), self.index) if known else jnp.stack(found),)


def device_of(module: fx.GraphModule) -> int | None:
    """The index of the device on which a graph computes; None where none of its tensors is on device jax.

    Raises:
        NotImplementedError: there are several.
    """
    found = {x.device.index or 0 for n in module.graph.nodes for x in _tensors(n) if x.device.type == "jax"}
    if len(found) > 1:
        names = ", ".join(f"jax:{i}" for i in sorted(found))
        raise NotImplementedError(
            f"torch.compile(backend='tenax'): a graph on the devices {names}; expected one. Move tensors between "
            "devices outside of the compiled function"
        )
    return next(iter(found), None)


def has_open_results(module: fx.GraphModule) -> bool:
    """Whether the shape of a result depends on data, as torch captures it where it is asked to."""
    return any(free_unbacked_symbols(x) for n in module.graph.nodes for x in _tensors(n))


def _tensors(node: fx.Node) -> list[torch.Tensor]:
    """What torch traced in the place of a node's results."""
    return [x for x in pytree.tree_leaves(node.meta.get("val")) if isinstance(x, torch.Tensor)]


def _on_host(node: fx.Node) -> bool:
    """Whether a result belongs on the CPU. A random state does not: torch takes it for the CPU's, here it is a key."""
    if node.target is operator.getitem and node.args[0].target is _hop.run_and_save_rng_state:  # type: ignore[union-attr]
        return False
    return any(x.device.type == "cpu" for x in _tensors(node))


def _is_steady(node: fx.Node) -> bool:
    """Whether an input is always a tensor of the device of one shape."""
    value = node.meta.get("val")
    return (
        isinstance(value, torch.Tensor)
        and value.device.type == "jax"
        and all(isinstance(n, int) for n in (*value.size(), *value.stride()))
    )


def is_random(node: fx.Node) -> bool:
    """Whether a node of a graph draws."""
    if node.target is _hop.run_and_save_rng_state:
        return True
    if torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return False
    name = node.target.name().removeprefix("aten::")  # type: ignore[union-attr]
    if name not in ROWS:
        return True
    found = signature_of(name)
    return not found.is_idle(found.bind(node.args, node.kwargs))


def _on_device(module: fx.GraphModule) -> tuple[fx.GraphModule, list[torch.Tensor]]:
    """The graph with every device in it that of the operands, and the tensors that it holds, now further inputs.

    Raises:
        NotImplementedError: it draws random numbers on the CPU.
    """
    graph, env, constants = fx.Graph(), dict[fx.Node, fx.Node](), list[torch.Tensor]()
    nodes = list(module.graph.nodes)
    for node in nodes:
        if node.op == "placeholder":
            env[node] = graph.node_copy(node)
    for node in nodes:
        if node.op == "get_attr" and isinstance(value := getattr(module, node.target), torch.Tensor):
            constants.append(value)
            env[node] = graph.placeholder(node.name)
    device = torch.device("jax", 0)
    for node in nodes:
        if node in env:
            continue
        if is_random(node) and node.target is not _hop.run_and_save_rng_state and _on_host(node):
            raise NotImplementedError(
                f"torch.compile(backend='tenax'): {node.target} draws random numbers on the CPU in a graph of device "
                "'jax'; draw them on the device, or outside of the compiled function"
            )
        copy = env[node] = graph.node_copy(node, env.__getitem__)
        for field in ("args", "kwargs"):
            moved = fx.node.map_aggregate(getattr(copy, field), lambda x: device if isinstance(x, torch.device) else x)
            setattr(copy, field, moved)
    return fx.GraphModule(module, graph), constants
