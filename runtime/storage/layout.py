"""Moves the array of a tensor to another sharding, without changing its values."""

from __future__ import annotations

from typing import Any

import jax
from jax.sharding import NamedSharding

from .access import memory_order
from .avals import LazyFill, aval_of
from .cell import Cell
from .placement import moved, pinned, trimmed, without_explicit_axes
from .spec import TensorSpec
from .tensors import cell_of


def lay_out(tensor: Any, sharding: Any) -> bool:
    """Move the array of a tensor to a sharding of its axes; False if the tensor is only a part of its storage.

    No tensor on the storage changes its value, so autograd is not involved.
    """
    cell = cell_of(tensor)
    order = axes_in_memory(cell, TensorSpec.of(tensor))
    if order is None:
        return False
    if isinstance(sharding, NamedSharding):
        sharding = without_explicit_axes(permuted(sharding, order))
    aval = aval_of(cell.shape, cell.dtype, sharding)
    if cell.aval is aval:
        return True
    if cell.pending is not None and cell.pending.move(cell, aval):
        return True
    content: Any = cell.content
    if content.__class__ is LazyFill:
        cell.write(LazyFill(aval, content.value))
    elif isinstance(content, jax.core.Tracer):
        cell.replace(pinned(content, sharding))
        cell.aval = aval
    else:
        cell.write(moved(content, sharding))
    return True


def axes_in_memory(cell: Cell, spec: TensorSpec) -> tuple[int, ...] | None:
    """The order of a tensor's axes in the array of its storage; None if the tensor is only a part of its storage."""
    order = memory_order(spec)
    if cell.mixed or spec.offset or order is None or tuple(spec.size[d] for d in order) != cell.shape:
        return None
    return order


def permuted(sharding: NamedSharding, order: tuple[int, ...]) -> NamedSharding:
    """The sharding of an array after its axes are permuted to `order`."""
    if order == tuple(range(len(order))):
        return sharding
    parts = (*sharding.spec, *[None] * (len(order) - len(sharding.spec)))
    return NamedSharding(sharding.mesh, trimmed([parts[d] for d in order]))
