"""Support for meshes with explicit axes, where shardings are part of array types.

torch's operators have no sharding rules, so torch code is traced with automatic axes, and XLA infers the shardings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import jax
from jax.extend.core import jaxpr_as_fun
from jax.sharding import AxisType, PartitionSpec


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

    Its results also have explicit shardings, inferred by JAX's rules; see explicit_shardings.py.
    """
    leaves, structure = jax.tree.flatten(tree)
    places = [i for i, x in enumerate(leaves) if isinstance(x, jax.Array)]
    arrays = [leaves[i] for i in places]
    mesh = explicit_mesh(arrays)
    if mesh is None:
        return function(tree)
    from .explicit_shardings import result_shardings

    shapes: list[Any] = []

    def run(*arrays: jax.Array) -> list[jax.Array]:
        given = dict(zip(places, arrays, strict=True))
        filled = jax.tree.unflatten(structure, [given.get(i, x) for i, x in enumerate(leaves)])
        results, shape = jax.tree.flatten(function(filled))
        shapes.extend((results, shape))
        return [x for x in results if isinstance(x, jax.Array)]

    with automatic_axes(mesh):
        closed = jax.make_jaxpr(run)(*[jax.ShapeDtypeStruct(x.shape, x.dtype, weak_type=x.weak_type) for x in arrays])
    shardings = result_shardings(closed, arrays, mesh)
    new = iter(jax.sharding.auto_axes(jaxpr_as_fun(closed), out_sharding=shardings)(*arrays))
    results, shape = shapes
    return jax.tree.unflatten(shape, [next(new) if isinstance(x, jax.Array) else x for x in results])
