"""Traces a function once: runs it on tensors that hold tracers, and describes what it did as data.

A run leaves Python unchanged: containers, gradients, tensor data, random state and grad mode are restored when it ends,
even if it fails.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import torch

from .._torch import pytree
from ..errors import TraceError
from ..float32_products import float32_products
from ..storage.cell import Cell
from ..storage.placement import pinned
from ..storage.spec import TensorSpec
from ..storage.tensors import cell_of
from ..trace.axes import automatic_axes, explicit_mesh
from ..trace.data_swaps import set_geometry
from ..trace.tracing import Trace, tracing
from .attribute_tracking import AttributeReads
from .autograd_graph import noting_materialized_gradients
from .backward_tracing import trace_backward
from .effects import Effects, TensorsBefore, describe_effects
from .host_inputs import HostTensorRecorder
from .host_script import PassedNumbers
from .lines import name_of
from .name_scopes import named
from .optimizer_tracing import HostScriptRecorder
from .outputs import OutputDescriber, RunScope, is_device_tensor
from .outside_tensors import TracedFunctions, cut_off, refusing_parts_of_gradients, translated
from .random_numbers import HostDraws, RngRecorder, drawn_on_host, refuse_host_rng, restore_all
from .recomputation import recomputing
from .sources import MISSING
from .state_graph import StateGraph
from .traced_step import TracedBackward, TracedInputs, TracedOutputs, TracedStep

_NEVER = 1 << 30  # collections of younger objects after which the oldest are searched


def trace_step(
    function: Callable[..., Any],
    args: Any,
    kwargs: Any,
    arguments: Sequence[Any],
    state: StateGraph,
    passed: PassedNumbers,
    draws: HostDraws | None = None,
) -> TracedStep:
    """Run a function once under a JAX trace.

    Args:
        function: the function to trace.
        args: its positional arguments.
        kwargs: its keyword arguments.
        arguments: the leaves of both.
        state: what the function reaches in Python.
        passed: the numbers that are inputs, besides learning rates.
        draws: notes random numbers that the run draws on the host, instead of raising.

    Raises:
        TraceError: the function needs the value of a tensor, or does something that a program cannot repeat.
    """
    failures: list[Exception] = []

    def run() -> list[jax.Array]:
        modes = _modes()
        with tracing(traced.trace), automatic_axes(explicit_mesh()):
            try:
                return traced.describe(traced.call(args, kwargs))
            except Exception as failure:  # raised again below, without JAX's frames and note
                failures.append(failure)
                return []
            finally:
                traced.restore(modes)

    run.__name__ = name_of(function)  # the program's, in profiles
    with cut_off([*arguments, *(t for _, t in state.reached.tensors.values())]) as outside:
        traced = TracedRun(function, arguments, outside, state, passed, draws)
        try:
            with _heap_left_alone():
                jaxpr = jax.make_jaxpr(run)()
        finally:
            traced.trace.lose()
    if failures:
        error = failures.pop()
        if explained := translated(error, bool(outside)):
            raise explained from error
        raise error
    if traced.doubts:
        draws = HostDraws(state)
        trace_step(function, args, kwargs, arguments, state, passed, draws)
        if draws.drawn:
            restore_all(traced.doubts)
            raise drawn_on_host(state, draws.drawn[0])
    return TracedStep(
        jaxpr=jaxpr,
        arguments=tuple(arguments),
        state=state,
        reads=traced.reads,
        gradients=traced.before.gradients,
        inputs=traced.inputs(),
        outputs=traced.outputs,
        effects=traced.effects,
        backward=traced.backward,
        numbers=traced.missing,
    )


class TracedRun:
    """One run of a function: what it starts from, its recorders, and its description."""

    outputs: TracedOutputs
    effects: Effects
    backward: TracedBackward | None
    missing: PassedNumbers  # numbers that vary but are not inputs yet

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        outside: dict[int, torch.Tensor],
        state: StateGraph,
        passed: PassedNumbers,
        draws: HostDraws | None = None,
    ) -> None:
        """The arguments are those of `trace_step`."""
        self.draws = draws
        self.doubts: list[Callable[[], None]] = []  # see `refuse_host_rng`
        self.function, self.arguments, self.state = function, arguments, state
        self.rng = RngRecorder()
        self.trace = Trace(lifts=True, draw=self.rng.draw)
        reached = [t for _, t in state.reached.tensors.values()]
        kinds = (state.reached.objects, state.reached.modules, state.reached.schedulers)
        self.reads = AttributeReads(x for kind in kinds for _, x in kind.values())
        self.script = HostScriptRecorder(self.trace, state, passed)
        self.host = HostTensorRecorder(self.trace, arguments, reached)
        self.functions, self.outside = TracedFunctions(outside), outside
        leaves = {id(t): t for t in (*reached, *filter(is_device_tensor, arguments)) if t.is_leaf}.values()
        counted = {id(t): t for t in filter(is_device_tensor, (*reached, *arguments)) if not t.is_inference()}.values()
        self.before = TensorsBefore(
            tuple((t, t.grad) for t in leaves),
            tuple((t, t.requires_grad) for t in leaves),
            tuple((t, t._version) for t in counted),
        )

    @contextmanager
    def _recorded(self) -> Iterator[None]:
        """Record while the function runs."""
        recorders = (
            self.draws or refuse_host_rng(self.state, self.trace.stream, self.doubts),
            *(self.script.attached(), self.host.attached()),
            *(named([*self.state.reached.modules.values()]), self.reads.attached(), noting_materialized_gradients()),
            *(self.functions, refusing_parts_of_gradients(self.outside), recomputing()),
        )
        with ExitStack() as attached:
            for recorder in recorders:
                attached.enter_context(recorder)
            yield

    def call(self, args: Any, kwargs: Any) -> Any:
        """Run the function and return its result.

        Raises:
            TraceError: it changed something that calls could not change again.
        """
        modes = _modes()
        if symbols := self.script.numbers.among(self.arguments):
            leaves, spec = pytree.tree_flatten((args, kwargs))
            args, kwargs = pytree.tree_unflatten([symbols.get(i, leaf) for i, leaf in enumerate(leaves)], spec)
        self.script.pass_entries()
        before, spec = pytree.tree_flatten((args, kwargs))
        attributes = [(x, dict(vars(x))) for x in self.arguments if isinstance(x, torch.Tensor)]
        with self._recorded():
            result = self.function(*args, **kwargs)
        leaves, now = pytree.tree_flatten((args, kwargs))
        if now != spec or any(a is not b for a, b in zip(leaves, before, strict=True)):
            raise TraceError("a compiled function changes a container among its arguments; return the new one instead")
        for _, array in self.state.reached.arrays.values():
            if array.changed():
                raise TraceError(
                    f"a compiled function writes into {array.path}, an array of the host, which no program does again; "
                    "keep it in a tensor on the device"
                )
        _refuse_attributes(attributes, self.state)
        if _modes() != modes:
            raise TraceError(
                "a compiled function leaves gradients, the default dtype or the precision of float32 products "
                "otherwise than it found them; use `with torch.set_grad_enabled(...)`, or set it outside"
            )
        self.trace.returned = True
        return result

    def restore(self, modes: tuple[bool, torch.dtype, str]) -> None:
        """Restore what the run changed."""
        torch.set_grad_enabled(modes[0])
        torch.set_default_dtype(modes[1])
        if float32_products.precision != modes[2]:
            torch.set_float32_matmul_precision(modes[2])
        self.state.restore()
        for moved in self.trace.moved.values():
            moved.tensor.data = moved.before
        for tensor, spec in self.trace.reshaped.values():
            if TensorSpec.of(tensor) != spec:
                set_geometry(tensor, spec.size, spec.stride, spec.offset)
        for leaf, gradient in self.before.gradients:
            if not leaf.is_leaf:  # written in place with a history
                leaf.detach_()
            if leaf.grad is not gradient:
                leaf.grad = gradient
        for leaf, flag in self.before.flags:
            if leaf.requires_grad != flag:
                leaf.requires_grad_(flag)

    def describe(self, result: Any) -> list[jax.Array]:
        """Describe what the run returned and changed; return the outputs of its jaxpr."""
        trace, state, arguments, before = self.trace, self.state, self.arguments, self.before
        given = {id(x): x for x in arguments if isinstance(x, torch.Tensor)}
        positions = {id(x): i for i, x in enumerate(arguments) if id(x) in given}
        gradients = {id(g): g for _, g in before.gradients if g is not None}
        outside = {**given, **{i: t for i, (_, t) in state.reached.tensors.items()}, **gradients}
        scope = RunScope(trace.born, positions, outside, trace.moved, state.nodes.keys(), self.host.refuse)
        describer = OutputDescriber(scope, self.script.numbers.choices)
        changes = self.script.changes()
        describer.note_shared([result, *(change.new for change in changes)])
        tree = describer.describe(result)
        self.missing = self.script.missing(change.place for change in changes)
        effects = self.effects = describe_effects(describer, trace, state, before, changes, self.script.recomputed())
        describer.relate()
        self.functions.verify([tensor for tensor, _ in describer.tensors.values()])
        storages = tuple(describer.recorder.storages())
        followers = self._followers()
        written = [c for c in trace.written if c.content is not trace.lifted.get(c) and c not in followers]
        arrays = [*(self._as_before(cell) for cell in written), *describer.recorder.outputs]
        if trace.conditions:
            arrays.append(jnp.stack([jnp.all(holds) for holds, _ in trace.conditions]))
        finals = tuple((cell, cell.aval) for cell in written)
        count, assertions, index = len(arrays), tuple(a for _, a in trace.conditions), describer.recorder.index
        backward = self.backward = None
        if describer.differentiable and torch.is_grad_enabled():
            backward, more = trace_backward(
                describer, trace, state, self.reads, effects, before.gradients, positions, index
            )
            self.backward = backward
            arrays += more
        memory = {*trace.written, *(backward.written if backward else ()), *self.functions.asked}
        memory |= {cell_of(tensor) for tensor, _ in describer.aliases.values()}
        shown = {i for i, x in enumerate(arguments) if is_device_tensor(x) and cell_of(x) in memory} | describer.itself
        kinds = (effects.data, effects.geometries, effects.gradients, effects.flags)
        shown.update(source for kind in kinds for source, _ in kind if isinstance(source, int))
        self.outputs = TracedOutputs(
            result=tree,
            storages=storages,
            written=finals,
            followers=tuple((cell, lead) for cell, lead in followers.items() if lead in written),
            assertions=assertions,
            aliases=tuple(described for _, described in describer.aliases.values() if described.view is None),
            differentiable=tuple(described for _, described in describer.differentiable),
            device_index=index,
            count=count,
            found=tuple(describer.found.values()),
            held=frozenset(describer.held),
            shown=frozenset(shown),
        )
        return arrays

    def _followers(self) -> dict[Cell, Cell]:
        """The cells that share an array with another one both before and after the run, with that one."""
        leads: dict[tuple[int, int], Cell] = {}
        pairs = [(c, leads.setdefault((id(array), id(c.content)), c)) for c, array in self.trace.lifted.items()]
        return {cell: lead for cell, lead in pairs if cell is not lead}

    def _as_before(self, cell: Cell) -> jax.Array:
        """The array of a written cell, constrained to its old sharding so that the next call matches the program."""
        aval = self.trace.before[cell][2]
        return pinned(cell.read(), aval.sharding if cell.aval is aval else None)

    def inputs(self) -> TracedInputs:
        """The inputs of the run."""
        random, keys = self.rng.finish(self.trace.stream)
        script, numbers = self.script.finish()
        return TracedInputs(
            cells=self.trace.lifted,
            touched=frozenset(self.trace.before),
            script=script,
            rng=random,
            uploads=tuple(self.host.uploads),
            placeholders={"number": numbers, "key": keys, "upload": self.host.placeholders},
            host_tensors=self.host.reached,
        )


@contextmanager
def _heap_left_alone() -> Iterator[None]:
    """Keep the garbage collector from searching the whole heap, as a trace makes it do: a tenth of its time."""
    young, middle, old = gc.get_threshold()
    if old == _NEVER:  # within another trace
        yield
        return
    gc.set_threshold(young, middle, _NEVER)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)


def _modes() -> tuple[bool, torch.dtype, str]:
    return torch.is_grad_enabled(), torch.get_default_dtype(), float32_products.precision


def _refuse_attributes(before: list[tuple[torch.Tensor, dict[str, Any]]], state: StateGraph) -> None:
    for tensor, attributes in before:
        now = vars(tensor)
        changed = [k for k in {**now, **attributes} if now.get(k, MISSING) is not attributes.get(k, MISSING)]
        if changed and id(tensor) not in state.reached.tensors:
            now.clear()
            now.update(attributes)
            raise TraceError(f"a compiled function sets the attribute {changed[0]} of an argument; return it instead")
