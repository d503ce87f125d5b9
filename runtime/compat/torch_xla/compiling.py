"""Compiled functions: those of `torch_xla.compile` by `tenax.jit`, and the graphs of torch's backend "openxla".

A block is recorded as one program.
"""

from __future__ import annotations

import functools
import warnings
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch import fx

from ..._jit.explain import explain
from ..._jit.jitted import jit
from ..._jit.lines import name_of
from ..._lazy import programs
from ..._lazy.mode import lazy, own_tape
from ..._lazy.programs import Runs, TapeProgram
from ...compile.graph import CompiledGraph
from ...compile.graph_program import BackendOptions
from ...errors import TraceError
from ..statistics import executed
from .steps import mark_step


def compiled(function: Callable[..., Any], limit: int | None, full_graph: bool) -> Callable[..., Any]:
    """A compiled function whose calls are steps. Without `full_graph`, each call of a function that is not one program,
    such as one that branches on a value, is recorded instead, with a warning.

    Raises:
        RuntimeError: a call exceeded the limit of programs.
        TraceError: with `full_graph`, the function is not one program.
    """
    step, name = jit(function), f"{name_of(function)} {id(function)}"
    whole = True

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal whole
        mark_step()
        try:
            with executed() if whole else recorded_block(False, limit, name):
                result = (step if whole else function)(*args, **kwargs)
        except TraceError as error:
            if full_graph or not whole:
                raise
            whole = False
            warnings.warn(f"torch_xla.compile: {error}; each call is recorded instead", stacklevel=2)
            return call(*args, **kwargs)
        if not whole:
            return result
        if limit is not None and (made := len(explain(step).programs)) > limit:
            raise RuntimeError(
                f"torch_xla.compile: {name_of(function)} has {made} different graphs; expected "
                f"{limit} at most. tenax.explain names what differed"
            )
        mark_step()
        return result

    return call


_programs_of_blocks: defaultdict[str, set[TapeProgram]] = defaultdict(set)


@contextmanager
def recorded_block(full_graph: bool, limit: int | None, name: str) -> Iterator[None]:
    """A block whose operations are recorded as one program, between two barriers.

    Raises:
        RuntimeError: the block read a value, with `full_graph`; or the blocks of that name exceeded the limit of
            programs.
    """
    mark_step()
    history = own_tape().history
    before = {program: runs.count for program, runs in history.programs.items()}

    def ran() -> dict[TapeProgram, Runs]:
        return {program: runs for program, runs in history.programs.items() if runs.count > before.get(program, 0)}

    with lazy():
        yield
        if full_graph and (cut := ran()):
            causes = ", ".join(cause for runs in cut.values() for cause in runs.causes)
            raise RuntimeError(f"torch_xla.compile: the block is more than one graph. It was cut for{causes}")
    if limit is not None:  # otherwise no set may keep programs alive
        made = _programs_of_blocks[name]
        made.update(ran())
        if len(made) > limit:
            raise RuntimeError(
                f"torch_xla.compile: the blocks named {name!r} are {len(made)} different graphs; expected {limit} at "
                "most. tenax.explain(tenax.lazy) says what differed"
            )
    mark_step()


def compile(  # noqa: A001 (the name of PyTorch/XLA)
    f: Callable[..., Any] | None = None,
    full_graph: bool = False,
    name: str | None = None,
    num_different_graphs_allowed: int | None = None,
    max_different_graphs: int | None = None,
) -> Any:
    """Compile a function or a block to programs of its own, which begin and end with `sync()`.

    Args:
        f: a function, which is compiled by `tenax.jit` to one program per signature, or recorded where that is not
            possible; None returns a context manager, whose block is recorded as in `tenax.lazy`.
        full_graph: raise if the function or the block needs more than one program.
        name: the name of the block; blocks of the same name are counted together.
        num_different_graphs_allowed: the maximum number of programs of the function or the blocks.
        max_different_graphs: the same.

    Raises:
        RuntimeError: the function or the block needed more programs than allowed.
    """
    limit = max_different_graphs if num_different_graphs_allowed is None else num_different_graphs_allowed
    if f is not None:
        return compiled(f, limit, full_graph)
    return recorded_block(full_graph, limit, name or "")


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
