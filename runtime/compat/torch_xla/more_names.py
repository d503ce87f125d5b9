"""Names of PyTorch/XLA for `table.py`: experimental and internal modules, diagnosis and utilities."""

from __future__ import annotations

from .names import NOT, RUNS, Names, differently

MORE_NAMES: Names = {
    "torch_xla._internal.tpu": [
        ("num_available_chips num_available_devices num_local_processes", RUNS, "`jax.local_device_count()`"),
        ("version num_logical_cores_per_chip", RUNS, "`jax.devices()[0].device_kind`"),
        (
            "get_tpu_type get_tpu_env build_tpu_env_from_vars TpuEnv MeshShape process_bounds_size task_id worker_id "
            "get_worker_ips num_tpu_workers num_expected_global_devices discover_master_worker_ip",
            differently("environment variables, not the metadata server"),
            "`jax.devices()`",
        ),
        ("configure_topology configure_one_chip_topology TpuPlugin", NOT, "the variables of JAX and libtpu"),
    ],
    "torch_xla._internal.pjrt": [
        ("spawn run_multiprocess", RUNS, "`tenax.launch(fn, nprocs, args)`"),
        ("spawn_threads", RUNS, "`DistributedDataParallel`"),
        ("initialize_singleprocess initialize_multiprocess", RUNS, "not needed"),
    ],
    "torch_xla._internal.rendezvous": [
        ("pjrt_rendezvous_handler", RUNS, '`dist.init_process_group("tenax")`'),
        ("DummyStore", NOT, "`dist.HashStore()`"),
    ],
    "torch_xla._internal.utils": [("parse_xla_device", RUNS, "`torch.device`")],
    "torch_xla._internal.jax_workarounds": [
        ("jax_import_guard requires_jax jax_env_context maybe_get_jax maybe_get_torchax", RUNS, "`import jax`"),
    ],
    "torch_xla._internal.gpu": [("num_local_processes", NOT, "`jax.local_device_count()`")],
    "torch_xla._internal.neuron": [
        ("num_local_processes initialize_env set_rt_root_comm_id NeuronPlugin", NOT, "a platform of JAX"),
    ],
    "torch_xla._internal.neuron_utils": [
        ("get_visible_cores_list remap_visible_cores convert_range", NOT, "a platform of JAX"),
    ],
    "torch_xla._internal.xpu": [("XpuPlugin", NOT, "a platform of JAX")],
    "torch_xla._internal.custom_kernel": [
        ("dynamo_mark_sharding dynamo_mark_sharding_xla", NOT, "`tenax.shard(x, spec, mesh)` within the function"),
        ("dynamo_set_buffer_donor_ dynamo_set_buffer_donor_xla_", NOT, "no call: overwritten memory is reused"),
    ],
    "torch_xla._internal.c10d_registration": [("broadcast_xla", NOT, "`dist.broadcast`")],
    "torch_xla._dynamo.dynamo_bridge": [
        ("extract_compiled_graph", RUNS, '`torch.compile(backend="tenax")`'),
        ("is_xla_tensor", RUNS, "`tensor.is_jax`"),
        ("alias_with_buffer_donor_config", RUNS, "not needed"),
        ("GraphInputMatcher", NOT, '`torch.compile(backend="tenax")`'),
    ],
    "torch_xla._dynamo.dynamo_backend2": [("dynamo_backend", NOT, '`torch.compile(backend="openxla")`')],
    "torch_xla._dynamo.config": [("skip_input_data_check outside_on_cpu", differently("no effect"), "not needed")],
    "torch_xla._patched_functions": [("clip_grad_norm_", RUNS, "`nn.utils.clip_grad_norm_`")],
    "torch_xla._XLAC": [
        ("_xla_get_default_device _xla_get_devices _xla_real_devices _xla_num_devices", RUNS, "`jax.local_devices()`"),
        ("_xla_step_marker _xla_sync_multi _xla_wait_device_ops", RUNS, "`tenax.sync()`, `tenax.synchronize()`"),
        ("_xla_set_rng_seed _xla_get_rng_seed", RUNS, "`torch.manual_seed`"),
        ("_xla_get_tensor_id", RUNS, "`tensor.untyped_storage().data_ptr()`"),
        ("_get_xla_sharding_spec", RUNS, "`tenax.sharding_of(x)`"),
        ("_get_xla_tensors_hlo _get_xla_tensors_text", RUNS, "`tenax.export.to_stablehlo`"),
        ("_xla_dot_general", RUNS, "`tenax.call_jax` of `jax.lax.dot_general`"),
        ("_xla_set_mat_mul_precision _xla_get_mat_mul_precision", RUNS, "`torch.set_float32_matmul_precision`"),
        ("_xla_increment_counter", RUNS, "not needed"),
        (
            "_xla_metrics_report _xla_counter_names _xla_counter_value _xla_metric_names _xla_metric_data "
            "_clear_xla_counters _clear_xla_metrics",
            RUNS,
            "`tenax.explain`, `tenax.profiler`",
        ),
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
            differently("it records a server of the same process only, and events have the names of JAX"),
            "`tenax.profiler.trace(folder)`",
        ),
        ("Trace StepTrace XlaTrace XlaStepTrace trace_me", RUNS, "`tenax.profiler.annotate`, `tenax.profiler.step`"),
    ],
    "torch_xla.debug.metrics_saver": [("save_metrics", NOT, "`tenax.explain`, `tenax.profiler`")],
    "torch_xla.debug.graph_saver": [("save_tensors_graph", NOT, "`tenax.export.to_stablehlo`")],
    "torch_xla.debug.metrics_compare_utils": [
        ("parse_metrics_report compare_metrics get_data_points_from_metrics_reports", NOT, "`met.metric_data(name)`"),
    ],
    "torch_xla.debug.model_comparator": [
        ("configure save compare compare_tensors tensor_file_compare", NOT, "`tenax.debug.compare()`"),
    ],
    "torch_xla.debug.frame_parser_util": [("process_frames create_report", NOT, "`tenax.explain(tenax.lazy)`")],
    "torch_xla.utils.utils": [
        (
            "Cleaner LazyProperty TmpFolder TimedScope timed shape flatten_nested_tuple list_copy_append null_print "
            "get_print_fn",
            NOT,
            "the standard library",
        ),
        ("SampleGenerator", RUNS, "`[batch] * n`"),
        ("FnDataGenerator", NOT, "a generator of batches"),
        ("DataWrapper", RUNS, "a batch that is a tree of tensors"),
        ("getenv_as as_list get_free_tcp_ports parallel_work check_env_flag eprint", RUNS, "the standard library"),
    ],
    "torch_xla.utils.dlpack": [
        ("to_dlpack", RUNS, "`torch.utils.dlpack.to_dlpack`"),
        ("from_dlpack", differently("it copies"), "`torch.from_dlpack(x).to('jax')`"),
        ("from_xla_cuda_to_cuda", NOT, "`tensor.cpu().cuda()`"),
    ],
    "torch_xla.utils.serialization": [
        ("save load", RUNS, "`torch.save`, `torch.load`"),
        ("TensorReference", NOT, "`torch.save`, which writes one file"),
    ],
    "torch_xla.utils.buffer_donor_context": [
        ("alias_with_buffer_donor_config", differently("overwritten memory is always reused"), "not needed"),
    ],
    "torch_xla.utils.checkpoint_tagger": [("CheckpointTagger", NOT, "a dict")],
    "torch_xla.utils.closures": [
        ("ClosureHandler AsyncClosureHandler", NOT, "`xm.add_step_closure(function, args, run_async=True)`"),
    ],
    "torch_xla.utils.keyd_queue": [("Queue KeydQueue", NOT, "`queue.Queue`")],
    "torch_xla.utils.stablehlo_test_utils": [("load_save_model_and_inference", NOT, "`tenax.export`")],
    "torch_xla.tf_saved_model_integration": [
        ("save_torch_module_as_tf_saved_model make_tf_function save_stablehlo_graph_as_tf", NOT, "`tenax.export.save`"),
    ],
    "torch_xla.utils.checkpoint": [
        ("checkpoint", RUNS, "`torch.utils.checkpoint.checkpoint`, `tenax.interop.checkpoint`"),
        ("CheckpointFunction", NOT, "`torch_xla.utils.checkpoint.checkpoint`"),
    ],
    "torch_xla.experimental": [
        ("eager_mode is_eager_mode eager_mode_context compile", RUNS, "without `tenax.lazy`; `tenax.jit`")
    ],
    "torch_xla.experimental.eager": [
        ("eager_mode is_eager_mode eager_mode_context compile", RUNS, "as `torch_xla.experimental`"),
    ],
    "torch_xla.experimental.scan": [
        ("scan", RUNS, "`tenax.call_jax` with `jax.lax.scan` and `t2j`"),
        ("Scan value_and_grad_partitioned", NOT, "`torch_xla.experimental.scan.scan`"),
    ],
    "torch_xla.experimental.scan_layers": [("scan_layers", RUNS, "`tenax.ScannedModule`")],
    "torch_xla.experimental.fori_loop": [
        ("fori_loop while_loop", RUNS, "`tenax.call_jax` with `jax.lax.fori_loop`, `jax.lax.while_loop`"),
    ],
    "torch_xla.experimental.assume_pure": [("assume_pure PureModule", RUNS, "`tenax.interop.t2j`, `tenax.call_jax`")],
    "torch_xla.experimental.gradient_accumulation": [
        (
            "gradient_accumulation GradientAccumulationContext XlaBuildHelper",
            NOT,
            "`loss.backward()` in a loop",
        ),
    ],
    "torch_xla.experimental.callback": [("on_ready_callback on_ready_event", NOT, "`jax.block_until_ready`")],
    "torch_xla.experimental.deprecation": [
        ("deprecated mark_deprecated register_deprecated", NOT, "`warnings.deprecated`"),
    ],
    "torch_xla.experimental.gru": [("GRU", NOT, "`nn.GRU`")],
    "torch_xla.experimental.pytreeify": [("pytreeify", NOT, "an `autograd.Function` of the leaves")],
    "torch_xla.experimental.pjrt_backend": [("", RUNS, '`dist.init_process_group("tenax")`')],
    "torch_xla.experimental.plugins": [
        (
            "DevicePlugin use_dynamic_plugins using_dynamic_plugins default register_plugin register_installed_plugins",
            NOT,
            "a PJRT plugin of JAX (`jax_plugins`)",
        ),
    ],
    "torch_xla.experimental.quantized": [
        (
            "xla_quantize_per_tensor xla_quantize_per_channel xla_dequantize_per_tensor",
            NOT,
            "`torch.ops.quantized_decomposed`",
        ),
    ],
    "torch_xla.experimental.dynamo_mark_sharding": [
        ("dynamo_mark_sharding", NOT, "`tenax.shard(x, spec, mesh)` within the function"),
    ],
    "torch_xla.experimental.dynamo_set_buffer_donor": [
        ("dynamo_set_buffer_donor_", NOT, "no call: overwritten memory is reused"),
    ],
    "torch_xla.experimental.mark_pattern_utils": [("StableHLOCompositeBuilder", NOT, "`jax.lax.composite`")],
    "torch_xla.experimental.xla_marker": [
        ("mark_tensor BoundaryMetadata BoundaryMetadataSerializer", NOT, "`jax.lax.composite`"),
    ],
    "torch_xla.experimental.xla_mlir_debuginfo": [("write_mlir_debuginfo", NOT, "`jax.named_scope`")],
    "torch_xla.experimental.unbounded_dynamism_export": [
        (
            "exported_program_has_symbolic_input_shape process_exported_program_with_symbolic_input",
            NOT,
            "`tenax.export`",
        ),
    ],
    "torch_xla.experimental.xla_dynamic_reshape_ops": [("dynamic_expand dynamic_view", NOT, "`tenax.export`")],
    "torch_xla.experimental.triton": [
        ("triton_call get_or_create_triton_kernel", NOT, "`tenax.call_jax` of a Pallas kernel"),
    ],
    "torch_xla.experimental.pallas_kernels.multi_queries_paged_attention_kernel": [
        ("paged_attention", NOT, "`torch_xla.experimental.custom_kernel.ragged_paged_attention`"),
    ],
    "torch_xla.experimental.pallas_kernels.ragged_paged_attention_kernel": [
        ("ragged_paged_attention", NOT, "`torch_xla.experimental.custom_kernel.ragged_paged_attention`"),
    ],
    "torch_xla.experimental.pallas_kernels.ragged_paged_attention_v2": [
        ("ragged_paged_attention", NOT, "`torch_xla.experimental.custom_kernel.ragged_paged_attention`"),
    ],
    "torch_xla.experimental.pallas_kernels.quantized_matmul_kernel": [
        ("quantized_matmul_int8", NOT, "`torch_xla.experimental.xla_quantized_matmul.quantized_matmul`"),
    ],
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
        ("SPMDSavePlanner SPMDLoadPlanner", differently("of one process"), "`tenax.checkpoint`"),
        ("CheckpointManager", differently("of one process, in a folder of this host"), "`tenax.checkpoint`"),
    ],
    "torch_xla.experimental.distributed_checkpoint.manager": [
        ("CheckpointManager", RUNS, "as `torch_xla.experimental.distributed_checkpoint`"),
    ],
    "torch_xla.experimental.distributed_checkpoint.planners": [
        ("SPMDSavePlanner SPMDLoadPlanner", RUNS, "as `torch_xla.experimental.distributed_checkpoint`"),
    ],
    "torch_xla.experimental.distributed_checkpoint.util": [
        ("prime_optimizer", RUNS, "as `torch_xla.experimental.distributed_checkpoint`"),
    ],
    "torch_xla.experimental.custom_kernel": [
        ("flash_attention", differently("interpreted but on a TPU"), "`scaled_dot_product_attention`"),
        ("paged_attention ragged_paged_attention", differently("interpreted but on a TPU"), "`tenax.call_jax`"),
        (
            "gmm tgmm gmm_backward GMM",
            differently("XLA chooses the tiling"),
            "`tenax.call_jax` of `jax.lax.ragged_dot`",
        ),
        ("make_kernel_from_pallas jax_import_guard", RUNS, "`tenax.call_jax`"),
        ("FlashAttention", differently("its `DEFAULT_BLOCK_SIZES` alone"), "`flash_attention` of this module"),
        ("multi_queries_paged_attention", NOT, "`ragged_paged_attention` of this module"),
        ("quantized_matmul_int8", NOT, "`torch_xla.experimental.xla_quantized_matmul.quantized_matmul`"),
        ("trace_pallas", NOT, "`make_kernel_from_pallas` of this module"),
    ],
    "torch_xla.experimental.xla_quantized_matmul": [
        ("XlaQuantizedLinear quantized_matmul", RUNS, "`F.linear(x, weight.to(x.dtype) * scale[:, None])`"),
    ],
    "torch_xla.experimental.splash_attention": [
        ("splash_attention SplashAttentionConfig", differently("interpreted but on a TPU"), "`flex_attention`"),
    ],
    "torch_xla.experimental.stablehlo_custom_call": [
        (
            "place_to_host place_to_device",
            differently("outside of `tenax.jit` a copy is made at once"),
            "`tenax.call_jax` of `jax.device_put(x, jax.memory.Space.Host)`",
        ),
        ("stablehlo_custom_call", NOT, "`tenax.call_jax` of `jax.ffi.ffi_call`"),
    ],
    "torch_xla.test.test_utils": [
        ("print_training_update print_test_update", RUNS, "`print`"),
        ("get_summary_writer write_to_summary close_summary_writer now", RUNS, "`SummaryWriter`"),
    ],
}
