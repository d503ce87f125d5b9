"""The attributes of torch and JAX that tenax replaces or adds."""

from __future__ import annotations

from .._torch import NAME
from .rows import Patch, When

_TRACES = (When.JIT_TRACE, When.PURE_TRACE)

LIBRARIES = (
    Patch(
        "torch",
        NAME,
        (When.IMPORT,),
        "The device module: `torch.jax.synchronize()`, `torch.jax.device_count()`. Its `_initialized` is true, so that "
        "`torch.utils.checkpoint` keeps the device's random state.",
        by_torch=True,
    ),
    Patch("torch.Tensor", f"is_{NAME}", (When.IMPORT,), "Whether a tensor is on the device.", by_torch=True),
    Patch(
        "torch.nn.utils.rnn.PackedSequence",
        f"{NAME} is_{NAME}",
        (When.IMPORT,),
        "The same for packed sequences.",
        by_torch=True,
    ),
    Patch(
        "torch._C._autograd.DeviceType",
        f"{NAME.upper()} __repr__ __str__ name",
        (When.IMPORT,),
        "The type of the device has its name.",
        by_torch=True,
    ),
    Patch(
        "torch._C._profiler.ProfilerActivity",
        f"{NAME.upper()} __repr__ __str__ name",
        (When.IMPORT,),
        "The profiler's activities too.",
        by_torch=True,
    ),
    Patch(
        "torch.distributed.Backend",
        "TENAX",
        (When.IMPORT,),
        "The name of the backend of `torch.distributed`.",
        by_torch=True,
    ),
    Patch(
        "torch.autograd.Variable",
        "_execution_engine",
        (When.TENSOR,),
        "A subclass of torch's engine keeps the backward pass of tensors of the device on the caller's thread. Other "
        "backward passes run as before.",
    ),
    Patch(
        "_signal",
        "signal getsignal",
        (When.TENSOR,),
        "A signal handler is put off while functions of C++ that must not raise ask the device guard. "
        "`signal.signal` and `signal.getsignal` still give the handler itself.",
    ),
    Patch(
        "torch.nn.Module",
        "_apply jax" if NAME == "jax" else "_apply",
        (When.IMPORT,),
        "A module that moves to or from the device keeps its parameter objects. Other modules behave as before, except "
        "that each conversion is first tried on an empty tensor to detect its target device.",
    ),
    *(
        Patch(
            f"torch.jit.{cls}",
            "save save_to_buffer",
            (When.TENSOR,),
            "A TorchScript module on the device is saved as its copy on the CPU. Other modules behave as before.",
        )
        for cls in ("RecursiveScriptModule", "ScriptModule")
    ),
    Patch(
        "torch.UntypedStorage",
        "__new__",
        (When.IMPORT,),
        '`torch.UntypedStorage(4, device="jax")` makes a storage of the device. Other storages are made as before.',
    ),
    Patch(
        "torch.UntypedStorage",
        "nbytes size __len__ clone cpu tolist __getitem__ data_ptr _write_file _set_from_file copy_ to is_pinned "
        "is_shared resize_ __deepcopy__",
        (When.TENSOR,),
        "A storage of the device reads and writes its JAX array. Other storages behave as before.",
    ),
    Patch(
        "torch.UntypedStorage",
        "__setitem__ _byteswap byteswap fill_ new share_memory_ _share_filename_cpu_ _share_fd_cpu_ "
        "_share_cuda_ _get_filename",
        (When.TENSOR,),
        "A storage of the device, which has no memory address, raises. Other storages behave as before.",
        optional=True,
    ),
    Patch(
        "torch.Tensor",
        "__dlpack__ __dlpack_device__ data_ptr",
        (When.TENSOR,),
        "A tensor of the device reads its JAX array; `data_ptr()` gives each storage a number of its own and no "
        "address. Other tensors behave as before.",
    ),
    Patch(
        "torch.Tensor",
        "__array__",
        (When.TENSOR, When.TORCHAX),
        "NumPy reads a tensor of the device; with torchax's names, one that requires a gradient too. Other tensors "
        "behave as before.",
    ),
    Patch(
        "torch.Tensor",
        "__array_wrap__",
        (When.TENSOR,),
        "NumPy's operations on a tensor of the device (`tensor + array`) raise, as on CUDA. Other tensors behave as "
        "before.",
    ),
    Patch(
        "torch.Tensor",
        "jax __jax_array__",
        (When.IMPORT,),
        "`tensor.jax()` returns a `jax.Array`, also of a CPU tensor; torch's own method of that name would move the "
        "tensor. JAX functions take tensors of the device through `__jax_array__`.",
    ),
    Patch(
        "torch._subclasses.fake_tensor.FakeTensor",
        "jax",
        (When.TENSOR,),
        "The tensors that torch traces with have no method `jax`, because they have no value.",
    ),
    Patch(
        "torch._tensor_str",
        "_tensor_str _str",
        (When.TENSOR,),
        "A tensor of the device is fetched once before it is printed; one that was deleted prints that. An error does "
        "not leave the transforms of `torch.func` disabled.",
    ),
    *(
        Patch(
            owner,
            "to_dlpack",
            (When.IMPORT,),
            "A tensor of the device gives a capsule of its JAX array. Other tensors behave as before.",
        )
        for owner in ("torch", "torch.utils.dlpack")
    ),
    Patch(
        "torch",
        "Generator",
        (When.IMPORT,),
        'A subclass of the same name: `torch.Generator(device="jax")` gives a CPU generator whose `device` is `jax`. '
        "Generators for other devices keep their type.",
    ),
    Patch(
        "torch.nn.attention.flex_attention",
        "_validate_device",
        (When.FLEX,),
        "`flex_attention` takes tensors of the device.",
    ),
    Patch(
        "torch.nested._internal.ops",
        "jagged_scaled_dot_product_attention",
        (When.JAGGED,),
        "Attention of jagged tensors of the device is computed on padded tensors; torch takes them apart into strided "
        "nested tensors, which the device lacks. Other devices behave as before.",
    ),
    Patch(
        "torch._C",
        "_accelerator_getDeviceIndex _accelerator_setDeviceIndex _accelerator_exchangeDevice _accelerator_getStream "
        "_accelerator_maybeExchangeDevice _accelerator_synchronizeDevice _accelerator_isAllocatorInitialized "
        "_accelerator_emptyCache _accelerator_emptyHostCache _accelerator_getDeviceStats _accelerator_getMemoryInfo "
        "_accelerator_resetPeakStats _accelerator_resetAccumulatedStats",
        (When.IMPORT,),
        "`torch.accelerator` waits for the device, reports its memory and sets the current one, without hooks.",
        optional=True,
    ),
    Patch(
        "torch.nn.parallel.comm",
        "broadcast broadcast_coalesced scatter gather",
        (When.IMPORT,),
        "`nn.DataParallel` copies between devices of JAX; torch does so for CUDA alone. Tensors of other devices are "
        "copied as before.",
    ),
    Patch(
        "torch",
        "Stream Event",
        (When.IMPORT,),
        "Streams and events of the device wait for it and measure time. Those of other devices behave as before.",
    ),
    Patch(
        "torch._C",
        "_set_float32_matmul_precision _set_cublas_allow_tf32 _set_fp32_precision_setter",
        (When.TENSOR,),
        "The device computes float32 products in the new precision. Other devices behave as before.",
    ),
    Patch(
        "torch._C",
        "_swap_tensor_impl",
        (When.TENSOR,),
        "Calls are counted, so that a compiled function sees that a parameter was swapped.",
    ),
    *(
        Patch(
            f"torch.optim.{name}",
            f"_multi_tensor_{name}",
            (When.TENSOR,),
            "The default step of Adam, AdamW and SGD with momentum is one program for the parameters of the device. "
            "Other steps are torch's.",
        )
        for name in ("adam", "sgd")
    ),
    Patch("torch", "clear_autocast_cache", (When.TENSOR,), "The device's casts are forgotten too."),
    Patch(
        "jax._src.interpreters.mlir",
        "make_ir_context",
        (When.TENSOR,),
        "Programs of eager operations are lowered in MLIR contexts that are used again. Other programs have one of "
        "their own, as before. Creating one does not import the Python module of MHLO.",
    ),
    Patch("jax._src.array.ArrayImpl", "__torch_function__", (When.JAX,), "torch functions take JAX arrays as tensors."),
    Patch(
        "jax.core.Tracer",
        "__torch_function__",
        (When.JAX,),
        "torch functions refuse arrays that JAX traces, with an error that says what to do.",
    ),
    Patch(
        "torch.Tensor",
        "register_hook register_post_accumulate_grad_hook",
        (When.JIT,),
        "Calls are counted, so that a compiled function sees new hooks.",
    ),
    Patch(
        "torch._dynamo.trace_rules",
        "BUILTIN_INLINE_WHEN_CALLED",
        (When.DYNAMO,),
        "torch looks into `tenax.call_jax`, and torchax's, where a compiled function calls it.",
    ),
    Patch(
        "torch._dynamo.trace_rules",
        "SKIP_DIRS_RE",
        (When.DYNAMO,),
        "torch does not compile the Python frames of `tenax`, `tenax.generated`, `jax`, `jaxlib` and `ml_dtypes`.",
        by_torch=True,
    ),
    Patch(
        "torch._dynamo.convert_frame",
        "trace_frame",
        (When.DYNAMO,),
        "A capture leaves the random state of the device as it was, as it does those of the CPU and of CUDA.",
    ),
    Patch(
        "torch._inductor.compile_fx",
        "compile_fx",
        (When.INDUCTOR,),
        "`torch.compile` without a backend: tenax compiles graphs of device tensors, inductor the others as before.",
    ),
    Patch(
        "torch._dynamo.variables.optimizer.OptimizerVariable",
        "move_step_if_cpu",
        (When.DYNAMO,),
        "Step counters of an optimizer on the device that a graph counts already stay where they are; torch replaced "
        "those of all parameter groups but the last, and the first step was not counted.",
    ),
    Patch(
        "torch.Tensor",
        "torch apply_jax apply_jax_ shard_ jax_device _elem",
        (When.TORCHAX,),
        "The methods and the properties of torchax's tensors.",
        added=True,
    ),
    Patch(
        "torch.Tensor",
        "global_tensor mesh_shape partition_spec placements redistribute sharding_spec sharding_type local_shards "
        "load_local_shards_",
        (When.TORCH_XLA,),
        "Once a name of `torch_xla.distributed.spmd` is used: how a tensor lies on a mesh, as `XLAShardedTensor` says.",
        added=True,
    ),
    Patch(
        "torch.amp.autocast_mode.autocast",
        "__init__ __enter__ __exit__",
        (When.TORCH_XLA,),
        '`torch.autocast("xla")` is `torch.autocast("jax")`, in bfloat16 by default.',
    ),
    Patch(
        "torch",
        "set_autocast_enabled set_autocast_dtype set_autocast_xla_enabled set_autocast_xla_dtype",
        (When.TORCH_XLA,),
        'What is set for device type "xla" is set for "jax" as well.',
    ),
    Patch(
        "torch._subclasses.fake_tensor.FakeTensorMode",
        "dispatch",
        (When.TORCH_XLA,),
        'Operators that name device "xla" are traced for device "jax". Other devices behave as before.',
    ),
    Patch(
        "torch.Tensor",
        "device is_xla",
        (When.TORCH_XLA_INSTALL,),
        "Programs and libraries see the device as `xla:0`; torch, JAX and tenax see `jax:0`, as before.",
        added=True,
    ),
    Patch(
        "torch._dynamo.variables.tensor.TensorVariable",
        "method_attr_device",
        (When.TORCH_XLA_INSTALL,),
        "The same in functions of `torch.compile`.",
    ),
    Patch(
        "torch.distributed",
        "init_process_group",
        (When.TORCH_XLA,),
        "A default group that collectives of `xla_model` have made is replaced. Elsewhere it behaves as before.",
    ),
    Patch(
        "torch.Tensor",
        "grad",
        (When.JIT_TRACE,),
        "Reads and writes are recorded: a compiled function depends on the gradients that it reads.",
    ),
    Patch(
        "torch.Tensor",
        "__getattr__",
        (When.JIT_TRACE,),
        "Attributes that a tensor lacks are recorded: a compiled function notices when it gets them.",
        added=True,
    ),
    Patch(
        "builtins.object",
        "__getattribute__ __setattr__",
        (When.JIT_TRACE,),
        "The classes of modules and plain objects record which attributes are read or written: a compiled function "
        "depends on those alone.",
        of="its subclasses",
    ),
    Patch(
        "torch.optim.lr_scheduler.LRScheduler",
        "step",
        (When.JIT_TRACE,),
        "The call is recorded, so that each call of the compiled function repeats it on the host.",
        of="its objects",
    ),
    Patch(
        "torch.amp.GradScaler",
        "_maybe_opt_step",
        (When.JIT_TRACE,),
        "Whether to skip a step becomes a choice on the device.",
        of="its objects",
    ),
    Patch(
        "torch.optim.swa_utils.AveragedModel",
        "update_parameters",
        (When.JIT_TRACE,),
        "Whether an update is the first becomes a choice on the device.",
        of="its objects",
    ),
    Patch(
        "torch.optim._adafactor",
        "min max",
        (When.JIT_TRACE,),
        "They take numbers whose value is unknown while tracing. The module otherwise uses Python's.",
        added=True,
    ),
    Patch(
        "torch",
        "_fused_adam_ _fused_adamw_ _fused_sgd_ _fused_adagrad_",
        (When.JIT_TRACE,),
        "They take numbers whose values are unknown while tracing.",
    ),
    Patch(
        "torch.utils.checkpoint",
        "_run_fn_with_dynamo_disabled",
        (When.JIT_TRACE,),
        "What is recomputed is kept apart from the forward pass, with which XLA would merge it.",
    ),
    Patch("torch.utils.checkpoint.CheckpointFunction", "backward", (When.JIT_TRACE,), "The same, with reentry."),
    Patch(
        "torch.autograd.function.FunctionCtx",
        "set_materialize_grads",
        (When.JIT_TRACE,),
        "The choice is noted, because torch does not tell it.",
    ),
    Patch(
        "torch", "_is_all_true", _TRACES, "A check of a distribution's arguments becomes a condition of the program."
    ),
    *(
        Patch(f"torch.distributions.constraints.{name}", "check", _TRACES, "The check is computed without a value.")
        for name in ("_Symmetric", "_PositiveSemidefinite", "_PositiveDefinite")
    ),
    *(
        Patch(
            f"torch.distributions.{name}",
            "__init__",
            _TRACES,
            "A check of the constructor's arguments becomes a condition of the program.",
        )
        for name in ("geometric.Geometric", "wishart.Wishart")
    ),
    Patch("torch.nn.utils.rnn", "invert_permutation", _TRACES, "An order that is known on the host stays known."),
    Patch(
        "torch.nn.modules.transformer",
        "_detect_is_causal_mask",
        _TRACES,
        "A mask whose values are unknown is not taken for the causal one.",
    ),
    Patch(
        "torch.nn.functional",
        "ctc_loss cross_entropy",
        _TRACES,
        "Lengths of sequences and classes may be unknown.",
    ),
    Patch(
        "torch.nn.modules.batchnorm._BatchNorm",
        "forward",
        _TRACES,
        "With `momentum=None`, the number of batches may be unknown.",
    ),
    Patch(
        "torch._functorch.vmap",
        "vmap_increment_nesting",
        _TRACES,
        "`torch.func.vmap` keeps the values of numbers that are inputs of the program.",
    ),
    Patch(
        "torch.autograd.Function", "apply", (When.PURE_TRACE,), "A function of the program becomes a `jax.custom_vjp`."
    ),
    Patch(
        "torch.distributed",
        "Reducer",
        (When.GROUP,),
        "DDP finds unused parameters of the device: torch would need pinned memory for that. Other models behave as "
        "before.",
    ),
    *(
        Patch(owner, "monitored_barrier", (When.GROUP,), 'Groups of the backend "tenax" are accepted, besides gloo.')
        for owner in ("torch.distributed", "torch.distributed.distributed_c10d")
    ),
    Patch(
        "torch.nn.parallel.DistributedDataParallel",
        "forward",
        (When.GROUP,),
        "In a compiled function, gradients are averaged by collectives of its program. Elsewhere it behaves as before.",
    ),
    Patch(
        "torch.nn.parallel.DistributedDataParallel",
        "_ddp_init_helper",
        (When.GROUP,),
        "The reducer of a model on the device learns of `static_graph=True`. Elsewhere it behaves as before.",
    ),
    Patch(
        "torch.nn.modules._functions.SyncBatchNorm",
        "forward",
        (When.GROUP,),
        "In a compiled function, no rank is taken to have an empty input. Elsewhere it behaves as before.",
    ),
    Patch(
        "torch.distributed.tensor.experimental._context_parallel._attention",
        "_templated_ring_attention _templated_ring_attention_backward",
        (When.CONTEXT,),
        "In a compiled function, causal attention of `context_parallel` is the same program on every rank. Elsewhere "
        "they behave as before.",
    ),
)
