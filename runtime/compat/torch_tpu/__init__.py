"""TorchTPU's names: those of `torch.tpu` beyond tenax's device module, and `import torch_tpu`.

With TENAX_DEVICE=tpu, `import tenax` calls `install`. Only tables are read then; what they name is imported at its
first use.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

import torch

from ..alias import LibraryFinder, Modules, rows

VERSION = "0.2.0"  # the release of TorchTPU whose names these are
_NAMES = """
torch.tpu:
    EagerMode set_eager_mode | .execution
    Precision precision default_generators | .settings
    _get_cache_stats _get_cache_requests _get_cache_hits _get_cache_misses _clear_cache _hbm_usage_summary |
        .statistics
    topology_aware_mesh | - | jax.make_mesh and tenax.mesh
    allow_excess_precision | - | torch.tpu.precision
torch.tpu.compiler: custom_compiler_options | .settings
torch.tpu.distributed:
    spmd_safe | .ops
    set_tpu_launch_env | - | torchrun or tenax.launch
    topology_aware_mesh | - | jax.make_mesh and tenax.mesh
    window_num_stripes window_stripe_chunk_mb | - | no setting: XLA transfers
torch.tpu.ops:
    all_gather_dim reduce_scatter_dim optimization_barrier ragged_dot ragged_dot_weight_grad max_pool1d
        max_pool1d_backward max_pool2d max_pool2d_backward max_pool3d max_pool3d_backward | .ops
    sparse_dense_matmul sparse_dense_matmul_activation_unstack sparse_dense_matmul_grad_with_adagrad
        sparse_dense_matmul_grad_with_adam sparse_dense_matmul_grad_with_sgd sparse_dense_matmul_gradient_stack
        sparse_gather sparse_gather_backward sparse_iota sparse_map_row | - | torch.nn.functional.embedding_bag: JAX
        has no operations of SparseCore
    align_jagged_to_multiple strip_jagged_padding | - | torch.nested with layout=torch.jagged
    splash_sdpa | - | torch.nn.functional.scaled_dot_product_attention
    ragged_all_to_all | - | torch.distributed.all_to_all_single
    send recv | - | torch.distributed.send and recv
torch.tpu.optimizers: AdamW Muon Optimizer Sgd SingleTraceTrainer | - | tenax.jit of the step, with torch.optim
torch.tpu.pallas:
    jax_op | .pallas
    get_pallas_mesh get_default_pallas_mesh | - | jax.make_mesh
torch.tpu.profiler: TpuProfilerConfig | - | torch.profiler or tenax.profiler
api: tpu_device | .settings
_internal.compile:
    TpuBackend | .settings
    clear_cache | - | a new process
    async_compile | - | TENAX_SYNC_COMPILE
_internal.compiler_options: custom_compiler_options | .settings
_internal.distributed.spmd_util: spmd_safe | .ops
_internal.dynamism: mark_dynamic | .settings
_internal.execution_mode:
    EagerMode set_eager_mode | .execution
    eager_mode | - | torch.tpu.eager_mode
_internal.ops.collectives: all_gather_dim reduce_scatter_dim | .ops
_internal.ops.ops: all_gather_dim reduce_scatter_dim optimization_barrier ragged_dot ragged_dot_weight_grad max_pool1d
        max_pool1d_backward max_pool2d max_pool2d_backward max_pool3d max_pool3d_backward | .ops
_internal.pallas:
    jax_op | .pallas
    get_pallas_mesh get_default_pallas_mesh | - | jax.make_mesh
    custom_jax_kernel | - | torch.tpu.pallas.jax_op
_internal.pallas.pallas: jax_op | .pallas
_internal.precision: Precision precision | .settings
_internal.sync: synchronize | .settings
_internal.sync.sync: synchronize | .settings
_internal.utils.hardware: get_tpu_device_name get_tpu_device_count | .settings
"""
ROWS = list(rows("torch_tpu", _NAMES))
_MODULES = Modules(__name__, "torch_tpu", "TorchTPU", ROWS)
_METADATA = {"entry_points.txt": "[torch_dynamo_backends]\ntpu = tenax.compile.backend:backend\n"}


def __getattr__(name: str) -> Any:
    return _MODULES.get(__name__, name)


def install() -> None:
    """Add TorchTPU's names to `torch.tpu`, and make `import torch_tpu` mean this package."""
    if LibraryFinder("torch_tpu", sys.modules[__name__], VERSION, _METADATA).install():
        sys.meta_path.insert(0, _MODULES)  # before folders that an earlier release left
        module: Any = torch.tpu  # type: ignore[attr-defined]
        module.__path__ = []
        module.__class__ = _with_names(type(module))


def _with_names(base: Any) -> type[ModuleType]:
    class TpuModule(base):  # type: ignore[misc]
        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError:
                return _MODULES.get("torch.tpu", name)

        def __dir__(self) -> list[str]:
            return sorted({*super().__dir__(), *" ".join(_MODULES.table["torch.tpu"].values()).split(), "eager_mode"})

        @property
        def eager_mode(self) -> Any:
            return importlib.import_module(f"{__name__}.execution").mode()

        @eager_mode.setter
        def eager_mode(self, mode: Any) -> None:
            importlib.import_module(f"{__name__}.execution").enter(mode)

    return TpuModule
