"""Traces a function once: runs it on tensors that hold tracers, and describes what it did as data.

A run leaves Python unchanged: containers, gradients, tensor data, random state and grad mode are restored when it ends,
even if it fails.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
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
from .argument_stand_ins import TracedFunctions
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
from .random_numbers import RngRecorder, refuse_host_rng
from .sources import MISSING
from .state_graph import StateGraph
from .traced_step import TracedBackward, TracedInputs, TracedOutputs, TracedStep

Outcome = tuple[TracedOutputs, Effects, TracedBackward | None, PassedNumbers]  # the latter as in `TracedStep`
_NEVER = 1 << 30  # collections of younger objects after which the oldest are searched


@dataclass(frozen=True, slots=True)
class Recorders:
    """The recorders of one run of a function."""

    trace: Trace
    script: HostScriptRecorder
    host: HostTensorRecorder
    reads: AttributeReads
    functions: TracedFunctions

    @contextmanager
    def attached(self, state: StateGraph) -> Iterator[None]:
        """Record while the function runs."""
        recorders = (
            *(refuse_host_rng(state, self.trace.stream), self.script.attached(), self.host.attached()),
            *(named([*state.reached.modules.values()]), self.reads.attached(), noting_materialized_gradients()),
            self.functions,
        )
        with ExitStack() as attached:
            for recorder in recorders:
                attached.enter_context(recorder)
            yield


def trace_step(
    function: Callable[..., Any],
    args: Any,
    kwargs: Any,
    arguments: Sequence[Any],
    replaced: Sequence[torch.Tensor],
    state: StateGraph,
    passed: PassedNumbers,
) -> TracedStep:
    """Run a function once under a JAX trace.

    Args:
        function: the function to trace.
        args: its positional arguments.
        kwargs: its keyword arguments.
        arguments: the leaves of both.
        replaced: the leaves that replace arguments with a history.
        state: what the function reaches in Python.
        passed: the numbers that are inputs, besides learning rates.

    Raises:
        TraceError: the function needs the value of a tensor, or does something that a program cannot repeat.
    """
    rng = RngRecorder()
    trace = Trace(lifts=True, draw=rng.draw)
    reached = [t for _, t in state.reached.tensors.values()]
    kinds = (state.reached.objects, state.reached.modules, state.reached.schedulers)
    reads = AttributeReads(x for kind in kinds for _, x in kind.values())
    script, host = HostScriptRecorder(trace, state, passed), HostTensorRecorder(trace, arguments, reached)
    recorders = Recorders(trace, script, host, reads, TracedFunctions(replaced))
    leaves = {id(t): t for t in (*reached, *filter(is_device_tensor, arguments)) if t.is_leaf}.values()
    counted = {id(t): t for t in filter(is_device_tensor, (*reached, *arguments)) if not t.is_inference()}.values()
    before = TensorsBefore(
        tuple((t, t.grad) for t in leaves),
        tuple((t, t.requires_grad) for t in leaves),
        tuple((t, t._version) for t in counted),
    )
    outcomes: list[Outcome] = []
    failures: list[Exception] = []

    def run() -> list[jax.Array]:
        modes = _modes()
        with tracing(trace), automatic_axes(explicit_mesh()):
            try:
                result = _call(function, args, kwargs, arguments, recorders, state)
                trace.returned = True
                outcome, arrays = _describe(result, arguments, recorders, state, before)
                outcomes.append(outcome)
                return arrays
            except Exception as failure:  # raised again below, without JAX's frames and note
                failures.append(failure)
                return []
            finally:
                _restore(modes, state, trace, before)

    run.__name__ = name_of(function)  # the program's, in profiles
    try:
        with _heap_left_alone():
            jaxpr = jax.make_jaxpr(run)()
    finally:
        trace.lose()
    if failures:
        raise failures.pop()
    random, keys = rng.finish(trace.stream)
    played, numbers = script.finish()
    inputs = TracedInputs(
        cells=trace.lifted,
        touched=frozenset(trace.before),
        script=played,
        numbers=numbers,
        rng=random,
        keys=keys,
        uploads=tuple(host.uploads),
        uploaded=tuple(host.placeholders),
        host_tensors=host.reached,
    )
    outputs, effects, backward, missing = outcomes.pop()
    return TracedStep(
        jaxpr=jaxpr,
        arguments=tuple(arguments),
        state=state,
        reads=reads,
        gradients=before.gradients,
        inputs=inputs,
        outputs=outputs,
        effects=effects,
        backward=backward,
        numbers=missing,
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


def _call(
    function: Callable[..., Any], args: Any, kwargs: Any, arguments: Sequence[Any], recorders: Recorders, state: Any
) -> Any:
    """Run the function and return its result.

    Raises:
        TraceError: it changed something that calls could not change again.
    """
    modes = _modes()
    if symbols := recorders.script.numbers.among(arguments):
        leaves, spec = pytree.tree_flatten((args, kwargs))
        args, kwargs = pytree.tree_unflatten([symbols.get(i, leaf) for i, leaf in enumerate(leaves)], spec)
    recorders.script.pass_entries()
    before = pytree.tree_flatten((args, kwargs))
    attributes = [(x, dict(vars(x))) for x in arguments if isinstance(x, torch.Tensor)]
    with recorders.attached(state):
        result = function(*args, **kwargs)
    _refuse_changed_arguments(before, (args, kwargs))
    _refuse_written_arrays(state)
    _refuse_attributes(attributes, state)
    if _modes() != modes:
        raise TraceError(
            "a compiled function leaves gradients, the default dtype or the precision of float32 products otherwise "
            "than it found them; use `with torch.set_grad_enabled(...)`, or set it outside"
        )
    return result


def _restore(modes: tuple[bool, torch.dtype, str], state: StateGraph, trace: Trace, before: TensorsBefore) -> None:
    """Restore what a run changed."""
    torch.set_grad_enabled(modes[0])
    torch.set_default_dtype(modes[1])
    if float32_products.precision != modes[2]:
        torch.set_float32_matmul_precision(modes[2])
    state.restore()
    for moved in trace.moved.values():
        moved.tensor.data = moved.before
    for tensor, spec in trace.reshaped.values():
        if TensorSpec.of(tensor) != spec:
            set_geometry(tensor, spec.size, spec.stride, spec.offset)
    for leaf, gradient in before.gradients:
        if not leaf.is_leaf:  # written in place with a history
            leaf.detach_()
        if leaf.grad is not gradient:
            leaf.grad = gradient
    for leaf, flag in before.flags:
        if leaf.requires_grad != flag:
            leaf.requires_grad_(flag)


def _describe(
    result: Any,
    arguments: Sequence[Any],
    recorders: Recorders,
    state: StateGraph,
    before: TensorsBefore,
) -> tuple[Outcome, list[jax.Array]]:
    """Describe what a run returned and changed; also return the outputs of its jaxpr."""
    trace = recorders.trace
    given = {id(x): x for x in arguments if isinstance(x, torch.Tensor)}
    positions = {id(x): i for i, x in enumerate(arguments) if id(x) in given}
    gradients = {id(g): g for _, g in before.gradients if g is not None}
    outside = {**given, **{i: t for i, (_, t) in state.reached.tensors.items()}, **gradients}
    scope = RunScope(trace.born, positions, outside, trace.moved, state.nodes.keys(), recorders.host.refuse)
    describer = OutputDescriber(scope, recorders.script.numbers.choices)
    changes = recorders.script.changes()
    describer.note_shared([result, *(change.new for change in changes)])
    tree = describer.describe(result)
    missing = recorders.script.missing(change.place for change in changes)
    effects = describe_effects(describer, trace, state, before, changes, recorders.script.recomputed())
    describer.relate()
    recorders.functions.verify([tensor for tensor, _ in describer.tensors.values()])
    storages = tuple(describer.recorder.storages())
    followers = _followers(trace)
    written = [c for c in trace.written if c.content is not trace.lifted.get(c) and c not in followers]
    arrays = [*(_as_before(cell, trace) for cell in written), *describer.recorder.outputs]
    if trace.conditions:
        arrays.append(jnp.stack([jnp.all(holds) for holds, _ in trace.conditions]))
    finals = tuple((cell, cell.aval) for cell in written)
    count, assertions, index = len(arrays), tuple(a for _, a in trace.conditions), describer.recorder.index
    backward = None
    if describer.differentiable and torch.is_grad_enabled():
        backward, more = trace_backward(
            describer, trace, state, recorders.reads, effects, before.gradients, positions, index
        )
        arrays += more
    memory = {*trace.written, *(backward.written if backward else ()), *recorders.functions.asked}
    memory |= {cell_of(tensor) for tensor, _ in describer.aliases.values()}
    shown = {i for i, x in enumerate(arguments) if is_device_tensor(x) and cell_of(x) in memory} | describer.itself
    kinds = (effects.data, effects.geometries, effects.gradients, effects.flags)
    shown.update(source for kind in kinds for source, _ in kind if isinstance(source, int))
    outputs = TracedOutputs(
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
    return (outputs, effects, backward, missing), arrays


def _followers(trace: Trace) -> dict[Cell, Cell]:
    """The cells that share an array with another one both before and after the run, with that one."""
    leads: dict[tuple[int, int], Cell] = {}
    pairs = [(c, leads.setdefault((id(array), id(c.content)), c)) for c, array in trace.lifted.items()]
    return {cell: lead for cell, lead in pairs if cell is not lead}


def _as_before(cell: Cell, trace: Trace) -> jax.Array:
    """The array of a written cell, constrained to its old sharding so that the next call matches the program."""
    aval = trace.before[cell][2]
    return pinned(cell.read(), aval.sharding if cell.aval is aval else None)


def _modes() -> tuple[bool, torch.dtype, str]:
    return torch.is_grad_enabled(), torch.get_default_dtype(), float32_products.precision


def _refuse_changed_arguments(before: tuple[list[Any], Any], now: Any) -> None:
    leaves, spec = pytree.tree_flatten(now)
    if spec != before[1] or any(a is not b for a, b in zip(leaves, before[0], strict=True)):
        raise TraceError("a compiled function changes a container among its arguments; return the new one instead")


def _refuse_attributes(before: list[tuple[torch.Tensor, dict[str, Any]]], state: StateGraph) -> None:
    for tensor, attributes in before:
        now = vars(tensor)
        changed = [k for k in {**now, **attributes} if now.get(k, MISSING) is not attributes.get(k, MISSING)]
        if changed and id(tensor) not in state.reached.tensors:
            now.clear()
            now.update(attributes)
            raise TraceError(f"a compiled function sets the attribute {changed[0]} of an argument; return it instead")


def _refuse_written_arrays(state: StateGraph) -> None:
    for _, array in state.reached.arrays.values():
        if array.changed():
            raise TraceError(
                f"a compiled function writes into {array.path}, an array of the host, which no program does again; "
                "keep it in a tensor on the device"
            )
