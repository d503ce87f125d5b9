"""`torchax.config`: the flags of an environment."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Configuration:
    """The flags of an environment, which take effect where it is entered.

    Args:
        debug_print_each_op: log each operation, by `tenax.debug.log`.
        debug_accuracy_for_each_op: compare each operation with CPU torch, by `tenax.debug.compare`, and raise where
            they differ.

    The other flags have no effect: dtypes are always those of torch, and CPU tensors stay CPU tensors.
    """

    debug_print_each_op: bool = False
    debug_accuracy_for_each_op: bool = False
    debug_mixed_tensor: bool = False
    debug_print_each_op_operands: bool = False
    use_int32_for_index: bool = False
    allow_mixed_math_with_scalar_tensor: bool = True
    force_materialize_views: bool = False
    use_dlpack_for_data_conversion: bool = False
    use_tpu_flash_attention: bool = False
    shmap_flash_attention: bool = False
    treat_cuda_as_jax_device: bool = True
    use_torch_native_for_cpu_tensor: bool = True
    internal_respect_torch_return_dtypes: bool = False
