"""`torch_xla.distributed.spmd.api`: `distribute_tensor` and `distribute_module` of `torch.distributed.tensor`.

torch calls these functions for a `DeviceMesh` of device type "xla", whose numbers are those of devices and not of
ranks: the whole mesh belongs to one program. Results are ordinary tensors on the mesh, not `DTensor`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor.placement_types import Placement, Replicate, Shard

from .....storage.ordinals import NAME
from .meshes import LogicalMesh
from .xla_sharding import mark_sharding


def convert_to_xla_mesh(dt_mesh: DeviceMesh) -> LogicalMesh:
    """The mesh of a `DeviceMesh` whose numbers are those of devices."""
    return LogicalMesh(dt_mesh.mesh.flatten().tolist(), tuple(dt_mesh.mesh.shape), dt_mesh.mesh_dim_names)


def convert_to_xla_partition_spec(tensor: torch.Tensor, placement_spec: Sequence[Placement]) -> tuple[Any, ...]:
    """The partition spec of placements, one for each mesh axis.

    Raises:
        NotImplementedError: a placement is neither `Shard` nor `Replicate`.
        ValueError: a dimension does not exist.
    """
    axes: list[tuple[int, ...]] = [()] * tensor.dim()
    for axis, placement in enumerate(placement_spec):
        if type(placement) is Shard:
            if not -tensor.dim() <= placement.dim < tensor.dim():
                raise ValueError(f"distribute_tensor: {placement} of a tensor of shape {[*tensor.shape]}")
            axes[placement.dim] += (axis,)
        elif not isinstance(placement, Replicate):
            raise NotImplementedError(f"distribute_tensor: {placement} on device xla; expected Shard or Replicate")
    return tuple(None if not dim else dim[0] if len(dim) == 1 else dim for dim in axes)


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
        partition_fn: called with the name of each submodule, the submodule and the mesh, to shard its parameters.
        input_fn: called with the inputs of a forward and the mesh; its result replaces the inputs.
        output_fn: called with the outputs and the mesh; its result replaces the outputs.

    Returns:
        The module.
    """
    if partition_fn is not None:
        for name, submodule in module.named_modules():
            partition_fn(name, submodule, device_mesh)
    if input_fn is not None:
        module.register_forward_pre_hook(lambda _, inputs: input_fn(inputs, device_mesh))
    if output_fn is not None:
        module.register_forward_hook(lambda _, inputs, outputs: output_fn(outputs, device_mesh))
    return module


def auto_policy(mod_name: str, mod: nn.Module, mesh: DeviceMesh) -> None:
    """Raise NotImplementedError: XLA's automatic sharding is not available."""
    raise NotImplementedError(
        "auto_policy: shardings are not chosen automatically; expected a partition_fn that shards the parameters, or "
        "tenax.shard(module, tenax.sharding.fsdp())"
    )
