"""Check that a spec fits a tensor and a mesh."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jax.sharding import Mesh, NamedSharding, PartitionSpec


def named_sharding(name: str, shape: Sequence[int], spec: Any, mesh: Mesh) -> NamedSharding:
    """The sharding of a tensor's axes by a spec.

    Args:
        name: name of the tensor, for errors.
        shape: shape of the tensor.
        spec: a `PartitionSpec`, or None to replicate the tensor.
        mesh: a mesh with automatic axes.

    Raises:
        TypeError: `spec` is not a PartitionSpec.
        ValueError: the mesh lacks an axis, the spec uses one twice, has more entries than the tensor has dimensions, or
            does not divide a dimension.
    """
    if spec is None:
        spec = PartitionSpec()
    if not isinstance(spec, PartitionSpec):
        raise TypeError(f"tenax.shard: {name}: got {spec!r}; expected a jax.sharding.PartitionSpec")
    where = f"tenax.shard: {name} of shape {[*shape]} by {spec} on {describe_mesh(mesh)}"
    if len(spec) > len(shape):
        raise ValueError(f"{where}: the spec has {len(spec)} entries; expected at most {len(shape)}")
    used: set[str] = set()
    for d, axes in enumerate(map(axes_of, spec)):
        for axis in axes:
            if axis not in mesh.shape:
                known = ", ".join(map(repr, mesh.axis_names))
                raise ValueError(f"{where}: the mesh has no axis {axis!r}; expected one of {known}")
            if axis in used:
                raise ValueError(f"{where}: the axis {axis!r} stands twice; expected each axis once")
            used.add(axis)
        parts = math.prod(mesh.shape[axis] for axis in axes)
        if shape[d] % parts:
            raise ValueError(
                f"{where}: {parts} devices do not divide dimension {d} of size {shape[d]}; expected a multiple of "
                f"{parts} (pad the tensor), or None in the place of {spec[d]!r}"
            )
    return NamedSharding(mesh, spec)


def axes_of(entry: Any) -> tuple[str, ...]:
    """The mesh axes of an entry of a spec."""
    if entry is None or entry is PartitionSpec.UNCONSTRAINED:
        return ()
    return (entry,) if isinstance(entry, str) else tuple(entry)


def describe_mesh(mesh: Mesh) -> str:
    """A mesh as text, for messages."""
    return f"the mesh ({', '.join(f'{axis}={size}' for axis, size in mesh.shape.items())})"
