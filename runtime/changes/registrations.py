"""The registrations that tenax makes with torch, JAX and Python."""

from __future__ import annotations

from .rows import Entry, When

ENTRIES = (
    Entry(
        "Lightning's registries of accelerators and strategies",
        "`jax`; `jax`, `jax_compiled`",
        (When.LIGHTNING,),
        'The names that `Trainer(accelerator="jax")` and `Trainer(strategy="jax_compiled")` look up.',
    ),
    Entry(
        "torch's device `PrivateUse1`",
        "`jax`",
        (When.IMPORT,),
        "torch has one such slot in a process. It then counts `jax` as *the* accelerator: "
        "`torch.accelerator.current_accelerator()` says so, and `torch.manual_seed` also seeds the device.",
    ),
    Entry(
        "torch's allocators",
        "`PrivateUse1`",
        (When.TENSOR,),
        "torch's Meta allocator, set through `ctypes`: C++ code that asks for memory gets a Python error and no crash.",
    ),
    Entry(
        "torch's hooks of the accelerator",
        "the allocator of pinned memory",
        (When.IMPORT,),
        "torch's CPU allocator, set through `ctypes`: `pin_memory` of a tensor is a copy in ordinary memory.",
    ),
    Entry(
        "torch's dispatcher",
        "`PrivateUse1`, and the keys of sparse and quantized tensors",
        (When.IMPORT,),
        "Kernels that make the first tensor.",
    ),
    Entry("`torch.serialization`", "device `jax`", (When.IMPORT,), "`torch.save` and `torch.load` know the device."),
    Entry(
        "`ForkingPickler`",
        "`torch.Tensor`, `torch.nn.Parameter`",
        (When.TENSOR,),
        "Sending a tensor of the device to another process raises.",
    ),
    Entry(
        "`torch.distributed`",
        "backend `tenax`, rendezvous `jax://`",
        (When.IMPORT,),
        '`init_process_group("tenax")` finds the backend, which is also the one of tensors of the device in a group of '
        "no named backend. What is behind it is imported with the first group.",
    ),
    Entry(
        "torch's opaque types",
        "generators of the device",
        (When.IMPORT,),
        "They are ordinary objects for TorchDynamo, as other generators are: a function that uses one breaks its graph "
        "there, where it raised an internal error. This is registered with the first generator.",
    ),
    Entry(
        "`os.register_at_fork`",
        "a function",
        (When.JAX,),
        "Tensors of the device raise in a forked child, because JAX does not survive a fork.",
    ),
    Entry(
        "`warnings`",
        "a filter",
        (When.JAX,),
        "JAX's warning about forked processes is not shown for those of `multiprocessing`, such as workers that load "
        "data: tensors of the device raise in them.",
    ),
    Entry(
        "`sys.meta_path`",
        "a finder",
        (When.IMPORT,),
        "It notices the imports of JAX, `flex_attention`, `torch._dynamo`, Accelerate, transformers' trainer and "
        "Lightning. It finds no modules.",
    ),
    Entry(
        "torch's dispatcher",
        "every lowering",
        (When.TENSOR,),
        "Kernels on `PrivateUse1`, policies on `AutocastPrivateUse1`, operations on `SparsePrivateUse1` and "
        "`SparseCsrPrivateUse1`; fallbacks on these keys, and on those of quantized and nested tensors. `_copy_from` "
        "falls through on `Conjugate` and `Negative`.",
    ),
    Entry(
        "Functions of `torch._refs` that TorchDynamo must not trace",
        "`__dynamo_disable`",
        (When.TENSOR,),
        "They run as they are until TorchDynamo is imported, and only then as it makes them: calling one would import "
        "it, which takes a second.",
    ),
    Entry(
        "Autocast rules of `flex_attention`",
        "`AutocastPrivateUse1`",
        (When.FLEX,),
        "`flex_attention` casts tensors of the device.",
    ),
    Entry(
        "JAX's configuration",
        '`jax_explicit_x64_dtypes = "allow"`',
        (When.TENSOR,),
        "JAX honours explicitly requested int64 and float64. Its defaults stay 32-bit: `jnp.arange(3)` is still int32.",
    ),
    Entry(
        "glibc's allocator",
        "`M_TRIM_THRESHOLD`, `M_MMAP_THRESHOLD`",
        (When.TENSOR,),
        "A process keeps up to 256 MiB of freed memory for later arrays, instead of returning it to the kernel, and "
        "blocks of up to 32 MiB come from the heap. Variables that set these numbers, or `top_pad` or `mmap_max` "
        "(`MALLOC_TRIM_THRESHOLD_`, `GLIBC_TUNABLES`, ...), take precedence.",
    ),
    Entry(
        "`jax._src.core.pytype_aval_mappings`, `jax._src.dtypes.canonicalize_value_handlers`",
        "`torch.Tensor`, `torch.nn.Parameter`",
        (When.JAX,),
        "JAX functions take tensors of the device, but none with a `grad_fn`, whose gradient would be lost. A CPU "
        "tensor raises an error that says what to do.",
    ),
    Entry(
        "JAX's lowering rules",
        "`lax.linalg.svd` and `lax.scan` for TPUs",
        (When.TENSOR,),
        "JAX's rule for `svd` runs with 64-bit types off. With them, what it traces ends the process of the TPU's "
        "compiler. A scan counts in 32 bits, also with 64-bit types on.",
    ),
    Entry(
        "Python kernels of interpolation",
        "`AutogradPrivateUse1`",
        (When.COMPILE,),
        "Graphs of tensors of the device contain `upsample_bilinear2d` and its relatives instead of what torch "
        "decomposes them into.",
    ),
    Entry(
        "torch's dispatcher",
        "a fallback on `XLA`; `to.device` and `to.dtype_layout` on `AutogradPrivateUse1`",
        (When.TORCH_XLA,),
        'Factories with device "xla" are called for device "jax", and `Tensor.to("xla:0")` of a tensor of that device '
        "returns the tensor.",
    ),
    Entry(
        "torch's device guards",
        "`XLA`",
        (When.TORCH_XLA,),
        'The guard of the device, set through `ctypes`: "xla" without an index is the current device.',
    ),
    Entry(
        "`torch.distributed`",
        "backend `xla`, rendezvous `xla://`",
        (When.TORCH_XLA,),
        "They are the backend `tenax`, for programs of PyTorch/XLA.",
    ),
    Entry(
        "`jax.monitoring`",
        "two listeners",
        (When.TORCH_XLA,),
        "They count compilations for `torch_xla.debug.metrics`, and an observer in tenax counts eager operations.",
    ),
    Entry(
        "`sys.meta_path`, `sys.path`",
        "a finder and a folder",
        (When.TORCH_XLA_INSTALL,),
        "`import torch_xla` finds tenax's modules.",
    ),
    Entry(
        "operations of the device",
        "recorded",
        (When.TORCH_XLA_INSTALL,),
        "Unless `TENAX_LAZY=0`, they run as `tenax.lazy` runs them.",
    ),
    Entry(
        "torch's hooks of all modules and all optimizers",
        "two functions each",
        (When.JIT_TRACE,),
        "The operations of a module's forward carry its name; learning rates become inputs. Hooks of the tensors that "
        "the function reaches are set aside.",
    ),
    Entry(
        "`torch.compiler.set_stance`",
        '`"force_eager"`',
        (When.PURE_TRACE,),
        "What `torch.compile` made runs uncompiled, in all threads.",
    ),
    Entry(
        "JAX's registry of trees",
        "the classes of results",
        (When.PURE_TRACE,),
        "JAX learns the classes of containers that a traced function returns; they stay registered.",
    ),
)
