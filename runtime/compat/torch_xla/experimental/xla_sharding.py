"""`torch_xla.experimental.xla_sharding`, the old name of `torch_xla.distributed.spmd`."""

from __future__ import annotations

from ..distributed.spmd import HybridMesh as HybridMesh
from ..distributed.spmd import Mesh as Mesh
from ..distributed.spmd import ShardingSpec as ShardingSpec
from ..distributed.spmd import ShardingType as ShardingType
from ..distributed.spmd import XLAShardedTensor as XLAShardedTensor
from ..distributed.spmd import clear_sharding as clear_sharding
from ..distributed.spmd import get_1d_mesh as get_1d_mesh
from ..distributed.spmd import get_global_mesh as get_global_mesh
from ..distributed.spmd import mark_sharding as mark_sharding
from ..distributed.spmd import set_global_mesh as set_global_mesh
