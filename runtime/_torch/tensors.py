"""How tensors of the device are made: empty ones, and views by the kernels of torch that only set a geometry.

Meta kernels set sizes, strides and storages and never look at memory, so they serve tensors of any device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils import _python_dispatch

from ..releases import private_names
from .dispatcher import COMPOSITE_EXPLICIT, COMPOSITE_IMPLICIT, CPU, META, kernel_on

_aten = torch.ops.aten
TENSOR_CLASS = "torch._tensor.Tensor"  # as type checkers know it

with private_names("torch", torch.__version__):
    # (size, dtype): a contiguous tensor of `jax:0` on a storage without memory
    create_empty_tensor = torch._C._acc.create_empty_tensor
    conj_view = torch._conj
    neg_view = torch._neg_view
    # Whether a tensor is made of others.
    is_wrapper: Callable[[Any], bool] = _python_dispatch.is_traceable_wrapper_subclass
    swap_implementations = torch._C._swap_tensor_impl  # (a, b)
    # (tensor, size, stride, by how much it starts later): as `meta_as_strided`, in a quarter of the time, since it is
    # no operator. Where the tensor is an inference tensor and the mode is off, or the reverse, it is not the same.
    _guards: Any = torch._C._dynamo.guards
    displaced: Callable[[torch.Tensor, Sequence[int], Sequence[int], int], torch.Tensor] = _guards._reinterpret_tensor
    in_inference: Callable[[], bool] = torch.is_inference_mode_enabled
    # (tensor, source): torch's own answer whether `tensor.data = source` may be
    may_share_implementation = kernel_on(_aten._has_compatible_shallow_copy_type.default, COMPOSITE_IMPLICIT)

# Functions of modules that torch imports late, apart by spaces.
JAGGED_ATTENTION = "torch.nested._internal.ops", "jagged_scaled_dot_product_attention"
RING_ATTENTION = (
    "torch.distributed.tensor.experimental._context_parallel._attention",
    "_templated_ring_attention _templated_ring_attention_backward",
)

meta_as_strided = kernel_on(_aten.as_strided.default, META)  # (tensor, size, stride, offset)
_set_resizable = kernel_on(_aten.set_.source_Storage_storage_offset, META)
_set_fixed = kernel_on(_aten.set_.source_Storage_storage_offset, CPU)
view_as_dtype = kernel_on(_aten.view.dtype, COMPOSITE_EXPLICIT)  # (tensor, dtype)


def awaited(tensor: Any) -> Any:
    """The result of a functional collective, which torch wraps until it is read; any other tensor is returned."""
    with private_names("torch", torch.__version__):
        from torch.distributed._functional_collectives import AsyncCollectiveTensor
    return tensor.trigger_wait() if isinstance(tensor, AsyncCollectiveTensor) else tensor


def meta_set(tensor: torch.Tensor, storage: Any, offset: int, size: Sequence[int], stride: Sequence[int]) -> Any:
    """Set the storage and the geometry of a tensor.

    The Meta kernel resizes every storage. Those beyond the first device are made of DLPack capsules, and torch calls
    them not resizable; the CPU kernel leaves a storage alone that is large enough.
    """
    kernel = _set_resizable if storage.resizable() else _set_fixed
    return kernel(tensor, storage, offset, size, stride)
