"""The function that torch's backend "openxla" calls, for `torch.compile(backend="openxla")`."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from torch import fx

from ..._lazy import programs
from ...compile.graph import CompiledGraph
from ...compile.graph_program import BackendOptions
from ..statistics import executed

skip_input_data_check = outside_on_cpu = False  # no effect: calls check their inputs in JAX
graphs: weakref.WeakSet[CompiledGraph] = weakref.WeakSet()


def extract_compiled_graph(module: fx.GraphModule, args: Sequence[Any]) -> Callable[..., Any]:
    """A compiled function for a graph of aten operators."""
    graph = CompiledGraph(module, "openxla", BackendOptions())
    graphs.add(graph)

    def run(*call_args: Any) -> Any:
        with executed():
            return graph([*call_args])

    return run


def get_num_cached_compilation_graph() -> int:
    """The number of programs in memory, of lazy mode and of `torch.compile(backend="openxla")`."""
    return programs.count() + len(graphs)
