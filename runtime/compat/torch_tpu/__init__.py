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

from ..alias import LibraryFinder, Modules

VERSION = "0.2.0"  # the release of TorchTPU whose names these are
_OPS = "all_gather_dim reduce_scatter_dim optimization_barrier ragged_dot ragged_dot_weight_grad"
_POOLS = " ".join(f"max_pool{n}d max_pool{n}d_backward" for n in (1, 2, 3))
_STATISTICS = "_get_cache_stats _get_cache_requests _get_cache_hits _get_cache_misses _clear_cache _hbm_usage_summary"
_SPARSE = (
    "sparse_dense_matmul sparse_dense_matmul_activation_unstack sparse_dense_matmul_grad_with_adagrad "
    "sparse_dense_matmul_grad_with_adam sparse_dense_matmul_grad_with_sgd sparse_dense_matmul_gradient_stack "
    "sparse_gather sparse_gather_backward sparse_iota sparse_map_row"
)
_COMPILER = {"custom_compiler_options": 'torch.compile(f, backend="tpu", options={"compiler_options": {...}})'}
_MESHES = dict.fromkeys(("get_pallas_mesh", "get_default_pallas_mesh"), "jax.make_mesh")

# The names of each module by the module of this package that has them. `REFUSED` lists names that raise.
TPU = {
    "torch.tpu": {
        ".execution": "EagerMode set_eager_mode",
        ".settings": "Precision precision default_generators",
        ".statistics": _STATISTICS,
    },
    "torch.tpu.compiler": {},
    "torch.tpu.distributed": {".ops": "spmd_safe"},
    "torch.tpu.ops": {".ops": f"{_OPS} {_POOLS}"},
    "torch.tpu.optimizers": {},
    "torch.tpu.pallas": {".pallas": "jax_op"},
    "torch.tpu.profiler": {},
}
LIBRARY = {
    __name__: {},
    f"{__name__}.api": {".settings": "tpu_device"},
    f"{__name__}._internal": {},
    f"{__name__}._internal.compile": {".settings": "TpuBackend"},
    f"{__name__}._internal.compiler_options": {},
    f"{__name__}._internal.distributed": {},
    f"{__name__}._internal.distributed.spmd_util": {".ops": "spmd_safe"},
    f"{__name__}._internal.dynamism": {".settings": "mark_dynamic"},
    f"{__name__}._internal.execution_mode": {".execution": "EagerMode set_eager_mode"},
    f"{__name__}._internal.ops": {},
    f"{__name__}._internal.ops.collectives": {".ops": "all_gather_dim reduce_scatter_dim"},
    f"{__name__}._internal.ops.ops": {".ops": f"{_OPS} {_POOLS}"},
    f"{__name__}._internal.pallas": {".pallas": "jax_op"},
    f"{__name__}._internal.pallas.pallas": {".pallas": "jax_op"},
    f"{__name__}._internal.precision": {".settings": "Precision precision"},
    f"{__name__}._internal.sync": {".settings": "synchronize"},
    f"{__name__}._internal.sync.sync": {".settings": "synchronize"},
    f"{__name__}._internal.utils": {},
    f"{__name__}._internal.utils.hardware": {".settings": "get_tpu_device_name get_tpu_device_count"},
}
REFUSED: dict[str, dict[str, str]] = {
    "torch.tpu": {
        "topology_aware_mesh": "jax.make_mesh and tenax.mesh",
        "allow_excess_precision": "torch.tpu.precision",
    },
    "torch.tpu.compiler": _COMPILER,
    "torch.tpu.distributed": {
        "set_tpu_launch_env": "torchrun or tenax.launch",
        "topology_aware_mesh": "jax.make_mesh and tenax.mesh",
        **dict.fromkeys(("window_num_stripes", "window_stripe_chunk_mb"), "no setting: XLA transfers"),
    },
    "torch.tpu.ops": {
        **dict.fromkeys(_SPARSE.split(), "torch.nn.functional.embedding_bag: JAX has no operations of SparseCore"),
        **dict.fromkeys(("align_jagged_to_multiple", "strip_jagged_padding"), "torch.nested with layout=torch.jagged"),
        "splash_sdpa": "torch.nn.functional.scaled_dot_product_attention",
        "ragged_all_to_all": "torch.distributed.all_to_all_single",
        **dict.fromkeys(("send", "recv"), "torch.distributed.send and recv"),
    },
    "torch.tpu.optimizers": dict.fromkeys(
        ("AdamW", "Muon", "Optimizer", "Sgd", "SingleTraceTrainer"), "tenax.jit of the step, with torch.optim"
    ),
    "torch.tpu.pallas": _MESHES,
    "torch.tpu.profiler": {"TpuProfilerConfig": "torch.profiler or tenax.profiler"},
    "torch_tpu._internal.compile": {"clear_cache": "a new process", "async_compile": "TENAX_SYNC_COMPILE"},
    "torch_tpu._internal.compiler_options": _COMPILER,
    "torch_tpu._internal.execution_mode": {"eager_mode": "torch.tpu.eager_mode"},
    "torch_tpu._internal.pallas": {**_MESHES, "custom_jax_kernel": "torch.tpu.pallas.jax_op"},
}


_MODULES = Modules(__name__, "torch_tpu", "TorchTPU", TPU | LIBRARY, REFUSED)
_METADATA = {"entry_points.txt": "[torch_dynamo_backends]\ntpu = tenax.compile.backend:backend\n"}


def __getattr__(name: str) -> Any:
    return _MODULES.get(__name__, name)


def install() -> None:
    """Add TorchTPU's names to `torch.tpu`, and make `import torch_tpu` mean this package."""
    if LibraryFinder("torch_tpu", sys.modules[__name__], VERSION, _METADATA).install():
        sys.meta_path.append(_MODULES)
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
            return sorted({*super().__dir__(), *" ".join(TPU["torch.tpu"].values()).split(), "eager_mode"})

        @property
        def eager_mode(self) -> Any:
            return importlib.import_module(f"{__name__}.execution").mode()

        @eager_mode.setter
        def eager_mode(self, mode: Any) -> None:
            importlib.import_module(f"{__name__}.execution").enter(mode)

    return TpuModule
