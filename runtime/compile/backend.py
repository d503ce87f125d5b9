"""`torch.compile(backend="tenax")`: compile each forward and backward graph to one JAX program."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from torch import fx
from torch.utils.checkpoint import CheckpointPolicy

from tenax.generated.table import ROWS

from .._torch.dynamo import (
    aot_autograd,
    boxed,
    functorch_config,
    make_boxed_func,
    min_cut_rematerialization_partition,
    writes_inputs,
)
from .._torch.operators import CLONE, COPY_INTO, OpOverload
from ..aten.registration import register_all
from ..errors import TraceError
from ..storage import random
from .aliased_inputs import UnlessOverlapping, has_left_its_base, shared_storages
from .captured_writes import calls_as_strided, equal_results, loses_gradient, misread_write, split_lists
from .graph import CompiledGraph
from .graph_program import BackendOptions
from .nodes import device_of, has_open_results
from .resizing import keep_whole

# All modes behave the same: XLA always optimizes and tunes, and a graph is always a single launch.
_MODES = (None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


def backend(
    module: fx.GraphModule,
    inputs: Sequence[Any],
    *,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
) -> Callable[..., Any]:
    """Compile a graph for `torch.compile(function, backend="tenax", mode=mode, options=options)`.

    Args:
        module: the graph, of torch functions.
        inputs: fake tensors and sizes.
        mode: any of torch's modes; they are equivalent here.
        options: `donate` (bool, default True): donate the buffers of written inputs. `compiler_options` (dict): XLA
            options, passed through `jax.jit`.

    Raises:
        ValueError: the mode or an option is unknown.
        NotImplementedError: the graph spans several devices, or draws random numbers on the CPU.
    """
    if mode not in _MODES:
        raise ValueError(f"torch.compile(backend='tenax'): mode {mode!r}; expected one of {_MODES[1:]}")
    unknown = set(options or {}) - set(BackendOptions._fields)
    if unknown:
        raise ValueError(
            f"torch.compile(backend='tenax'): options {sorted(unknown)} are unknown; expected some of "
            f"{BackendOptions._fields}"
        )
    register_all()
    keep_whole()
    chosen = BackendOptions(**(options or {}))
    compiled = aot_autograd(
        fw_compiler=partial(_compiled, "forward", chosen),
        bw_compiler=partial(_compiled, "backward", chosen),
        inference_compiler=partial(_compiled, "inference", chosen),
        partition_fn=_partition,
        keep_inference_input_mutations=True,
    )
    if misread_write(module) is not None or loses_gradient(module) or has_left_its_base(inputs):
        return module.forward
    split_lists(module)
    # Create the tokens that order ops with effects inside the graph, because they are CPU tensors.
    try:
        with functorch_config.patch(unlift_effect_tokens=True):
            run = compiled(module, inputs)
    except AssertionError:  # AOTAutograd refuses some writes to inputs that share memory, such as views of other dtypes
        if not shared_storages(inputs):
            raise
        return module.forward
    if equal := equal_results(module):
        run = _returning_once(run, equal)
    if not writes_inputs():
        return run
    return UnlessOverlapping(run, module.forward, inputs, calls_as_strided(module))


def _returning_once(run: Callable[..., Any], equal: dict[int, int]) -> Callable[..., Any]:
    """Return the tensor at a position of `equal` as that of its earlier position."""

    def call(*arguments: Any) -> list[Any]:
        results = [*run(*arguments)]
        for position, earlier in equal.items():
            results[position] = results[earlier]
        return results

    return call


def _compiled(name: str, options: BackendOptions, module: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    # Run graphs without device tensors, and graphs with data-dependent shapes, as they are, op by op.
    if device_of(module) is None or has_open_results(module):
        return make_boxed_func(module.forward)
    graph = CompiledGraph(module, name, options)
    return boxed(_eager_if_refused(graph, module) if any(map(_is_opaque, module.graph.nodes)) else graph.__call__)


def _is_opaque(node: fx.Node) -> bool:
    """Whether a node calls a user-defined operator, whose Python code may do anything."""
    target = node.target
    if not isinstance(target, OpOverload) or target.namespace in ("aten", "prims", "tenax"):
        return False
    return target.name() not in ROWS


def _eager_if_refused(graph: CompiledGraph, module: fx.GraphModule) -> Callable[[list[Any]], Any]:
    """Call the compiled graph, or run it eagerly from the first time that a custom operator reads a traced value, or
    that the ranks of its collectives have traced different programs."""
    eager = False

    def run(args: list[Any]) -> Any:
        nonlocal eager
        if not eager:
            given, state = [*args], random.state()
            try:
                return graph(args)
            except TraceError as error:
                if type(error) is not TraceError:  # the ranks differ, which runs their graphs at another speed
                    warnings.warn(f"torch.compile: {error}; this graph runs op by op", stacklevel=2)
                eager, args = True, given
                random.restore(state)
        return module(*args)

    return run


def _partition(module: fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
    """Partition into forward and backward with torch's min-cut partitioner, which recomputes what is cheap.

    torch's CSE is turned off: it merges random ops that are missing from its list, and XLA does CSE anyway.
    """
    _keep_what_is_written(module.graph)
    with functorch_config.patch(cse=False):
        return min_cut_rematerialization_partition(module, *args, **kwargs)


def _keep_what_is_written(graph: fx.Graph) -> None:
    """Make backward read the value that an input had before forward wrote it.

    torch's partitioner (2.13) saves the input itself, and recomputes from its new value. The clone inserted here shares
    the old array, which is immutable.
    """
    placeholders = graph.find_nodes(op="placeholder")
    for write in graph.find_nodes(op="call_function", target=COPY_INTO):
        given = write.args[0]
        readers = {n for n in given.users if n.op == "call_function" and n is not write}
        if given not in placeholders or not readers:
            continue
        with graph.inserting_after(placeholders[-1]):
            before = graph.call_function(CLONE, (given,))
        before.meta = {"val": given.meta["val"], "recompute": CheckpointPolicy.MUST_SAVE}
        given.replace_all_uses_with(before, delete_user_cb=readers.__contains__)
