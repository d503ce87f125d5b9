"""PyTorch/XLA's names, by module, for `table.py`; `rows` of `alias.py` reads them."""

from __future__ import annotations

NAMES = """
torch_xla:
    device devices | .ordinals | `torch.device("jax")`, `torch.device("jax", n)`
    device_count | .ordinals | `torch.jax.device_count()`, `jax.local_devices()`
    real_devices:xla_real_devices | .hardware | `torch.jax.device_count()`, `jax.local_devices()`
    sync:mark_step step | .steps | `tenax.sync()`
    compile | .compiling | `tenax.jit`; of a block, `tenax.lazy`
    manual_seed:set_rng_state | .seeds | `torch.manual_seed`
    save_as_stablehlo save_torch_model_as_stablehlo | .exported | `tenax.export.save` | the files are those of
        tenax.export
    __version__ | torch_xla | `tenax.__version__` | the release whose names these are
    launch | .spawning | `tenax.launch(fn, nprocs, args)`, `torchrun`
    xm:xla_model | torch_xla.core
    tpu | torch_xla._internal
_XLAC:
    _xla_get_default_device _xla_get_devices _xla_real_devices | .extension | `jax.local_devices()`
    _xla_num_devices:local_device_count | .ordinals | `jax.local_devices()`
    _xla_step_marker _xla_sync_multi | .extension | `tenax.sync()`, `tenax.synchronize()`
    _xla_wait_device_ops:wait_device_ops | .hardware | `tenax.sync()`, `tenax.synchronize()`
    _xla_set_rng_seed:set_rng_state _xla_get_rng_seed:get_rng_state | .seeds | `torch.manual_seed`
    _xla_get_tensor_id | .extension | `tensor.untyped_storage().data_ptr()`
    _get_xla_sharding_spec | .extension | `tenax.sharding_of(x)`
    _get_xla_tensors_hlo | .extension | `tenax.export.to_stablehlo`
    _get_xla_tensors_text:get_stablehlo | .exported | `tenax.export.to_stablehlo`
    _xla_set_mat_mul_precision:set_mat_mul_precision _xla_get_mat_mul_precision:get_mat_mul_precision | .settings |
        `torch.set_float32_matmul_precision`
    _xla_increment_counter:count | ..statistics | not needed
    _xla_metrics_report:metrics_report _xla_counter_names:counter_names _xla_counter_value:counter_value
        _xla_metric_names:metric_names _xla_metric_data:metric_data _clear_xla_counters:clear_counters
        _clear_xla_metrics:clear_metrics | .metrics | `tenax.explain`, `tenax.profiler`
    _xla_spmd_all_reduce:all_reduce _xla_spmd_reduce_scatter:reduce_scatter | .collectives | `tenax.call_jax` of
        `jax.shard_map`
    _xla_dot_general | - | `tenax.call_jax` of `jax.lax.dot_general`
_dynamo.config: skip_input_data_check outside_on_cpu | .compiling | not needed | no effect
_dynamo.dynamo_backend2: dynamo_backend | - | `torch.compile(backend="openxla")`
_dynamo.dynamo_bridge:
    extract_compiled_graph | .compiling | `torch.compile(backend="tenax")`
    is_xla_tensor | .ordinals | `tensor.is_jax`
    GraphInputMatcher | - | `torch.compile(backend="tenax")`
    alias_with_buffer_donor_config | - | no call: overwritten memory is reused
_internal.c10d_registration: broadcast_xla | - | `dist.broadcast`
_internal.custom_kernel:
    dynamo_mark_sharding dynamo_mark_sharding_xla | - | `tenax.shard(x, spec, mesh)` within the function
    dynamo_set_buffer_donor_ dynamo_set_buffer_donor_xla_ | - | no call: overwritten memory is reused
_internal.gpu: num_local_processes | - | `jax.local_device_count()`
_internal.jax_workarounds:
    jax_import_guard requires_jax jax_env_context maybe_get_jax | .kernels | `import jax`
    maybe_get_torchax | - | `tenax.compat.torchax`
_internal.neuron: num_local_processes initialize_env set_rt_root_comm_id NeuronPlugin | - | a platform of JAX
_internal.neuron_utils: get_visible_cores_list remap_visible_cores convert_range | - | a platform of JAX
_internal.pjrt:
    run_multiprocess | .spawning | `tenax.launch(fn, nprocs, args)`
    spawn | - | `xmp.spawn`
    spawn_threads | .spawning | `DistributedDataParallel`
    initialize_singleprocess initialize_multiprocess | .spawning | not needed
_internal.rendezvous:
    pjrt_rendezvous_handler:rendezvous | .process | `dist.init_process_group("tenax")`
    DummyStore | - | `dist.HashStore()`
_internal.tpu:
    num_available_chips num_available_devices num_local_processes | .topology | `jax.local_device_count()`
    version | .topology | `jax.devices()[0].device_kind`
    get_tpu_env process_bounds_size task_id worker_id get_worker_ips num_tpu_workers num_expected_global_devices |
        .topology | `jax.devices()` | environment variables, not the metadata server
    MeshShape TpuEnv build_tpu_env_from_vars discover_master_worker_ip get_tpu_type num_logical_cores_per_chip | - |
        `jax.devices()`
    configure_topology configure_one_chip_topology TpuPlugin | - | the variables of JAX and libtpu
_internal.utils: parse_xla_device | .hardware | `torch.device`
_internal.xpu: XpuPlugin | - | a platform of JAX
_patched_functions: clip_grad_norm_ | torch.nn.utils | `nn.utils.clip_grad_norm_`
amp:
    autocast:XlaAutocast XlaAutocast | .mixed_precision | `torch.autocast("jax")`
    GradScaler:XlaGradScaler XlaGradScaler | .mixed_precision | `torch.amp.GradScaler("jax")`
amp.autocast_mode: autocast | torch_xla.amp
amp.grad_scaler: GradScaler | torch_xla.amp
amp.syncfree: SGD Adam AdamW | .mixed_precision | `torch.optim.Adam(..., fused=True)`
amp.syncfree._functional: adam_step sgd_step | - | `syncfree.Adam`, `syncfree.SGD`
amp.syncfree.adam: Adam | torch_xla.amp.syncfree
amp.syncfree.adamw: AdamW | torch_xla.amp.syncfree
amp.syncfree.sgd: SGD | torch_xla.amp.syncfree
backends: set_mat_mul_precision get_mat_mul_precision | .settings | `torch.set_float32_matmul_precision`
core.dynamo_bridge:
    extract_compiled_graph | .compiling | `torch.compile(backend="tenax")`
    GraphInputMatcher | - | `torch.compile(backend="tenax")`
core.functions:
    all_reduce all_gather | .functions | `torch.distributed.nn`
    SyncBatchNorm:XlaSyncBatchNorm XlaSyncBatchNorm | .functions | `nn.SyncBatchNorm`
    AllReduce AllGather | .functions | `torch.distributed.nn`
    distributed_mm | - | `tenax.shard` of the weight
    nms | - | `torchvision.ops.nms(boxes, scores, iou_threshold)`
    AllReduceSumLayer | - | `torch_xla.core.functions.all_reduce`
core.xla_builder:
    call_jax | .pure | `tenax.call_jax`
    Op Type Shape create_builder mkshape mkop mkleaf mkparam tensor_shape create_computation
        computation_from_module_proto get_computation_hlo XlaComputation xla_computation_as_func
        jax_func_to_xla_computation create_placeholder_tensor JaxCallable XlaCallable | - | `tenax.call_jax` of a JAX
        function
core.xla_env_vars:
    PJRT_DEVICE | .environment | `JAX_PLATFORMS`
    CPU_NUM_DEVICES GPU_NUM_DEVICES TPU_NUM_DEVICES | .environment | `jax_num_cpu_devices`, `CUDA_VISIBLE_DEVICES`
    RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE | .environment | the same, set by `torchrun` and `tenax.launch`
    PJRT_SELECT_DEFAULT_DEVICE PJRT_LOCAL_PROCESS_RANK PJRT_LOCAL_PROCESS_COUNT PJRT_DYNAMIC_PLUGINS
        PJRT_CPU_ASYNC_CLIENT PJRT_GPU_ASYNC_CLIENT PJRT_DIST_SERVICE_ADDR TPU_VISIBLE_CHIPS TPU_PROCESS_BOUNDS
        TPU_PROCESS_ADDRESSES TPU_PROCESS_PORT TPU_CHIPS_PER_PROCESS_BOUNDS CLOUD_TPU_TASK_ID TPUVM_MODE
        ACCELERATOR_TYPE WORKER_ID TPU_SKIP_MDS_QUERY TPU_ACCELERATOR_TYPE TPU_WORKER_ID TPU_WORKER_HOSTNAMES
        TPU_HOST_BOUNDS TPU_CHIPS_PER_HOST_BOUNDS TPU_MESH_CTLER_ADDR TPU_MESH_CTLER_PORT ZERO_COPY_ENABLED
        HOST_ORDINAL | .environment | the variables of JAX and libtpu | names that tenax does not read
core.xla_model:
    xla_device | .ordinals | `torch.device("jax")` | it prints as `jax:0`
    get_xla_supported_devices | .hardware | `[f"jax:{i}" for i in range(torch.jax.device_count())]`
    xla_real_devices xla_device_hw parse_xla_device | .hardware | `jax.local_devices()`
    is_xla_tensor | .ordinals | `tensor.is_jax`
    mark_step unlazy | .steps | `tenax.sync()`
    optimizer_step | .steps | `optimizer.step()`; `DistributedDataParallel` averages over replicas
    reduce_gradients | .collectives | `DistributedDataParallel`
    add_step_closure | .steps | a call after the step
    wait_device_ops | .hardware | `tenax.synchronize()`
    send_cpu_data_to_device | .transfers | `tensor.to("jax")`, `tenax.data.to_device(loader)`
    xrt_world_size:world_size get_ordinal:global_ordinal get_local_ordinal:local_ordinal | .ordinals |
        `dist.get_world_size()`, `dist.get_rank()`
    is_master_ordinal | .ordinals | `dist.get_rank() == 0`
    master_print | .printing | `dist.get_rank() == 0`
    all_reduce | .collectives | `dist.all_reduce`
    REDUCE_SUM REDUCE_MUL REDUCE_AND REDUCE_OR REDUCE_MIN REDUCE_MAX | .collectives | `dist.ReduceOp`
    all_gather | .collectives | `dist.all_gather_into_tensor`
    reduce_scatter | .collectives | `dist.reduce_scatter_tensor`
    all_to_all | .collectives | `dist.all_to_all_single`
    collective_permute | .collectives | `permute_tensor` of torch's functional collectives
    collective_broadcast broadcast_master_param | .collectives | `dist.broadcast`
    rendezvous do_on_ordinals | .collectives | `dist.barrier`
    xla_rendezvous | .collectives | `dist.all_gather_object`
    send recv | - | `dist.send`, `dist.recv`
    set_replication | .steps | not needed | one device in each process
    xla_replication_devices | - | `torchrun`, `tenax.mesh`
    mesh_reduce | .collectives | `dist.all_gather_object`
    save | .transfers | `torch.save`
    get_memory_info MemoryInfo | .hardware | `torch.jax.memory_allocated()`, `torch.jax.mem_get_info()`
    fork_rng | .seeds | `torch.random.fork_rng(device_type='jax')`
    xla_device_kind | .hardware | `jax.devices()[0].device_kind`
    set_rng_state get_rng_state | .seeds | `torch.jax.manual_seed`, `torch.jax.get_rng_state`
    RateTracker | .printing | `time.perf_counter()`
    optimization_barrier_ | .steps | not needed | XLA may move operations
    get_stablehlo get_stablehlo_bytecode | .exported | `tenax.export.to_stablehlo`
    ToXlaTensorArena CoalescingBuckets | - | `xm.send_cpu_data_to_device`, `xm.reduce_gradients`
    XLA_LIB | - | `torch.library` and `tenax.register_lowering`
    DeviceContext | - | `tenax.explain(tenax.lazy)`
    bucketized_reduce_gradients all_reduce_bucketized_gradients all_gather_bucketized reduce_scatter_bucketized | - |
        `xm.reduce_gradients`, `xm.all_gather`, `xm.reduce_scatter`
    check_view_sharing | - | `tensor.untyped_storage().data_ptr()`
    _fetch_gradients:fetch_gradients | .collectives | `p.grad` of the parameters
    _maybe_convert_to_cpu | .transfers | `tensor.cpu()`
core.xla_op_registry: Op register | - | `torch.library` and `tenax.register_lowering`
debug.frame_parser_util: process_frames create_report | - | `tenax.explain(tenax.lazy)`
debug.graph_saver: save_tensors_graph | - | `tenax.export.to_stablehlo`
debug.metrics:
    metrics_report short_metrics_report counter_names counter_value metric_names metric_data | .metrics |
        `tenax.explain`, `tenax.profiler`
    clear_all clear_counters clear_metrics executed_fallback_ops | .metrics | not needed
debug.metrics_compare_utils: parse_metrics_report compare_metrics get_data_points_from_metrics_reports | - |
        `met.metric_data(name)`
debug.metrics_saver: save_metrics | - | `tenax.explain`, `tenax.profiler`
debug.model_comparator: configure save compare compare_tensors tensor_file_compare | - | `tenax.debug.compare()`
debug.profiler:
    start_server start_trace stop_trace trace_detached | .profiler | `tenax.profiler.trace(folder)`
    trace | .profiler | `tenax.profiler.trace(folder)` | it records a server of the same process only, and events have
        the names of JAX
    Trace:XlaTrace StepTrace:XlaStepTrace XlaTrace XlaStepTrace trace_me | .profiler | `jax.profiler`
distributed.data_parallel: DataParallel Context:ReplicaContext | .data_parallel | `DistributedDataParallel`
distributed.fsdp:
    XlaFullyShardedDataParallel | .fully_sharded | `fully_shard` | by `fully_shard`, with fewer options
    consolidate_sharded_model_checkpoints consolidate_sharded_state_dicts | .consolidation |
        `torch.distributed.checkpoint`, `tenax.checkpoint`
    checkpoint_module | .wrap | `torch.utils.checkpoint.checkpoint`
distributed.fsdp.consolidate_sharded_ckpts: main | .consolidation | `tenax.checkpoint`
distributed.fsdp.state_dict_utils: consolidate_sharded_model_checkpoints consolidate_sharded_state_dicts |
        torch_xla.distributed.fsdp
distributed.fsdp.utils:
    checkpoint_module | torch_xla.distributed.fsdp
    apply_xla_patch_to_nn_linear XLAPatchedLinear | .sharding | not needed | `nn.Linear` needs no patch
    dummy_all_gather dummy_all_reduce DummyReduceScatter BucketizedReduceScatter | - | `xm.all_gather`,
        `xm.reduce_scatter`
distributed.fsdp.wrap: always_wrap_policy lambda_auto_wrap_policy transformer_auto_wrap_policy
        size_based_auto_wrap_policy recursive_wrap | .wrap | `fully_shard` of each submodule
distributed.fsdp.xla_flatten_params_wrapper: XlaFlattenParamsWrapper FlatParameter | - | `fully_shard`, which keeps
        parameters apart
distributed.fsdp.xla_fully_sharded_data_parallel:
    XlaFullyShardedDataParallel | torch_xla.distributed.fsdp
    apply_to_tensors collect_tensors | - | a loop over the tensors
    TrainingState | - | `module.training`
distributed.parallel_loader:
    ParallelLoader PerDeviceLoader MpDeviceLoader | .loaders | `tenax.data.to_device(loader, sharding)`
    PerDeviceQueue | - | `ParallelLoader`
distributed.spmd:
    Mesh HybridMesh get_1d_mesh | .meshes | `jax.make_mesh(sizes, names)`
    set_global_mesh get_global_mesh | .meshes | `with tenax.mesh(mesh):`
    mark_sharding mark_sharding_with_gradients MarkShardingFunction | .sharding | `tenax.shard(x, spec, mesh)`
    ShardingSpec | .sharding | `tenax.shard(x, spec, mesh)`
    ShardingType | .sharded_tensor | `tenax.shard(x, spec, mesh)`
    clear_sharding | .sharding | `tensor.cpu().to('jax')`
    XLAShardedTensor | .sharded_tensor | `tenax.sharding_of(x)` | no wrapper: `isinstance`, and attributes of any
        tensor on a mesh
    wrap_if_sharded | .sharding | not needed | there is no wrapper
    XLAShard | .sharded_tensor | `tensor.jax().addressable_shards`
    shard_as | .sharding | `tenax.shard(y, tenax.sharding_of(x))`
    apply_backward_optimization_barrier | .sharding | not needed | XLA schedules the backward pass
    apply_xla_patch_to_nn_linear xla_patched_nn_linear_forward XLAPatchedLinear | .sharding | not needed | `nn.Linear`
        needs no patch
    enable_manual_sharding disable_manual_sharding | .manual | `jax.shard_map` of `tenax.interop.t2j(function)`
    xla_distribute_tensor xla_distribute_module | .dtensor | `tenax.shard(x, spec, mesh)` | tensors on the mesh, not
        `DTensor`
    auto_policy | .dtensor | `tenax.shard(module, tenax.sharding.fsdp())` | by the rules of `tenax.sharding.fsdp`, not
        XLA's search
    annotate_custom_sharding | - | `xs.mark_sharding`
    wrap_as_sharded_tensor | - | the tensor itself
distributed.spmd.api:
    xla_distribute_tensor xla_distribute_module auto_policy | torch_xla.distributed.spmd
    convert_to_xla_mesh | .dtensor | `tenax.shard(x, spec, mesh)`
    convert_to_xla_partition_spec | .sharded_tensor | `tenax.shard(x, spec, mesh)`
distributed.spmd.debugging:
    visualize_tensor_sharding | .sharded_tensor | `tenax.visualize_sharding(tensor)`
    visualize_sharding | - | `tenax.visualize_sharding(tensor)`
distributed.spmd.xla_sharded_tensor: XLAShardedTensor XLAShard ShardingType | torch_xla.distributed.spmd
distributed.spmd.xla_sharding:
    Mesh HybridMesh get_1d_mesh set_global_mesh get_global_mesh ShardingSpec ShardingType XLAShardedTensor
        mark_sharding mark_sharding_with_gradients MarkShardingFunction clear_sharding shard_as
        apply_backward_optimization_barrier apply_xla_patch_to_nn_linear xla_patched_nn_linear_forward XLAPatchedLinear
        wrap_if_sharded annotate_custom_sharding wrap_as_sharded_tensor enable_manual_sharding disable_manual_sharding
        | torch_xla.distributed.spmd
    unwrap_sharded_tensor:wrap_if_sharded EinsumLinear:XLAPatchedLinear PartitionSpec | .sharding | not needed
distributed.xla_backend:
    . | .process | `dist.init_process_group("tenax")`
    ProcessGroupXla:JaxProcessGroup | ...distributed.group | `dist.group.WORLD` of the backend
    new_xla_process_group | - | `dist.init_process_group("xla", init_method="xla://")`
distributed.xla_dist: get_args_parser resolve_and_execute | - | `gcloud compute tpus tpu-vm ssh --worker=all`
distributed.xla_multiprocessing:
    spawn | .spawning | `tenax.launch(fn, nprocs, args)` | processes are spawned, never forked
    MpModelWrapper | .spawning | `DistributedDataParallel`, which broadcasts the parameters
    MpSerialExecutor | .spawning | `dist.barrier`
    create_optimized_replica_groups | .spawning | not needed
distributed.zero_redundancy_optimizer: ZeroRedundancyOptimizer XlaZeroRedundancyOptimizer:ZeroRedundancyOptimizer |
        .zero | `torch.distributed.optim.ZeroRedundancyOptimizer`
experimental:
    eager_mode is_eager_mode eager_mode_context | .steps | without `tenax.lazy`; `tenax.jit`
    compile | .compiling | without `tenax.lazy`; `tenax.jit`
experimental.assume_pure: assume_pure PureModule | .pure | `tenax.interop.t2j`, `tenax.call_jax`
experimental.callback: on_ready_callback on_ready_event | - | `jax.block_until_ready`
experimental.custom_kernel:
    flash_attention | .kernels | `scaled_dot_product_attention` | interpreted but on a TPU
    paged_attention ragged_paged_attention | .kernels | `tenax.call_jax` | interpreted but on a TPU
    gmm tgmm gmm_backward GMM | .kernels | `tenax.call_jax` of `jax.lax.ragged_dot` | XLA chooses the tiling
    make_kernel_from_pallas jax_import_guard | .kernels | `tenax.call_jax`
    FlashAttention | .kernels | `flash_attention` of this module | its `DEFAULT_BLOCK_SIZES` alone
    multi_queries_paged_attention | - | `ragged_paged_attention` of this module
    quantized_matmul_int8 | - | `torch_xla.experimental.xla_quantized_matmul.quantized_matmul`
    trace_pallas | - | `make_kernel_from_pallas` of this module
experimental.deprecation: deprecated mark_deprecated register_deprecated | - | `warnings.deprecated`
experimental.distributed_checkpoint:
    prime_optimizer | .checkpoints | `tenax.checkpoint.load`
    SPMDSavePlanner SPMDLoadPlanner | .checkpoints | `tenax.checkpoint` | of one process
    CheckpointManager | .checkpoints | `tenax.checkpoint` | of one process, in a folder of this host
experimental.distributed_checkpoint.manager: CheckpointManager | torch_xla.experimental.distributed_checkpoint
experimental.distributed_checkpoint.planners: SPMDSavePlanner SPMDLoadPlanner |
        torch_xla.experimental.distributed_checkpoint
experimental.distributed_checkpoint.util: prime_optimizer | torch_xla.experimental.distributed_checkpoint
experimental.dynamo_mark_sharding: dynamo_mark_sharding | - | `tenax.shard(x, spec, mesh)` within the function
experimental.dynamo_set_buffer_donor: dynamo_set_buffer_donor_ | - | no call: overwritten memory is reused
experimental.eager: eager_mode is_eager_mode eager_mode_context compile | torch_xla.experimental
experimental.fori_loop: fori_loop while_loop | .loops | `tenax.call_jax` with `jax.lax.fori_loop`, `jax.lax.while_loop`
experimental.gradient_accumulation: gradient_accumulation GradientAccumulationContext XlaBuildHelper | - |
        `loss.backward()` in a loop
experimental.gru: GRU | - | `nn.GRU`
experimental.mark_pattern_utils: StableHLOCompositeBuilder | - | `jax.lax.composite`
experimental.pallas_kernels.multi_queries_paged_attention_kernel: paged_attention | - |
        `torch_xla.experimental.custom_kernel.ragged_paged_attention`
experimental.pallas_kernels.quantized_matmul_kernel: quantized_matmul_int8 | - |
        `torch_xla.experimental.xla_quantized_matmul.quantized_matmul`
experimental.pallas_kernels.ragged_paged_attention_kernel: ragged_paged_attention | - |
        `torch_xla.experimental.custom_kernel.ragged_paged_attention`
experimental.pallas_kernels.ragged_paged_attention_v2: ragged_paged_attention | - |
        `torch_xla.experimental.custom_kernel.ragged_paged_attention`
experimental.pjrt_backend: . | .process | `dist.init_process_group("tenax")`
experimental.plugins: DevicePlugin use_dynamic_plugins using_dynamic_plugins default register_plugin
        register_installed_plugins | - | a PJRT plugin of JAX (`jax_plugins`)
experimental.pytreeify: pytreeify | - | an `autograd.Function` of the leaves
experimental.quantized: xla_quantize_per_tensor xla_quantize_per_channel xla_dequantize_per_tensor | - |
        `torch.ops.quantized_decomposed`
experimental.scan:
    scan | .loops | `tenax.call_jax` with `jax.lax.scan` and `t2j`
    Scan value_and_grad_partitioned | - | `torch_xla.experimental.scan.scan`
experimental.scan_layers: scan_layers | .loops | `tenax.ScannedModule`
experimental.splash_attention: splash_attention SplashAttentionConfig | .splash | `flex_attention` | interpreted but on
        a TPU
experimental.spmd_fully_sharded_data_parallel: SpmdFullyShardedDataParallel | .mesh_sharded | `tenax.shard(module,
        tenax.sharding.fsdp())`
experimental.stablehlo_custom_call:
    place_to_host place_to_device | .host_memory | `tenax.call_jax` of `jax.device_put(x, jax.memory.Space.Host)` |
        outside of `tenax.jit` a copy is made at once
    stablehlo_custom_call | - | `tenax.call_jax` of `jax.ffi.ffi_call`
experimental.triton: triton_call get_or_create_triton_kernel | - | `tenax.call_jax` of a Pallas kernel
experimental.unbounded_dynamism_export: exported_program_has_symbolic_input_shape
        process_exported_program_with_symbolic_input | - | `tenax.export`
experimental.xla_dynamic_reshape_ops: dynamic_expand dynamic_view | - | `tenax.export`
experimental.xla_marker: mark_tensor BoundaryMetadata BoundaryMetadataSerializer | - | `jax.lax.composite`
experimental.xla_mlir_debuginfo: write_mlir_debuginfo | - | `jax.named_scope`
experimental.xla_quantized_matmul: XlaQuantizedLinear quantized_matmul quantized_matmul_xla:quantized_matmul
        _quantize_tensor | .quantized | `F.linear(x, weight.to(x.dtype) * scale[:, None])`
experimental.xla_sharding:
    Mesh HybridMesh ShardingSpec mark_sharding clear_sharding | torch_xla.distributed.spmd
    get_1d_mesh set_global_mesh get_global_mesh ShardingType XLAShardedTensor | torch_xla.distributed.spmd
runtime:
    world_size global_ordinal local_ordinal | .ordinals | `dist.get_world_size()`, `dist.get_rank()`
    process_count process_index local_process_count host_index | .ordinals | `jax.process_count()`
    addressable_device_count local_device_count | .ordinals | `torch.jax.device_count()`
    global_device_count global_runtime_device_count:global_device_count | .ordinals | `jax.device_count()`
    addressable_runtime_device_count:addressable_device_count | .ordinals | `torch.jax.device_count()`
    runtime_device_attributes:device_attributes global_runtime_device_attributes | .hardware | `jax.devices()`
    device_type using_pjrt | .ordinals | `JAX_PLATFORMS`
    set_device_type | .settings | `JAX_PLATFORMS`
    use_spmd | .settings | not needed
    is_spmd | .ordinals | not needed
    is_bf16_supported | .settings | `torch.jax.is_bf16_supported()`
    get_num_cached_compilation_graph | .compiling | `tenax.explain(tenax.lazy)`
    initialize_cache | .settings | `tenax.compilation_cache(path)`
    get_master_ip | .settings | `MASTER_ADDR`
stablehlo:
    exported_program_to_stablehlo StableHLOGraphModule | .exported | `tenax.export.to_stablehlo`
    save_as_stablehlo save_torch_model_as_stablehlo StableHLOExportOptions | .exported | `tenax.export.save` | the
        files are those of tenax.export
    StableHLOModelBundle StableHLOFunc StableHLOFunctionMeta VariableSignature InputLocation VariableType
        XLAExportInterpreter | - | `tenax.export.load`
test.test_utils:
    print_training_update print_test_update | .printing | `print`
    get_summary_writer write_to_summary close_summary_writer now | .printing | `SummaryWriter`
tf_saved_model_integration: save_torch_module_as_tf_saved_model make_tf_function save_stablehlo_graph_as_tf | - |
        `tenax.export.save`
torch_xla.torch_xla: device devices device_count real_devices sync step compile manual_seed launch | torch_xla
utils.buffer_donor_context: alias_with_buffer_donor_config | - | no call: overwritten memory is reused
utils.checkpoint:
    checkpoint | .wrap | `torch.utils.checkpoint.checkpoint`, `tenax.interop.checkpoint`
    CheckpointFunction | - | `torch_xla.utils.checkpoint.checkpoint`
utils.checkpoint_tagger: CheckpointTagger | - | a dict
utils.closures: ClosureHandler AsyncClosureHandler | - | `xm.add_step_closure(function, args, run_async=True)`
utils.dlpack:
    to_dlpack | .transfers | `torch.utils.dlpack.to_dlpack`
    from_dlpack | .transfers | `torch.from_dlpack(x).to('jax')` | it copies
    from_xla_cuda_to_cuda | - | `tensor.cpu().cuda()`
utils.keyd_queue: Queue KeydQueue | - | `queue.Queue`
utils.serialization:
    save:save_file load | .transfers | `torch.save`, `torch.load`
    TensorReference | - | `torch.save`, which writes one file
utils.stablehlo_test_utils: load_save_model_and_inference | - | `tenax.export`
utils.utils:
    Cleaner LazyProperty TmpFolder TimedScope timed shape flatten_nested_tuple list_copy_append null_print get_print_fn
        parallel_work | - | the standard library
    SampleGenerator | .loaders | `[batch] * n`
    FnDataGenerator | - | a generator of batches
    getenv_as as_list get_free_tcp_ports check_env_flag eprint | .environment | the standard library
    DataWrapper | - | a batch that is a tree of tensors
version: __version__ | torch_xla | `tenax.__version__`
"""
