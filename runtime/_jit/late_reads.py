"""Late reads: Python state that the backward of a user's `autograd.Function` reads, checked when backward runs.

Backward was traced together with forward, so its program contains the values of that time.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import TraceError
from .container_adapters import ClassAttributes
from .guards import Guard
from .libraries import is_own, module_of
from .observations import SIZE, Observation
from .state_graph import StateGraph
from .traced_step import TracedStep


def late_reads(step: TracedStep, observations: Sequence[Observation]) -> Callable[[], None] | None:
    """Select the observations that the autograd functions of a run read in backward. Return a function that compares
    them before the backward program runs, and raises `TraceError` if something has changed since forward was called;
    None if there are none."""
    if not (classes := _own_functions(step)):
        return None
    graph = StateGraph(step.state.visitor_of, {c.__qualname__: c.backward for c in classes})
    keys: dict[int, Any] = {}
    for snapshot in graph.snapshots:
        container = snapshot.container
        if isinstance(container, ClassAttributes):
            (container,) = gc.get_referents(container.attributes)
        keys[id(container)] = snapshot.keys
    changed = {(id(source.container), source.key) for source, _ in step.effects.entries}
    owners = {owner for owner, _ in changed}

    def counts(o: Observation) -> bool:
        if id(o.owner) not in keys or (id(o.owner), o.key) in changed:
            return False
        if o.key is None or o.key is SIZE:
            return id(o.owner) not in owners
        named = keys[id(o.owner)]
        return named is None or o.key in named

    if not (found := [o for o in observations if counts(o)]):
        return None
    guard, code = Guard(found), classes[0].backward.__code__

    def verify() -> None:
        if reason := guard.failure(()):
            raise TraceError(
                "backward() of a compiled function, whose program reads Python as forward found it "
                f"({code.co_filename}:{code.co_firstlineno}, in {code.co_name}): "
                f"{reason}. Change it before forward is called, or save it in ctx there"
            )

    return verify


def runs_late(step: TracedStep) -> bool:
    """Whether user code may read or change Python state in the backward pass of a step."""
    return bool(_own_functions(step) or (step.backward and step.backward.effects))


def _own_functions(step: TracedStep) -> list[Any]:
    return [c for c in (step.backward.functions if step.backward else ()) if is_own(module_of(c))]
