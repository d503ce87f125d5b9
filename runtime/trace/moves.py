"""Copies of tensors from one device, or mesh, to another."""

from __future__ import annotations

import torch
from jax.sharding import NamedSharding, PartitionSpec

from .._jax import ArrayImpl, uncommitted
from ..storage.cell import Cell
from ..storage.ordinals import jax_devices
from ..storage.placement import moved
from ..storage.tensors import wrap
from .transfer import read


def move(tensor: torch.Tensor, target: Cell) -> torch.Tensor:
    """Copy a device tensor to the device or mesh of a cell's array."""
    array, sharding = read(tensor), target.aval.sharding
    if isinstance(sharding, NamedSharding) and array.shape != target.shape:
        sharding = NamedSharding(sharding.mesh, PartitionSpec())
    result = moved(array, sharding or jax_devices()[target.index])
    if not target.index and sharding is None and isinstance(result, ArrayImpl):
        result = uncommitted(result)  # unplaced tensors are on the first device, uncommitted
    return wrap(result, target.index)
