"""`torch_xla.experimental.xla_sharding`, the old name of `torch_xla.distributed.spmd`."""

from __future__ import annotations

from ..distributed.spmd import Mesh as Mesh
from ..distributed.spmd import ShardingSpec as ShardingSpec
from ..distributed.spmd import clear_sharding as clear_sharding
from ..distributed.spmd import mark_sharding as mark_sharding
