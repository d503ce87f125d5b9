"""One program over a mesh of devices: JAX's shardings for torch tensors and modules.

An unplaced tensor joins the mesh of the tensors with which it is combined. The public names are `tenax.shard`,
`tenax.mesh`, `tenax.sharding_of` and `tenax.visualize_sharding`; this package adds the rules for whole modules.
"""

from __future__ import annotations

from jax.sharding import NamedSharding as NamedSharding
from jax.sharding import PartitionSpec as PartitionSpec

from .current import mesh as mesh
from .placing import initialize as initialize
from .placing import shard as shard
from .placing import sharding_of as sharding_of
from .presets import fsdp as fsdp
from .presets import tensor_parallel as tensor_parallel
from .visualize import visualize_sharding as visualize_sharding

__all__ = [
    "NamedSharding",
    "PartitionSpec",
    "fsdp",
    "initialize",
    "mesh",
    "shard",
    "sharding_of",
    "tensor_parallel",
    "visualize_sharding",
]
