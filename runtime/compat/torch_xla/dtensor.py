"""`torch_xla.distributed.spmd.api`: `distribute_tensor` and `distribute_module` of `torch.distributed.tensor`.

torch calls these functions for a `DeviceMesh` of device type "xla", whose numbers are those of devices and not of
ranks: the whole mesh belongs to one program. Results are ordinary tensors on the mesh, not `DTensor`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor.placement_types import Placement, Replicate

from ...sharding.current import automatic
from ...sharding.placing import shard
from ...sharding.presets import fsdp
from ...storage.ordinals import NAME
from .meshes import LogicalMesh
from .sharded_tensor import convert_to_xla_partition_spec
from .sharding import mark_sharding


def convert_to_xla_mesh(dt_mesh: DeviceMesh) -> LogicalMesh:
    """The mesh of a `DeviceMesh` whose numbers are those of devices."""
    return LogicalMesh(dt_mesh.mesh.flatten().tolist(), tuple(dt_mesh.mesh.shape), dt_mesh.mesh_dim_names)


def xla_distribute_tensor(
    tensor: torch.Tensor, device_mesh: DeviceMesh, placements: Sequence[Placement] | None = None
) -> torch.Tensor:
    """Shard a tensor over a mesh, as `mark_sharding` does.

    Args:
        tensor: a tensor on the device, whose array is moved, or on the CPU, which is copied.
        device_mesh: the result of `init_device_mesh("xla", sizes)`.
        placements: `Shard` or `Replicate` for each mesh axis; by default, `Replicate`.

    Returns:
        The tensor on the mesh, a parameter if `tensor` is one.
    """
    placements = [Replicate()] * device_mesh.ndim if placements is None else placements
    if len(placements) != device_mesh.ndim:
        raise ValueError(f"distribute_tensor: {len(placements)} placements for a mesh of {device_mesh.ndim} axes")
    spec = convert_to_xla_partition_spec(tensor, placements)
    if tensor.device.type != NAME:
        moved = tensor.detach().to(NAME).requires_grad_(tensor.requires_grad)
        tensor = nn.Parameter(moved, tensor.requires_grad) if isinstance(tensor, nn.Parameter) else moved
    return mark_sharding(tensor, convert_to_xla_mesh(device_mesh), spec)


def xla_distribute_module(
    module: nn.Module,
    device_mesh: DeviceMesh | None = None,
    partition_fn: Callable[[str, nn.Module, Any], None] | None = None,
    input_fn: Callable[..., Any] | None = None,
    output_fn: Callable[..., Any] | None = None,
) -> nn.Module:
    """Shard the parameters of a module.

    Args:
        module: a module, which is changed in place.
        device_mesh: the result of `init_device_mesh("xla", sizes)`.
        partition_fn: called with the name of each submodule, the submodule and the mesh, to shard its parameters; or
            `auto_policy`.
        input_fn: called with the module, the inputs of a forward and the mesh, or without the module; its result, if it
            is not None, replaces the inputs.
        output_fn: called with the module, the outputs and the mesh, or without the module; its result, if it is not
            None, replaces the outputs.

    Returns:
        The module.
    """
    if partition_fn is auto_policy:
        _shard_largest_dimensions(module, device_mesh)
    elif partition_fn is not None:
        for name, submodule in module.named_modules():
            partition_fn(name, submodule, device_mesh)
    if input_fn is not None:
        before = _with_module("input_fn", input_fn)
        module.register_forward_pre_hook(lambda module, inputs: before(module, inputs, device_mesh))
    if output_fn is not None:
        after = _with_module("output_fn", output_fn)
        module.register_forward_hook(lambda module, inputs, outputs: after(module, outputs, device_mesh))
    return module


def _with_module(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a module, a value and a mesh, whether it takes the module or not.

    Raises:
        ValueError: it takes another number of arguments.
    """
    count = len(inspect.signature(function).parameters)
    if count not in (2, 3):
        raise ValueError(f"distribute_module: {name} takes {count} arguments; expected a module, a value and a mesh")
    return function if count == 3 else lambda _, *args: function(*args)


def auto_policy(mod_name: str, mod: nn.Module, mesh: Any) -> None:
    """The `partition_fn` of `distribute_module` that chooses shardings by itself.

    PyTorch/XLA has XLA choose. Here the rules of `tenax.sharding.fsdp` do: each parameter of at least 1,024
    elements is sharded along its largest dimension that the largest axis of the mesh divides. A call does nothing.
    """


def _shard_largest_dimensions(module: nn.Module, device_mesh: Any) -> None:
    if device_mesh is None:
        raise ValueError("distribute_module: auto_policy without a mesh; expected init_device_mesh('xla', sizes)")
    mesh = automatic(convert_to_xla_mesh(device_mesh).get_jax_mesh())
    shard(module, fsdp(max(mesh.axis_names, key=mesh.shape.__getitem__)), mesh)
