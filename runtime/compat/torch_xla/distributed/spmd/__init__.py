"""`torch_xla.distributed.spmd`, which programs import as `xs`: sharded tensors, implemented with `tenax.shard`.

Sharded tensors are ordinary device tensors whose arrays are on the mesh: there is no wrapper, and `mark_sharding`
returns its argument.
"""

from __future__ import annotations

from ...missing import names_of
from .api import auto_policy as auto_policy
from .api import xla_distribute_module as xla_distribute_module
from .api import xla_distribute_tensor as xla_distribute_tensor
from .meshes import HybridMesh as HybridMesh
from .meshes import Mesh as Mesh
from .meshes import get_1d_mesh as get_1d_mesh
from .meshes import get_global_mesh as get_global_mesh
from .meshes import set_global_mesh as set_global_mesh
from .xla_sharded_tensor import XLAShard as XLAShard
from .xla_sharded_tensor import XLAShardedTensor as XLAShardedTensor
from .xla_sharding import MarkShardingFunction as MarkShardingFunction
from .xla_sharding import ShardingSpec as ShardingSpec
from .xla_sharding import ShardingType as ShardingType
from .xla_sharding import XLAPatchedLinear as XLAPatchedLinear
from .xla_sharding import annotate_custom_sharding as annotate_custom_sharding
from .xla_sharding import apply_backward_optimization_barrier as apply_backward_optimization_barrier
from .xla_sharding import apply_xla_patch_to_nn_linear as apply_xla_patch_to_nn_linear
from .xla_sharding import clear_sharding as clear_sharding
from .xla_sharding import disable_manual_sharding as disable_manual_sharding
from .xla_sharding import enable_manual_sharding as enable_manual_sharding
from .xla_sharding import mark_sharding as mark_sharding
from .xla_sharding import mark_sharding_with_gradients as mark_sharding_with_gradients
from .xla_sharding import shard_as as shard_as
from .xla_sharding import wrap_as_sharded_tensor as wrap_as_sharded_tensor
from .xla_sharding import wrap_if_sharded as wrap_if_sharded
from .xla_sharding import xla_patched_nn_linear_forward as xla_patched_nn_linear_forward

__getattr__ = names_of(__name__)
