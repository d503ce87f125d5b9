"""`torchax.config`: the flags of an environment."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

# Flags without effect, and what happens instead.
_WITHOUT_EFFECT = {
    "debug_mixed_tensor": "a mix of devices raises with the line, and no debugger is started",
    "use_int32_for_index": "dtypes are those of torch",
    "force_materialize_views": "views share the memory of their base, as in torch",
    "use_dlpack_for_data_conversion": "data is always copied between the CPU and the device",
    "shmap_flash_attention": "attention chooses its kernel itself; see env.override_op_definition",
    "treat_cuda_as_jax_device": "device 'cuda' is never device 'jax'",
    "use_torch_native_for_cpu_tensor": "CPU tensors are computed by CPU torch",
}
_warned: set[str] = set()


@dataclass
class Configuration:
    """The flags of an environment, which take effect when it is entered.

    Args:
        debug_print_each_op: log each operation with shapes, dtypes and strides, by `tenax.debug.log`.
        debug_print_each_op_operands: no further effect, since the log includes operands.
        debug_accuracy_for_each_op: compare each operation with CPU torch, by `tenax.debug.compare`, and raise if they
            differ.
        allow_mixed_math_with_scalar_tensor: if false, 0-d CPU tensors in operations of the device also raise.
        internal_respect_torch_return_dtypes: always the case.
        use_tpu_flash_attention: always the case, if JAX's kernel supports the arguments.

    Setting another flag to a non-default value warns once that it has no effect, and what happens instead.
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

    def __setattr__(self, name: str, value: Any) -> None:
        reason = _WITHOUT_EFFECT.get(name)
        if reason is not None and name not in _warned and value != getattr(type(self), name):
            _warned.add(name)
            warnings.warn(f"torchax.config: {name}={value!r} has no effect: {reason}", stacklevel=2)
        super().__setattr__(name, value)
