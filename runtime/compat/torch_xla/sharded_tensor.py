"""Attributes of tensors on several devices.

There is no wrapper: any tensor whose array is on a mesh has these attributes.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np
import torch

from ... import patches
from ...dtypes import torch_dtype
from ...sharding.placing import shard, sharding_of
from ...sharding.visualize import print_parts
from ...storage.ordinals import NAME
from ...storage.tensors import cell_of
from ...trace.transfer import from_numpy, read


class ShardingType(enum.IntEnum):
    """The kind of a tensor's sharding."""

    REPLICATED = 0
    MAXIMAL = 1
    TUPLE = 2
    TILED = 3
    MANUAL = 4
    PARTIAL = 5
    UNKNOWN = 6


@dataclass
class XLAShard:
    """The part of a tensor on one device, copied to the CPU."""

    data: torch.Tensor
    indices: Any  # the position of the part in the tensor: a slice for each dimension, or `...` for all of it
    shard_device: str
    replica_id: int  # 0 on the first of the devices that have the same part

    @property
    def unpadded_data(self) -> torch.Tensor:
        """The data: parts have no padding."""
        return self.data


class _OnMesh(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, torch.Tensor) and hasattr(instance, "mesh_shape")


class XLAShardedTensor(metaclass=_OnMesh):
    """A class of which tensors on several devices are instances, by `isinstance`."""

    def __new__(cls, elem: torch.Tensor, *_: Any, requires_grad: bool = False, **__: Any) -> Any:
        """The tensor itself; with `requires_grad`, a leaf of its memory."""
        return elem.detach().requires_grad_() if requires_grad else elem


def sharding_on_mesh(tensor: torch.Tensor) -> jax.sharding.NamedSharding | None:
    """The sharding of a tensor on several devices; None for other tensors."""
    plain = tensor.device.type == NAME and type(tensor).__torch_dispatch__ is torch.Tensor.__torch_dispatch__
    found = sharding_of(tensor) if plain else None
    return found if isinstance(found, jax.sharding.NamedSharding) and len(found.device_set) > 1 else None


def _required(tensor: torch.Tensor, name: str) -> jax.sharding.NamedSharding:
    found = sharding_on_mesh(tensor)
    if found is None:
        raise AttributeError(f"{type(tensor).__name__!r} object has no attribute {name!r}: it is not on a mesh")
    return found


def global_tensor(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself."""
    _required(tensor, "global_tensor")
    return tensor


def mesh_shape(tensor: torch.Tensor) -> tuple[int, ...]:
    """The sizes of the mesh."""
    return tuple(_required(tensor, "mesh_shape").mesh.axis_sizes)


def partition_spec(tensor: torch.Tensor) -> tuple[Any, ...]:
    """For each dimension the number of a mesh axis, a tuple of numbers, or None."""
    sharding = _required(tensor, "partition_spec")
    names = sharding.mesh.axis_names

    def number(axis: Any) -> Any:
        return None if axis is None else names.index(axis) if isinstance(axis, str) else tuple(map(number, axis))

    return tuple(number(axis) for axis in (*sharding.spec, *[None] * (tensor.dim() - len(sharding.spec))))


def placements(tensor: torch.Tensor) -> tuple[Any, ...]:
    """For each axis of the mesh torch's `Shard`, or `Replicate`."""
    from torch.distributed.tensor import Replicate, Shard

    spec = [axes if isinstance(axes, tuple) else (axes,) for axes in partition_spec(tensor)]
    split = {axis: dim for dim, axes in enumerate(spec) for axis in axes}
    return tuple(Shard(split[axis]) if axis in split else Replicate() for axis in range(len(mesh_shape(tensor))))


def redistribute(tensor: torch.Tensor) -> Callable[..., torch.Tensor]:
    """A method, which shards the tensor by placements, one for each axis of a mesh."""
    _required(tensor, "redistribute")
    return partial(_redistributed, tensor)


def _redistributed(
    tensor: torch.Tensor, device_mesh: Any, placements: Sequence[Any], *, async_op: bool = False
) -> torch.Tensor:
    """`tenax.shard` of a tensor by placements.

    Raises:
        NotImplementedError: a placement is neither `Shard` nor `Replicate`.
        ValueError: the number of placements is not that of the axes of the mesh.
        IndexError: a dimension does not exist.
    """
    if len(placements) != (n := len(device_mesh.mesh_shape)):
        raise ValueError(f"Number of placements ({len(placements)}) must match mesh dimensions ({n})")
    return shard(tensor, device_mesh.sharding(convert_to_xla_partition_spec(tensor, placements)))


def convert_to_xla_partition_spec(tensor: torch.Tensor, placement_spec: Sequence[Any]) -> tuple[Any, ...]:
    """The partition spec of placements, one for each mesh axis.

    Raises:
        NotImplementedError: a placement is neither `Shard` nor `Replicate`.
        IndexError: a dimension does not exist.
    """
    from torch.distributed.tensor import Replicate, Shard

    axes: list[tuple[int, ...]] = [()] * tensor.dim()
    for axis, placement in enumerate(placement_spec):
        if type(placement) is Shard:
            if not -tensor.dim() <= placement.dim < tensor.dim():
                raise IndexError(f"distribute_tensor: {placement} of a tensor of shape {[*tensor.shape]}")
            axes[placement.dim] += (axis,)
        elif not isinstance(placement, Replicate):
            raise NotImplementedError(f"distribute_tensor: {placement} on device xla; expected Shard or Replicate")
    return tuple(None if not dim else dim[0] if len(dim) == 1 else dim for dim in axes)


def sharding_spec(tensor: torch.Tensor) -> str:
    """The sharding in XLA's notation, such as '{devices=[2,1]0,1}'."""
    return xla_text(_required(tensor, "sharding_spec"), tensor.dim())


def sharding_type(tensor: torch.Tensor) -> ShardingType:
    """REPLICATED, TILED if each device has a different part, PARTIAL if some devices have the same part."""
    sharding = _required(tensor, "sharding_type")
    if sharding.is_fully_replicated:
        return ShardingType.REPLICATED
    parts = {str(index) for index in sharding.devices_indices_map(tuple(tensor.shape)).values()}
    return ShardingType.TILED if len(parts) == len(sharding.device_set) else ShardingType.PARTIAL


def local_shards(tensor: torch.Tensor) -> list[XLAShard]:
    """The parts on the devices of this process."""
    whole = _required(tensor, "local_shards").is_fully_replicated
    return [
        XLAShard(
            from_numpy(np.array(shard.data), torch_dtype(shard.data.dtype)),
            ... if whole else [slice(*s.indices(n)) for s, n in zip(shard.index, tensor.shape, strict=True)],
            f"{shard.device.platform.upper()}:{shard.device.id}",
            shard.replica_id,
        )
        for shard in read(tensor).addressable_shards
    ]


def load_local_shards_(tensor: torch.Tensor, shards: Sequence[XLAShard]) -> None:
    """Overwrite the parts on the devices of this process, in the order of `local_shards`.

    Raises:
        ValueError: the number of parts, or the shape or dtype of one, is not that of `local_shards`.
        NotImplementedError: the tensor is a part of its storage.
    """
    _required(tensor, "load_local_shards_")
    cell, array = cell_of(tensor), read(tensor)
    own = array.addressable_shards
    expected = [(tuple(p.data.shape), torch_dtype(p.data.dtype)) for p in own]
    given = [(tuple(s.data.shape), s.data.dtype) for s in shards]
    if given != expected:
        raise ValueError(f"load_local_shards_: parts {given}; expected those of local_shards: {expected}")
    if cell.mixed or tuple(cell.shape) != tuple(tensor.shape) or not tensor.is_contiguous():
        raise NotImplementedError("load_local_shards_: a tensor that is a part of its storage; expected its clone")
    parts = [jax.device_put(read(s.data.to(NAME)), p.device) for s, p in zip(shards, own, strict=True)]
    cell.write(jax.make_array_from_single_device_arrays(array.shape, array.sharding, parts))
    torch.autograd.graph.increment_version(tensor)


def xla_text(sharding: jax.sharding.NamedSharding, ndim: int) -> str:
    """A sharding in XLA's notation."""
    axes = [a if isinstance(a, tuple) else () if a is None else (a,) for a in sharding.spec]
    axes += [()] * (ndim - len(axes))
    sizes, names = dict(sharding.mesh.shape), sharding.mesh.axis_names
    tiles = [math.prod(sizes[a] for a in dim) for dim in axes]
    if math.prod(tiles) == 1:
        return "{replicated}"
    used = [a for dim in axes for a in dim]
    order = [names.index(a) for a in (*used, *(a for a in names if a not in used))]
    devices = ",".join(str(d.id) for d in sharding.mesh.devices.transpose(order).flat)
    copies = sharding.mesh.size // math.prod(tiles)
    grid = ",".join(map(str, [*tiles, *([copies] if copies > 1 else [])]))
    return f"{{devices=[{grid}]{devices}{' last_tile_dim_replicate' if copies > 1 else ''}}}"


def visualize_tensor_sharding(t: torch.Tensor, **kwargs: Any) -> Any:
    """Print the parts of a tensor with their devices, and return the table. Its text decides the width of columns."""
    return print_parts(t)


def add_attributes() -> None:
    """Add the attributes to `torch.Tensor`."""
    for get in (global_tensor, mesh_shape, partition_spec, placements, redistribute, sharding_spec, sharding_type):
        patches.replace(f"torch.Tensor.{get.__name__}", property(get))
    patches.replace("torch.Tensor.local_shards", property(local_shards))
    patches.replace("torch.Tensor.load_local_shards_", load_local_shards_)


add_attributes()
