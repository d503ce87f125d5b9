"""PyTorch/XLA's names, with their status and equivalent in tenax, for `tenax doctor --xla` and the docs.

A row is (names, status, tenax), under the module of the names. Status is "runs", "runs, differently: why" or "not".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

RUNS, NOT = "runs", "not"


@dataclass(frozen=True, slots=True)
class Row:
    """Names of one module with the same status and equivalent."""

    module: str  # a module of torch_xla
    names: tuple[str, ...]
    status: str  # RUNS, "runs, differently: ..." or NOT
    tenax: str  # the spelling without PyTorch/XLA's names

    @property
    def paths(self) -> list[str]:
        """The names with their module."""
        return [f"{self.module}.{name}" for name in self.names]


def _differently(why: str) -> str:
    return f"runs, differently: {why}"


_ROWS: dict[str, list[tuple[str, str, str]]] = {
    "torch_xla": [
        ("device devices", RUNS, '`torch.device("jax")`, `torch.device("jax", n)`'),
        ("device_count real_devices", RUNS, "`torch.jax.device_count()`, `jax.local_devices()`"),
        ("sync step", RUNS, "`tenax.sync()`"),
        ("compile", RUNS, "`tenax.jit`; of a block, `tenax.lazy`"),
        ("manual_seed", RUNS, "`torch.manual_seed`"),
        (
            "save_as_stablehlo save_torch_model_as_stablehlo",
            _differently("the files are those of tenax.export"),
            "`tenax.export.save`",
        ),
        ("__version__", _differently("the release whose names these are"), "`tenax.__version__`"),
        ("launch", RUNS, "`tenax.launch(fn, nprocs, args)`, `torchrun`"),
    ],
    "torch_xla.core.xla_model": [
        ("xla_device", _differently("it prints as `jax:0`"), '`torch.device("jax")`'),
        ("get_xla_supported_devices", RUNS, '`[f"jax:{i}" for i in range(torch.jax.device_count())]`'),
        ("xla_real_devices xla_device_hw parse_xla_device", RUNS, "`jax.local_devices()`"),
        ("is_xla_tensor", RUNS, "`tensor.is_jax`"),
        ("mark_step unlazy", RUNS, "`tenax.sync()`"),
        ("optimizer_step", RUNS, "`optimizer.step()`; `DistributedDataParallel` averages over replicas"),
        (
            "reduce_gradients bucketized_reduce_gradients all_reduce_bucketized_gradients",
            RUNS,
            "`DistributedDataParallel`",
        ),
        ("add_step_closure", RUNS, "a call after the step"),
        ("wait_device_ops", RUNS, "`tenax.synchronize()`"),
        ("send_cpu_data_to_device", RUNS, '`tensor.to("jax")`, `tenax.data.to_device(loader)`'),
        ("xrt_world_size get_ordinal get_local_ordinal", RUNS, "`dist.get_world_size()`, `dist.get_rank()`"),
        ("is_master_ordinal master_print", RUNS, "`dist.get_rank() == 0`"),
        ("all_reduce", RUNS, "`dist.all_reduce`"),
        ("REDUCE_SUM REDUCE_MUL REDUCE_AND REDUCE_OR REDUCE_MIN REDUCE_MAX", RUNS, "`dist.ReduceOp`"),
        ("all_gather all_gather_bucketized", RUNS, "`dist.all_gather_into_tensor`"),
        ("reduce_scatter reduce_scatter_bucketized", RUNS, "`dist.reduce_scatter_tensor`"),
        ("all_to_all", RUNS, "`dist.all_to_all_single`"),
        ("collective_permute", RUNS, "`permute_tensor` of torch's functional collectives"),
        ("collective_broadcast broadcast_master_param", RUNS, "`dist.broadcast`"),
        ("rendezvous do_on_ordinals", RUNS, "`dist.barrier`"),
        ("xla_rendezvous", RUNS, "`dist.all_gather_object`"),
        ("send recv", NOT, "`dist.send`, `dist.recv`"),
        ("set_replication xla_replication_devices", NOT, "`torchrun`, `nn.DataParallel`"),
        ("mesh_reduce", RUNS, "`dist.all_gather_object`"),
        ("save", RUNS, "`torch.save`"),
        ("get_memory_info MemoryInfo", RUNS, "`torch.jax.memory_allocated()`, `torch.jax.mem_get_info()`"),
        ("fork_rng", RUNS, "`torch.random.fork_rng(device_type='jax')`"),
        ("xla_device_kind", RUNS, "`jax.devices()[0].device_kind`"),
        ("check_view_sharing", RUNS, "not needed"),
        ("set_rng_state get_rng_state", RUNS, "`torch.jax.manual_seed`, `torch.jax.get_rng_state`"),
        ("RateTracker", RUNS, "`time.perf_counter()`"),
        ("optimization_barrier_", _differently("XLA may move operations"), "not needed"),
        ("get_stablehlo get_stablehlo_bytecode", RUNS, "`tenax.export.to_stablehlo`"),
    ],
    "torch_xla.core.xla_env_vars": [
        ("PJRT_DEVICE", RUNS, "`JAX_PLATFORMS`"),
        (
            "PJRT_SELECT_DEFAULT_DEVICE TPU_VISIBLE_CHIPS TPU_PROCESS_BOUNDS TPU_PROCESS_ADDRESSES TPU_PROCESS_PORT "
            "TPU_CHIPS_PER_PROCESS_BOUNDS CLOUD_TPU_TASK_ID",
            _differently("names that tenax does not read"),
            "the variables of JAX and libtpu",
        ),
    ],
    "torch_xla._XLAC": [
        ("_xla_get_default_device _xla_get_devices _xla_real_devices _xla_num_devices", RUNS, "`jax.local_devices()`"),
        ("_xla_step_marker _xla_sync_multi _xla_wait_device_ops", RUNS, "`tenax.sync()`, `tenax.synchronize()`"),
        ("_xla_set_rng_seed _xla_get_rng_seed", RUNS, "`torch.manual_seed`"),
        ("_get_xla_sharding_spec", RUNS, "`tenax.sharding_of(x)`"),
        ("_get_xla_tensors_hlo", RUNS, "`tenax.export.to_stablehlo`"),
        (
            "_xla_metrics_report _xla_counter_names _xla_counter_value _xla_metric_names _xla_metric_data "
            "_clear_xla_counters _clear_xla_metrics",
            RUNS,
            "`tenax.explain`, `tenax.profiler`",
        ),
    ],
    "torch_xla.core.functions": [
        ("all_reduce all_gather", RUNS, "`torch.distributed.nn`"),
        ("SyncBatchNorm XlaSyncBatchNorm", RUNS, "`nn.SyncBatchNorm`"),
        ("nms", NOT, "`torchvision.ops.nms`"),
    ],
    "torch_xla.core.xla_builder": [("call_jax", RUNS, "`tenax.call_jax`")],
    "torch_xla.runtime": [
        ("world_size global_ordinal local_ordinal", RUNS, "`dist.get_world_size()`, `dist.get_rank()`"),
        ("process_count process_index local_process_count host_index", RUNS, "`jax.process_count()`"),
        ("addressable_device_count local_device_count", RUNS, "`torch.jax.device_count()`"),
        ("global_device_count global_runtime_device_count", RUNS, "`jax.device_count()`"),
        ("addressable_runtime_device_count", RUNS, "`torch.jax.device_count()`"),
        ("global_runtime_device_attributes runtime_device_attributes", RUNS, "`jax.devices()`"),
        ("device_type set_device_type using_pjrt", RUNS, "`JAX_PLATFORMS`"),
        ("use_spmd is_spmd", RUNS, "not needed"),
        ("is_bf16_supported", RUNS, "`torch.jax.is_bf16_supported()`"),
        ("get_num_cached_compilation_graph", RUNS, "`tenax.explain(tenax.lazy)`"),
        ("initialize_cache", RUNS, "`tenax.compilation_cache(path)`"),
        ("get_master_ip", RUNS, "`MASTER_ADDR`"),
    ],
    "torch_xla.distributed.xla_multiprocessing": [
        ("spawn", _differently("processes are spawned, never forked"), "`tenax.launch(fn, nprocs, args)`"),
        ("MpModelWrapper", RUNS, "`DistributedDataParallel`, which broadcasts the parameters"),
        ("MpSerialExecutor", RUNS, "`dist.barrier`"),
    ],
    "torch_xla.distributed.parallel_loader": [
        ("ParallelLoader PerDeviceLoader MpDeviceLoader", RUNS, "`tenax.data.to_device(loader, sharding)`"),
    ],
    "torch_xla.distributed.data_parallel": [("DataParallel Context", RUNS, "`nn.DataParallel`")],
    "torch_xla.distributed.xla_backend": [("", RUNS, '`dist.init_process_group("tenax")`')],
    "torch_xla.distributed.fsdp": [
        ("XlaFullyShardedDataParallel", _differently("by `fully_shard`, with fewer options"), "`fully_shard`"),
        (
            "consolidate_sharded_model_checkpoints consolidate_sharded_state_dicts",
            RUNS,
            "`torch.distributed.checkpoint`, `tenax.checkpoint`",
        ),
        ("checkpoint_module", RUNS, "`torch.utils.checkpoint.checkpoint`"),
    ],
    "torch_xla.distributed.fsdp.xla_fully_sharded_data_parallel": [
        ("XlaFullyShardedDataParallel", RUNS, "as `torch_xla.distributed.fsdp`"),
    ],
    "torch_xla.distributed.fsdp.state_dict_utils": [
        (
            "consolidate_sharded_model_checkpoints consolidate_sharded_state_dicts",
            RUNS,
            "as `torch_xla.distributed.fsdp`",
        ),
    ],
    "torch_xla.distributed.fsdp.utils": [
        ("checkpoint_module", RUNS, "as `torch_xla.distributed.fsdp`"),
        (
            "apply_xla_patch_to_nn_linear XLAPatchedLinear",
            _differently("`nn.Linear` needs no patch"),
            "not needed",
        ),
    ],
    "torch_xla.distributed.fsdp.wrap": [
        (
            "always_wrap_policy lambda_auto_wrap_policy transformer_auto_wrap_policy size_based_auto_wrap_policy "
            "recursive_wrap",
            RUNS,
            "`fully_shard` of each submodule",
        ),
    ],
    "torch_xla.distributed.fsdp.consolidate_sharded_ckpts": [("main", RUNS, "`tenax.checkpoint`")],
    "torch_xla.distributed.zero_redundancy_optimizer": [
        ("ZeroRedundancyOptimizer", RUNS, "`torch.distributed.optim.ZeroRedundancyOptimizer`"),
    ],
    "torch_xla.distributed.spmd": [
        ("Mesh HybridMesh get_1d_mesh", RUNS, "`jax.make_mesh(sizes, names)`"),
        ("set_global_mesh get_global_mesh", RUNS, "`with tenax.mesh(mesh):`"),
        ("mark_sharding mark_sharding_with_gradients MarkShardingFunction", RUNS, "`tenax.shard(x, spec, mesh)`"),
        ("annotate_custom_sharding ShardingSpec ShardingType", RUNS, "`tenax.shard(x, spec, mesh)`"),
        ("clear_sharding", RUNS, "`tensor.cpu().to('jax')`"),
        (
            "XLAShardedTensor",
            _differently("no wrapper: `isinstance`, and attributes of any tensor on a mesh"),
            "`tenax.sharding_of(x)`",
        ),
        ("wrap_if_sharded wrap_as_sharded_tensor", _differently("there is no wrapper"), "not needed"),
        ("XLAShard", RUNS, "`tensor.jax().addressable_shards`"),
        ("shard_as", RUNS, "`tenax.shard(y, tenax.sharding_of(x))`"),
        ("apply_backward_optimization_barrier", _differently("XLA schedules the backward pass"), "not needed"),
        (
            "apply_xla_patch_to_nn_linear xla_patched_nn_linear_forward XLAPatchedLinear",
            _differently("`nn.Linear` needs no patch"),
            "not needed",
        ),
        ("enable_manual_sharding disable_manual_sharding", NOT, "`jax.shard_map` of `tenax.interop.t2j(function)`"),
        (
            "xla_distribute_tensor xla_distribute_module",
            _differently("tensors on the mesh, not `DTensor`"),
            "`tenax.shard(x, spec, mesh)`",
        ),
        ("auto_policy", NOT, "`tenax.shard(module, tenax.sharding.fsdp())`"),
    ],
    "torch_xla.distributed.spmd.api": [
        (
            "xla_distribute_tensor xla_distribute_module convert_to_xla_mesh convert_to_xla_partition_spec",
            RUNS,
            "as `torch_xla.distributed.spmd`",
        ),
        ("auto_policy", NOT, "as `torch_xla.distributed.spmd`"),
    ],
    "torch_xla.distributed.spmd.xla_sharding": [
        ("Mesh HybridMesh get_1d_mesh set_global_mesh get_global_mesh", RUNS, "as `torch_xla.distributed.spmd`"),
        ("ShardingSpec ShardingType XLAShardedTensor", RUNS, "as `torch_xla.distributed.spmd`"),
        (
            "mark_sharding mark_sharding_with_gradients annotate_custom_sharding clear_sharding shard_as",
            RUNS,
            "as `torch_xla.distributed.spmd`",
        ),
        ("enable_manual_sharding disable_manual_sharding", NOT, "as `torch_xla.distributed.spmd`"),
    ],
    "torch_xla.distributed.spmd.xla_sharded_tensor": [
        ("XLAShardedTensor XLAShard", RUNS, "as `torch_xla.distributed.spmd`"),
    ],
    "torch_xla.distributed.spmd.debugging": [
        ("visualize_tensor_sharding", RUNS, "`tenax.visualize_sharding(tensor)`"),
        ("visualize_sharding", RUNS, "`tenax.visualize_sharding(tensor)`"),
    ],
    "torch_xla.debug.metrics": [
        (
            "metrics_report short_metrics_report counter_names counter_value metric_names metric_data",
            RUNS,
            "`tenax.explain`, `tenax.profiler`",
        ),
        ("clear_all clear_counters clear_metrics executed_fallback_ops", RUNS, "not needed"),
    ],
    "torch_xla.debug.profiler": [
        ("start_server start_trace stop_trace trace_detached", RUNS, "`tenax.profiler.trace(folder)`"),
        (
            "trace",
            _differently("it records a server of the same process only, and events have the names of JAX"),
            "`tenax.profiler.trace(folder)`",
        ),
        ("Trace StepTrace XlaTrace XlaStepTrace trace_me", RUNS, "`tenax.profiler.annotate`, `tenax.profiler.step`"),
    ],
    "torch_xla.utils.utils": [
        ("SampleGenerator FnDataGenerator", RUNS, "`[batch] * n`"),
        ("DataWrapper", RUNS, "a batch that is a tree of tensors"),
        ("getenv_as as_list get_free_tcp_ports parallel_work check_env_flag eprint", RUNS, "the standard library"),
    ],
    "torch_xla.utils.dlpack": [
        ("to_dlpack", RUNS, "`torch.utils.dlpack.to_dlpack`"),
        ("from_dlpack", _differently("it copies"), "`torch.from_dlpack(x).to('jax')`"),
        ("from_xla_cuda_to_cuda", NOT, "`tensor.cpu().cuda()`"),
    ],
    "torch_xla.utils.serialization": [("save load", RUNS, "`torch.save`, `torch.load`")],
    "torch_xla.utils.checkpoint": [
        ("checkpoint", RUNS, "`torch.utils.checkpoint.checkpoint`, `tenax.interop.checkpoint`"),
    ],
    "torch_xla.amp": [
        ("autocast XlaAutocast", RUNS, '`torch.autocast("jax")`'),
        ("GradScaler XlaGradScaler", RUNS, '`torch.amp.GradScaler("jax")`'),
    ],
    "torch_xla.amp.autocast_mode": [("autocast", RUNS, "as `torch_xla.amp`")],
    "torch_xla.backends": [
        ("set_mat_mul_precision get_mat_mul_precision", RUNS, "`torch.set_float32_matmul_precision`"),
    ],
    "torch_xla.amp.syncfree": [("SGD Adam AdamW", RUNS, "`torch.optim.Adam(..., fused=True)`")],
    "torch_xla.stablehlo": [
        ("exported_program_to_stablehlo StableHLOGraphModule", RUNS, "`tenax.export.to_stablehlo`"),
        (
            "save_as_stablehlo save_torch_model_as_stablehlo StableHLOExportOptions",
            _differently("the files are those of tenax.export"),
            "`tenax.export.save`",
        ),
    ],
    "torch_xla.experimental": [
        ("eager_mode is_eager_mode eager_mode_context compile", RUNS, "without `tenax.lazy`; `tenax.jit`")
    ],
    "torch_xla.experimental.eager": [
        ("eager_mode is_eager_mode eager_mode_context compile", RUNS, "as `torch_xla.experimental`"),
    ],
    "torch_xla.experimental.scan": [("scan", RUNS, "`tenax.call_jax` with `jax.lax.scan` and `t2j`")],
    "torch_xla.experimental.scan_layers": [("scan_layers", RUNS, "`tenax.ScannedModule`")],
    "torch_xla.experimental.fori_loop": [
        ("fori_loop while_loop", RUNS, "`tenax.call_jax` with `jax.lax.fori_loop`, `jax.lax.while_loop`"),
    ],
    "torch_xla.experimental.assume_pure": [("assume_pure PureModule", RUNS, "`tenax.interop.t2j`, `tenax.call_jax`")],
    "torch_xla.experimental.gradient_accumulation": [("gradient_accumulation", RUNS, "`loss.backward()` in a loop")],
    "torch_xla.experimental.spmd_fully_sharded_data_parallel": [
        ("SpmdFullyShardedDataParallel", RUNS, "`tenax.shard(module, tenax.sharding.fsdp())`"),
    ],
    "torch_xla.experimental.xla_sharding": [
        ("Mesh HybridMesh ShardingSpec mark_sharding clear_sharding", RUNS, "as `torch_xla.distributed.spmd`"),
        (
            "get_1d_mesh set_global_mesh get_global_mesh ShardingType XLAShardedTensor",
            RUNS,
            "as `torch_xla.distributed.spmd`",
        ),
    ],
    "torch_xla.experimental.distributed_checkpoint": [
        ("prime_optimizer", RUNS, "`tenax.checkpoint.load`"),
        ("SPMDSavePlanner SPMDLoadPlanner", _differently("of one process"), "`tenax.checkpoint`"),
        ("CheckpointManager", _differently("of one process, in a folder of this host"), "`tenax.checkpoint`"),
    ],
    "torch_xla.experimental.custom_kernel": [
        ("flash_attention", _differently("interpreted but on a TPU"), "`scaled_dot_product_attention`"),
        ("paged_attention ragged_paged_attention", _differently("interpreted but on a TPU"), "`tenax.call_jax`"),
        ("gmm tgmm", _differently("XLA chooses the tiling"), "`tenax.call_jax` of `jax.lax.ragged_dot`"),
        ("make_kernel_from_pallas jax_import_guard", RUNS, "`tenax.call_jax`"),
    ],
    "torch_xla.experimental.xla_quantized_matmul": [
        ("XlaQuantizedLinear", NOT, "`F.linear(x, weight.to(x.dtype) * scale[:, None])`"),
    ],
    "torch_xla.experimental.splash_attention": [
        ("splash_attention SplashAttentionConfig", _differently("interpreted but on a TPU"), "`flex_attention`"),
    ],
    "torch_xla.experimental.stablehlo_custom_call": [
        (
            "place_to_host place_to_device",
            _differently("outside of `tenax.jit` a copy is made at once"),
            "`tenax.call_jax` of `jax.device_put(x, jax.memory.Space.Host)`",
        ),
    ],
    "torch_xla.test.test_utils": [
        ("print_training_update print_test_update", RUNS, "`print`"),
        ("get_summary_writer write_to_summary close_summary_writer now", RUNS, "`SummaryWriter`"),
    ],
}

ROWS = [
    Row(module, tuple(names.split()), status, tenax) for module, rows in _ROWS.items() for names, status, tenax in rows
]


def answers() -> Iterator[tuple[str, Row]]:
    """Each dotted name with its row; a row without names is that of the module itself."""
    for row in ROWS:
        yield from ((path, row) for path in row.paths or [row.module])


def markdown() -> str:
    """The table for the docs."""
    lines = ["| torch_xla | status | tenax |", "|---|---|---|"]
    for row in ROWS:
        module = row.module.removeprefix("torch_xla").lstrip(".")
        shown = ", ".join(f"`{f'{module}.' if module and i == 0 else ''}{n}`" for i, n in enumerate(row.names))
        lines.append(f"| {shown or f'`{module}`'} | {row.status} | {row.tenax} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown())
