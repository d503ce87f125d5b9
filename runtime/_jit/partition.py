"""Partitions a traced run that ends in a backward pass into a forward and a backward jaxpr.

Forward saves every value that backward uses; only `gradient_part` recomputes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
from jax.extend.core import Jaxpr, Var


class Partition(NamedTuple):
    """Two jaxprs on the same constants; backward's arguments are the last `residuals` outputs of forward."""

    forward: Jaxpr  # (constants) -> outputs, residuals
    backward: Jaxpr  # (constants, residuals) -> gradients
    residuals: int


def mark_boundary(arrays: list[jax.Array]) -> list[jax.Array]:
    """Pass arrays through an equation that marks the end of forward in the jaxpr."""
    return list(jax.lax.optimization_barrier(arrays))


def partition(jaxpr: Jaxpr, outputs: int, cotangents: set[int]) -> Partition:
    """Cut a jaxpr at its boundary.

    Args:
        jaxpr: the jaxpr, which has no arguments.
        outputs: the number of forward's outputs; the others are the gradients.
        cotangents: the indices of the constants that went through `mark_boundary`.
    """
    boundary = _boundary(jaxpr, cotangents)
    before, after = jaxpr.eqns[:boundary], jaxpr.eqns[boundary:]
    computed = {v for e in before for v in e.outvars}
    used = [v for e in after for v in e.invars if isinstance(v, Var)]
    used += [v for v in jaxpr.outvars[outputs:] if isinstance(v, Var)]
    residuals = list(dict.fromkeys(v for v in used if v in computed))
    return Partition(
        _part(jaxpr, [], before, [*jaxpr.outvars[:outputs], *residuals]),
        _part(jaxpr, residuals, after, jaxpr.outvars[outputs:]),
        len(residuals),
    )


def forward_part(jaxpr: Jaxpr, outputs: int, cotangents: set[int]) -> Jaxpr:
    """The forward part alone; see `partition`."""
    return _part(jaxpr, [], jaxpr.eqns[: _boundary(jaxpr, cotangents)], jaxpr.outvars[:outputs])


def gradient_part(jaxpr: Jaxpr, outputs: int) -> Jaxpr:
    """The jaxpr of the gradients, which recomputes what it needs of forward; see `partition`."""
    gradients = jaxpr.outvars[outputs:]
    needed = live_variables(jaxpr, gradients)
    return _part(jaxpr, [], [e for e in jaxpr.eqns if not needed.isdisjoint(e.outvars)], gradients)


def live_variables(jaxpr: Jaxpr, results: Sequence[Any]) -> set[Var]:
    """The variables from which some results of a jaxpr are computed."""
    live = {v for v in results if isinstance(v, Var)}
    for equation in reversed(jaxpr.eqns):
        if not live.isdisjoint(equation.outvars):
            live.update([v for v in equation.invars if isinstance(v, Var)])
    return live


def _part(jaxpr: Jaxpr, inputs: list[Var], equations: list[Any], outputs: list[Any]) -> Jaxpr:
    info = jaxpr.debug_info._replace(arg_names=None, result_paths=None)
    effects = set().union(*(e.effects for e in equations)) if equations else set()
    return jaxpr.replace(invars=inputs, eqns=equations, outvars=outputs, effects=effects, debug_info=info)


def _boundary(jaxpr: Jaxpr, cotangents: set[int]) -> int:
    """The index of the equation that reads the cotangents."""
    markers = {jaxpr.constvars[i] for i in cotangents}
    for i, equation in enumerate(jaxpr.eqns):
        for v in equation.invars:
            if isinstance(v, Var) and v in markers:
                return i
    raise ValueError("partition: no equation takes the cotangents")
