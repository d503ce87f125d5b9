"""The mesh of a `with tenax.mesh(...)` block."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import jax
from jax.sharding import AxisType, Mesh


class _Current(threading.local):
    mesh: Mesh | None = None


_current = _Current()


@contextmanager
def mesh(mesh: Mesh) -> Iterator[Mesh]:
    """Make this the default mesh of `tenax.shard` within a block, on this thread: `with tenax.mesh(mesh): ...`.

    Args:
        mesh: a mesh of JAX. Its axes are treated as automatic even if they are explicit: XLA infers the shardings of
            results.

    Raises:
        TypeError: it is not a mesh.
    """
    if not isinstance(mesh, Mesh):
        raise TypeError(f"tenax.mesh: got a {type(mesh).__name__}; expected jax.make_mesh(sizes, names)")
    before, _current.mesh = _current.mesh, automatic(mesh)
    try:
        yield _current.mesh
    finally:
        _current.mesh = before


def automatic(mesh: Mesh) -> Mesh:
    """The same mesh with automatic axes."""
    return Mesh(mesh.devices, mesh.axis_names, (AxisType.Auto,) * len(mesh.axis_names))


def chosen_mesh(mesh: Mesh | None, where: str) -> Mesh:
    """The given mesh, or that of the enclosing `tenax.mesh` block, or that of `jax.set_mesh`, with automatic axes.

    Raises:
        ValueError: there is none.
        TypeError: it is not a mesh.
    """
    if mesh is not None:
        if not isinstance(mesh, Mesh):
            raise TypeError(f"{where}: got a {type(mesh).__name__} as mesh; expected jax.make_mesh(sizes, names)")
        return automatic(mesh)
    if _current.mesh is not None:
        return _current.mesh
    of_jax = jax.sharding.get_mesh()
    if of_jax.empty:
        raise ValueError(f"{where}: there is no mesh; expected one as an argument, or within `with tenax.mesh(mesh):`")
    return automatic(of_jax)
