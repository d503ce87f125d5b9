"""Names of PyTorch/XLA for `table.py`: devices, training, replicas, meshes and optimizers."""

from __future__ import annotations

RUNS, NOT = "runs", "not"


def differently(why: str) -> str:
    """The status of names that run, but not as in PyTorch/XLA."""
    return f"runs, differently: {why}"


Names = dict[str, list[tuple[str, str, str]]]  # by module: names separated by spaces, status, equivalent in tenax

NAMES: Names = {
    "torch_xla": [
        ("device devices", RUNS, '`torch.device("jax")`, `torch.device("jax", n)`'),
        ("device_count real_devices", RUNS, "`torch.jax.device_count()`, `jax.local_devices()`"),
        ("sync step", RUNS, "`tenax.sync()`"),
        ("compile", RUNS, "`tenax.jit`; of a block, `tenax.lazy`"),
        ("manual_seed", RUNS, "`torch.manual_seed`"),
        (
            "save_as_stablehlo save_torch_model_as_stablehlo",
            differently("the files are those of tenax.export"),
            "`tenax.export.save`",
        ),
        ("__version__", differently("the release whose names these are"), "`tenax.__version__`"),
        ("launch", RUNS, "`tenax.launch(fn, nprocs, args)`, `torchrun`"),
        ("xm", RUNS, "as `torch_xla.core.xla_model`"),
    ],
    "torch_xla.core.xla_model": [
        ("xla_device", differently("it prints as `jax:0`"), '`torch.device("jax")`'),
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
        ("set_replication", differently("one device in each process"), "not needed"),
        ("xla_replication_devices", NOT, "`torchrun`, `tenax.mesh`"),
        ("mesh_reduce", RUNS, "`dist.all_gather_object`"),
        ("save", RUNS, "`torch.save`"),
        ("get_memory_info MemoryInfo", RUNS, "`torch.jax.memory_allocated()`, `torch.jax.mem_get_info()`"),
        ("fork_rng", RUNS, "`torch.random.fork_rng(device_type='jax')`"),
        ("xla_device_kind", RUNS, "`jax.devices()[0].device_kind`"),
        ("check_view_sharing", RUNS, "not needed"),
        ("set_rng_state get_rng_state", RUNS, "`torch.jax.manual_seed`, `torch.jax.get_rng_state`"),
        ("RateTracker", RUNS, "`time.perf_counter()`"),
        ("optimization_barrier_", differently("XLA may move operations"), "not needed"),
        ("get_stablehlo get_stablehlo_bytecode", RUNS, "`tenax.export.to_stablehlo`"),
        ("ToXlaTensorArena CoalescingBuckets", NOT, "`xm.send_cpu_data_to_device`, `xm.reduce_gradients`"),
        ("XLA_LIB", NOT, "`torch.library` and `tenax.register_lowering`"),
        ("DeviceContext", NOT, "`tenax.explain(tenax.lazy)`"),
    ],
    "torch_xla.core.xla_op_registry": [("Op register", NOT, "`torch.library` and `tenax.register_lowering`")],
    "torch_xla.torch_xla": [
        ("device devices device_count real_devices sync step compile manual_seed launch", RUNS, "as `torch_xla`"),
    ],
    "torch_xla.version": [("__version__", RUNS, "`tenax.__version__`")],
    "torch_xla.core.xla_env_vars": [
        ("PJRT_DEVICE", RUNS, "`JAX_PLATFORMS`"),
        ("CPU_NUM_DEVICES GPU_NUM_DEVICES TPU_NUM_DEVICES", RUNS, "`jax_num_cpu_devices`, `CUDA_VISIBLE_DEVICES`"),
        ("RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE", RUNS, "the same, set by `torchrun` and `tenax.launch`"),
        (
            "PJRT_SELECT_DEFAULT_DEVICE PJRT_LOCAL_PROCESS_RANK PJRT_LOCAL_PROCESS_COUNT PJRT_DYNAMIC_PLUGINS "
            "PJRT_CPU_ASYNC_CLIENT PJRT_GPU_ASYNC_CLIENT PJRT_DIST_SERVICE_ADDR TPU_VISIBLE_CHIPS TPU_PROCESS_BOUNDS "
            "TPU_PROCESS_ADDRESSES TPU_PROCESS_PORT TPU_CHIPS_PER_PROCESS_BOUNDS CLOUD_TPU_TASK_ID TPUVM_MODE "
            "ACCELERATOR_TYPE WORKER_ID TPU_SKIP_MDS_QUERY TPU_ACCELERATOR_TYPE TPU_WORKER_ID TPU_WORKER_HOSTNAMES "
            "TPU_HOST_BOUNDS TPU_CHIPS_PER_HOST_BOUNDS TPU_MESH_CTLER_ADDR TPU_MESH_CTLER_PORT ZERO_COPY_ENABLED "
            "HOST_ORDINAL",
            differently("names that tenax does not read"),
            "the variables of JAX and libtpu",
        ),
    ],
    "torch_xla.core.functions": [
        ("all_reduce all_gather", RUNS, "`torch.distributed.nn`"),
        ("SyncBatchNorm XlaSyncBatchNorm", RUNS, "`nn.SyncBatchNorm`"),
        ("AllReduce AllGather AllReduceSumLayer", RUNS, "`torch.distributed.nn`"),
        ("distributed_mm", NOT, "`tenax.shard` of the weight"),
        ("nms", NOT, "`torchvision.ops.nms(boxes, scores, iou_threshold)`"),
    ],
    "torch_xla.core.xla_builder": [
        ("call_jax", RUNS, "`tenax.call_jax`"),
        (
            "Op Type Shape create_builder mkshape mkop mkleaf mkparam tensor_shape create_computation "
            "computation_from_module_proto get_computation_hlo XlaComputation xla_computation_as_func "
            "jax_func_to_xla_computation create_placeholder_tensor JaxCallable XlaCallable",
            NOT,
            "`tenax.call_jax` of a JAX function",
        ),
    ],
    "torch_xla.core.dynamo_bridge": [
        ("extract_compiled_graph", RUNS, '`torch.compile(backend="tenax")`'),
        ("GraphInputMatcher", NOT, '`torch.compile(backend="tenax")`'),
    ],
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
        ("spawn", differently("processes are spawned, never forked"), "`tenax.launch(fn, nprocs, args)`"),
        ("MpModelWrapper", RUNS, "`DistributedDataParallel`, which broadcasts the parameters"),
        ("MpSerialExecutor", RUNS, "`dist.barrier`"),
        ("create_optimized_replica_groups", RUNS, "not needed"),
    ],
    "torch_xla.distributed.parallel_loader": [
        ("ParallelLoader PerDeviceLoader MpDeviceLoader", RUNS, "`tenax.data.to_device(loader, sharding)`"),
        ("PerDeviceQueue", NOT, "`ParallelLoader`"),
    ],
    "torch_xla.distributed.data_parallel": [("DataParallel Context", RUNS, "`DistributedDataParallel`")],
    "torch_xla.distributed.xla_backend": [
        ("", RUNS, '`dist.init_process_group("tenax")`'),
        ("ProcessGroupXla", RUNS, "`dist.group.WORLD` of the backend"),
        ("new_xla_process_group", NOT, '`dist.init_process_group("xla", init_method="xla://")`'),
    ],
    "torch_xla.distributed.xla_dist": [
        ("get_args_parser resolve_and_execute", NOT, "`gcloud compute tpus tpu-vm ssh --worker=all`"),
    ],
    "torch_xla.distributed.fsdp": [
        ("XlaFullyShardedDataParallel", differently("by `fully_shard`, with fewer options"), "`fully_shard`"),
        (
            "consolidate_sharded_model_checkpoints consolidate_sharded_state_dicts",
            RUNS,
            "`torch.distributed.checkpoint`, `tenax.checkpoint`",
        ),
        ("checkpoint_module", RUNS, "`torch.utils.checkpoint.checkpoint`"),
    ],
    "torch_xla.distributed.fsdp.xla_fully_sharded_data_parallel": [
        ("XlaFullyShardedDataParallel", RUNS, "as `torch_xla.distributed.fsdp`"),
        ("apply_to_tensors collect_tensors", NOT, "a loop over the tensors"),
        ("TrainingState", NOT, "`module.training`"),
    ],
    "torch_xla.distributed.fsdp.xla_flatten_params_wrapper": [
        ("XlaFlattenParamsWrapper FlatParameter", NOT, "`fully_shard`, which keeps parameters apart"),
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
            differently("`nn.Linear` needs no patch"),
            "not needed",
        ),
        (
            "dummy_all_gather dummy_all_reduce DummyReduceScatter BucketizedReduceScatter",
            NOT,
            "`xm.all_gather`, `xm.reduce_scatter`",
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
            differently("no wrapper: `isinstance`, and attributes of any tensor on a mesh"),
            "`tenax.sharding_of(x)`",
        ),
        ("wrap_if_sharded wrap_as_sharded_tensor", differently("there is no wrapper"), "not needed"),
        ("XLAShard", RUNS, "`tensor.jax().addressable_shards`"),
        ("shard_as", RUNS, "`tenax.shard(y, tenax.sharding_of(x))`"),
        ("apply_backward_optimization_barrier", differently("XLA schedules the backward pass"), "not needed"),
        (
            "apply_xla_patch_to_nn_linear xla_patched_nn_linear_forward XLAPatchedLinear",
            differently("`nn.Linear` needs no patch"),
            "not needed",
        ),
        ("enable_manual_sharding disable_manual_sharding", NOT, "`jax.shard_map` of `tenax.interop.t2j(function)`"),
        (
            "xla_distribute_tensor xla_distribute_module",
            differently("tensors on the mesh, not `DTensor`"),
            "`tenax.shard(x, spec, mesh)`",
        ),
        (
            "auto_policy",
            differently("by the rules of `tenax.sharding.fsdp`, not XLA's search"),
            "`tenax.shard(module, tenax.sharding.fsdp())`",
        ),
    ],
    "torch_xla.distributed.spmd.api": [
        (
            "xla_distribute_tensor xla_distribute_module convert_to_xla_mesh convert_to_xla_partition_spec",
            RUNS,
            "as `torch_xla.distributed.spmd`",
        ),
        ("auto_policy", RUNS, "as `torch_xla.distributed.spmd`"),
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
    "torch_xla.amp": [
        ("autocast XlaAutocast", RUNS, '`torch.autocast("jax")`'),
        ("GradScaler XlaGradScaler", RUNS, '`torch.amp.GradScaler("jax")`'),
    ],
    "torch_xla.amp.grad_scaler": [("GradScaler", RUNS, "as `torch_xla.amp`")],
    "torch_xla.amp.syncfree.adam": [("Adam", RUNS, "as `torch_xla.amp.syncfree`")],
    "torch_xla.amp.syncfree.adamw": [("AdamW", RUNS, "as `torch_xla.amp.syncfree`")],
    "torch_xla.amp.syncfree.sgd": [("SGD", RUNS, "as `torch_xla.amp.syncfree`")],
    "torch_xla.amp.syncfree._functional": [("adam_step sgd_step", NOT, "`syncfree.Adam`, `syncfree.SGD`")],
    "torch_xla.amp.autocast_mode": [("autocast", RUNS, "as `torch_xla.amp`")],
    "torch_xla.backends": [
        ("set_mat_mul_precision get_mat_mul_precision", RUNS, "`torch.set_float32_matmul_precision`"),
    ],
    "torch_xla.amp.syncfree": [("SGD Adam AdamW", RUNS, "`torch.optim.Adam(..., fused=True)`")],
    "torch_xla.stablehlo": [
        ("exported_program_to_stablehlo StableHLOGraphModule", RUNS, "`tenax.export.to_stablehlo`"),
        (
            "save_as_stablehlo save_torch_model_as_stablehlo StableHLOExportOptions",
            differently("the files are those of tenax.export"),
            "`tenax.export.save`",
        ),
        (
            "StableHLOModelBundle StableHLOFunc StableHLOFunctionMeta VariableSignature InputLocation VariableType "
            "XLAExportInterpreter",
            NOT,
            "`tenax.export.load`",
        ),
    ],
}
