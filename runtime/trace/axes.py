"""Support for meshes with explicit axes, where shardings are part of array types.

torch's operators have no sharding rules, so torch code is traced with automatic axes, and XLA infers the shardings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Literal, Var, jaxpr_as_fun
from jax.sharding import AxisType, NamedSharding, PartitionSpec


def explicit_mesh(operands: Iterable[Any] = ()) -> Any:
    """The mesh with explicit axes of the context or of an operand; None if there is none."""
    mesh: Any = jax.sharding.get_abstract_mesh()
    if AxisType.Explicit in mesh.axis_types:
        return mesh
    meshes = (jax.typeof(x).sharding.mesh for x in operands if isinstance(x, jax.Array))
    return next((m for m in meshes if AxisType.Explicit in m.axis_types), None)


def automatic_axes(mesh: Any) -> AbstractContextManager[Any]:
    """A context in which the axes of a mesh are automatic; a no-op if `mesh` is None."""
    if mesh is None:
        return nullcontext()
    return jax.sharding.use_abstract_mesh(mesh.update_axis_types(dict.fromkeys(mesh.axis_names, AxisType.Auto)))


def with_automatic_axes(function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """Call a function on operands in a trace, with automatic axes."""
    mesh = explicit_mesh(operands)
    if mesh is None:
        return function(*operands)
    with automatic_axes(mesh):
        return function(*[_as_automatic(x) for x in operands])


def _as_automatic(operand: Any) -> Any:
    if not isinstance(operand, jax.Array) or AxisType.Explicit not in jax.typeof(operand).sharding.mesh.axis_types:
        return operand
    return jax.sharding.reshard(operand, PartitionSpec(*[None] * operand.ndim))


def between_explicit_axes(function: Callable[[Any], Any], tree: Any) -> Any:
    """Call a function on a tree of arrays from JAX code that uses explicit axes.

    Its results also have explicit shardings, inferred by JAX's rules.
    """
    leaves, structure = jax.tree.flatten(tree)
    places = [i for i, x in enumerate(leaves) if isinstance(x, jax.Array)]
    arrays = [leaves[i] for i in places]
    mesh = explicit_mesh(arrays)
    if mesh is None:
        return function(tree)
    shapes: list[Any] = []

    def run(*arrays: jax.Array) -> list[jax.Array]:
        given = dict(zip(places, arrays, strict=True))
        filled = jax.tree.unflatten(structure, [given.get(i, x) for i, x in enumerate(leaves)])
        results, shape = jax.tree.flatten(function(filled))
        shapes.extend((results, shape))
        return [x for x in results if isinstance(x, jax.Array)]

    with automatic_axes(mesh):
        closed = jax.make_jaxpr(run)(*[jax.ShapeDtypeStruct(x.shape, x.dtype, weak_type=x.weak_type) for x in arrays])
    shardings = _result_shardings(closed, arrays, mesh)
    new = iter(jax.sharding.auto_axes(jaxpr_as_fun(closed), out_sharding=shardings)(*arrays))
    results, shape = shapes
    return jax.tree.unflatten(shape, [next(new) if isinstance(x, jax.Array) else x for x in results])


_INLINED = {"jit": "jaxpr", "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr"}


def _result_shardings(closed: ClosedJaxpr, operands: Sequence[jax.Array], mesh: Any) -> list[NamedSharding]:
    """The sharding of each result of a jaxpr, by JAX's own rules, applied to its equations with sharded types.

    If a rule is ambiguous (a product whose operands are both sharded along the summed axis) or missing (a loop), the
    operands of the equation are treated as replicated.

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
