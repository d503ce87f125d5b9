"""How tensors of the device are made: empty ones, and views by the kernels of torch that only set a geometry.

Meta kernels set sizes, strides and storages and never look at memory, so they serve tensors of any device.
"""

from __future__ import annotations

import torch

from ..releases import private_names
from .dispatcher import COMPOSITE_EXPLICIT, COMPOSITE_IMPLICIT, META, kernel_on

_aten = torch.ops.aten

with private_names("torch", torch.__version__):
    # (size, dtype): a contiguous tensor of `jax:0` on a storage without memory
    create_empty_tensor = torch._C._acc.create_empty_tensor
    conj_view = torch._conj
    neg_view = torch._neg_view
    swap_implementations = torch._C._swap_tensor_impl  # (a, b)
    # (tensor, source): torch's own answer whether `tensor.data = source` may be
    may_share_implementation = kernel_on(_aten._has_compatible_shallow_copy_type.default, COMPOSITE_IMPLICIT)

meta_as_strided = kernel_on(_aten.as_strided.default, META)  # (tensor, size, stride, offset)
meta_set = kernel_on(_aten.set_.source_Storage_storage_offset, META)  # (tensor, storage, offset, size, stride)
view_as_dtype = kernel_on(_aten.view.dtype, COMPOSITE_EXPLICIT)  # (tensor, dtype)
