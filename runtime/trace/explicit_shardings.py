"""Infers the shardings of a traced function's results on a mesh with explicit axes.

torch code is traced with automatic axes, so its jaxpr has no shardings. Here JAX's own rules are applied to its
equations with sharded types. If a rule is ambiguous (a product whose operands are both sharded along the summed axis)
or missing (a loop), the operands of the equation are treated as replicated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Literal, Var
from jax.sharding import NamedSharding, PartitionSpec

_INLINED = {"jit": "jaxpr", "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr"}


def result_shardings(closed: ClosedJaxpr, operands: Sequence[jax.Array], mesh: Any) -> list[NamedSharding]:
    """The sharding of each result of a jaxpr.

    Args:
        closed: the jaxpr, traced with automatic axes.
        operands: its operands, with explicit axes.
        mesh: the abstract mesh.
    """
    with jax.sharding.use_abstract_mesh(mesh):
        results = jax.eval_shape(lambda *operands: _applied(closed, operands), *operands)
    return [NamedSharding(mesh, jax.typeof(result).sharding.spec) for result in results]


def _applied(closed: ClosedJaxpr, operands: Sequence[Any]) -> list[Any]:
    jaxpr = closed.jaxpr
    values: dict[Var, Any] = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    values.update(zip(jaxpr.invars, operands, strict=True))

    def value_of(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else values[atom]

    for equation in jaxpr.eqns:
        given = [value_of(atom) for atom in equation.invars]
        inner = equation.params.get(_INLINED.get(equation.primitive.name, ""))
        made = _applied(inner, given) if isinstance(inner, ClosedJaxpr) else _bound(equation, given)
        values.update(zip(equation.outvars, made, strict=True))
    return [value_of(atom) for atom in jaxpr.outvars]


def _bound(equation: Any, operands: list[Any]) -> Sequence[Any]:
    """The results of an equation by JAX's sharding rule, or replicated if the rule does not apply."""
    avals = [v.aval for v in equation.outvars]
    try:
        made = equation.primitive.bind(*operands, **equation.params)
        made = made if equation.primitive.multiple_results else [made]
        if [x.shape for x in made] == [a.shape for a in avals]:
            return made
    except Exception:  # a rule may raise anything for shardings that it does not support
        pass
    return [jax.numpy.zeros(a.shape, a.dtype, out_sharding=PartitionSpec(*[None] * a.ndim)) for a in avals]
