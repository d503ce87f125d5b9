"""Sharding tensors over a mesh, and undoing it.

Sharded tensors are ordinary device tensors whose arrays are on the mesh: there is no wrapper, and `mark_sharding`
returns its argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MethodType
from typing import Any

import jax
import numpy as np
import torch
from torch import nn

from ..._torch import pytree
from ...dispatch.opaque_composite import is_traced
from ...sharding.placing import shard
from ...storage.avals import LazyFill, aval_of
from ...storage.layout import lay_out
from ...storage.placement import moved, put
from ...storage.tensors import NAME, cell_of
from ...trace.core import current_trace
from ...trace.transfer import read
from .meshes import LogicalMesh, chosen_mesh
from .sharded_tensor import sharding_on_mesh


@dataclass(frozen=True)
class ShardingSpec:
    """A partition of tensors that have as many dimensions as it has entries."""

    mesh: LogicalMesh
    partition_spec: tuple[Any, ...]
    minibatch: bool = False  # whether each process loads its share of a batch

    @property
    def named_sharding(self) -> jax.sharding.NamedSharding:
        """The sharding as a JAX sharding."""
        return self.mesh.sharding(self.partition_spec)

    def can_apply(self, t: torch.Tensor) -> bool:
        """Whether the number of dimensions of a tensor matches."""
        return t.dim() == len(self.partition_spec)

    def apply(self, t: torch.Tensor) -> None:
        """Apply the sharding to a tensor."""
        mark_sharding(t, self.mesh, self.partition_spec)


def mark_sharding(t: torch.Tensor, mesh: LogicalMesh | None, partition_spec: Sequence[Any]) -> torch.Tensor:
    """Shard a device tensor over a mesh, in place.

    Args:
        t: a tensor on the device, whose array is moved.
        mesh: by default that of `set_global_mesh`.
        partition_spec: for each dimension a mesh axis by name or number, a tuple of axes, or None.

    Returns:
        The tensor.

    Raises:
        ValueError: the spec does not fit the tensor or the mesh; the devices do not divide a dimension, which
            PyTorch/XLA pads; the tensor is on another device, or is a part of its storage.
    """
    sharding = chosen_mesh(mesh).fitted("mark_sharding", t, partition_spec)
    if not lay_out(t, sharding) and not _reshaped(t, sharding):
        raise ValueError(f"mark_sharding: a tensor of shape {[*t.shape]} that is a part of its storage; clone it first")
    return t


def _reshaped(t: torch.Tensor, sharding: jax.sharding.NamedSharding) -> bool:
    """Lay out a tensor that covers its storage in another shape, such as a result of `nn.Linear`."""
    cell = cell_of(t)
    if cell.mixed or not t.is_contiguous() or t.nbytes != cell.nbytes or current_trace() is not None:
        return False
    if cell.pending is None or not cell.pending.move(cell, aval_of(tuple(t.shape), cell.dtype, sharding)):
        cell.write(moved(read(t), sharding))
    return True


def mark_sharding_with_gradients(
    t: torch.Tensor, mesh: LogicalMesh | None, partition_spec: Sequence[Any]
) -> torch.Tensor:
    """A copy of a tensor that is sharded over a mesh, and so is its gradient, also in graphs that torch traces."""
    if t.device.type == NAME and is_traced([t]):
        return shard(t, chosen_mesh(mesh).sharding(partition_spec))
    result = mark_sharding(t.clone(), mesh, partition_spec)
    if result.requires_grad:
        result.register_hook(lambda grad: mark_sharding(grad.clone(), mesh, partition_spec))
    return result


class MarkShardingFunction:
    """`apply` returns a sharded copy; with PyTorch/XLA, this is a `torch.autograd.Function`."""

    apply = staticmethod(mark_sharding_with_gradients)


def clear_sharding(t: torch.Tensor) -> torch.Tensor:
    """Move a tensor, and all that share its storage, to the first device, uncommitted, so that it joins the mesh of the
    tensors with which it is combined. The values are copied through the host.

    Raises:
        NotImplementedError: within a compiled function.
    """
    if current_trace() is not None:
        raise NotImplementedError("clear_sharding: within a compiled function; expected a call before or after it")
    cell = cell_of(t)
    content = cell.content  # which in lazy mode is computed here, and its sharding with it
    if cell.aval.sharding is None:
        return t
    if content.__class__ is LazyFill:
        cell.write(LazyFill(aval_of(cell.shape, cell.dtype), content.value))
    else:
        cell.write(put(np.asarray(content), 0))
    return t


def wrap_if_sharded(t: Any) -> Any:
    """Return the argument, since there is no wrapper."""
    return t


def shard_as(a: Any, b: Any) -> tuple[Any, Any]:
    """Shard the tensors of two trees alike, following the first of each pair that is on a mesh.

    Raises:
        ValueError: the trees have different structures.
    """
    (ours, structure), (others, other) = pytree.tree_flatten(a), pytree.tree_flatten(b)
    if structure != other:
        raise ValueError(f"shard_as: a and b must have the same structure, got {structure} and {other}")
    pairs = [_alike(x, y) if isinstance(x, torch.Tensor) else (x, y) for x, y in zip(ours, others, strict=True)]
    first, second = ([pair[i] for pair in pairs] for i in (0, 1))
    return pytree.tree_unflatten(first, structure), pytree.tree_unflatten(second, structure)


def _alike(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    if (sharding := sharding_on_mesh(x)) is not None:
        return x, shard(y, sharding)
    return (x, y) if (sharding := sharding_on_mesh(y)) is None else (shard(x, sharding), y)


def apply_backward_optimization_barrier(m: nn.Module) -> None:
    """Do nothing: XLA schedules the backward pass."""


class XLAPatchedLinear:
    """`apply` is `torch.nn.functional.linear`; with PyTorch/XLA, this is a `torch.autograd.Function`."""

    apply = staticmethod(nn.functional.linear)


PartitionSpec = tuple[Any, ...]  # for annotations: axes by name or number, tuples of these, or None


def xla_patched_nn_linear_forward(m: nn.Linear, input: torch.Tensor) -> torch.Tensor:
    """The result of a linear layer."""
    return XLAPatchedLinear.apply(input, m.weight, m.bias)


def apply_xla_patch_to_nn_linear(
    module: nn.Module, patched_function: Callable[..., Any] = xla_patched_nn_linear_forward
) -> nn.Module:
    """Replace the `forward` of the `nn.Linear` layers of a module, and return it. The default changes nothing."""
    for layer in module.modules():
        if type(layer) is nn.Linear:
            layer.forward = MethodType(patched_function, layer)  # type: ignore[method-assign]
    return module
