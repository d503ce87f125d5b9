"""Create device tensors: empty ones, and views made by torch's kernels that only set a geometry.

Meta kernels set sizes, strides and storages and never access memory, so they work for tensors of any device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils import _python_dispatch

from ..releases import private_names
from .dispatcher import COMPOSITE_EXPLICIT, COMPOSITE_IMPLICIT, CPU, META, kernel_on

_aten = torch.ops.aten
_Ints = tuple[int, ...]
PLAIN_CLASSES = frozenset({torch.Tensor, torch.nn.Parameter})  # a subclass may carry out operators itself
TENSOR_CLASS = "torch._tensor.Tensor"  # its name in type checkers

with private_names("torch", torch.__version__):
    # The tensors that torch traces with, which have a size, a dtype and a device but no memory.
    from torch._subclasses.fake_tensor import FakeTensor as FakeTensor
    from torch._subclasses.fake_tensor import is_fake as is_fake
    from torch._subclasses.functional_tensor import FunctionalTensor as FunctionalTensor

    # (size, dtype): a contiguous tensor of `jax:0` on a storage without memory
    create_empty_tensor = torch._C._acc.create_empty_tensor
    conj_view = torch._conj
    neg_view = torch._neg_view
    # Whether a tensor is a subclass that wraps other tensors.
    is_wrapper: Callable[[Any], bool] = _python_dispatch.is_traceable_wrapper_subclass
    # (class, size, strides, dtype=, device=): a tensor without memory, whose class carries out its operators
    new_wrapper: Callable[..., Any] = torch.Tensor._make_wrapper_subclass
    swap_implementations = torch._C._swap_tensor_impl  # (a, b)
    # (tensor, size, stride, increment of the offset): like `meta_as_strided` in a quarter of the time, as it is not an
    # operator. The result differs if the tensor is an inference tensor and inference mode is off, or vice versa.
    # torch 2.15 takes tuples only, and no `torch.Size`.
    _guards: Any = torch._C._dynamo.guards
    displaced: Callable[[torch.Tensor, _Ints, _Ints, int], torch.Tensor] = _guards._reinterpret_tensor
    in_inference: Callable[[], bool] = torch.is_inference_mode_enabled
    # (tensor, source): torch's own check whether `tensor.data = source` is allowed
    may_share_implementation = kernel_on(_aten._has_compatible_shallow_copy_type.default, COMPOSITE_IMPLICIT)

meta_as_strided = kernel_on(_aten.as_strided.default, META)  # (tensor, size, stride, offset)
_set_resizable = kernel_on(_aten.set_.source_Storage_storage_offset, META)
_set_fixed = kernel_on(_aten.set_.source_Storage_storage_offset, CPU)
view_as_dtype = kernel_on(_aten.view.dtype, COMPOSITE_EXPLICIT)  # (tensor, dtype)


def awaited(tensor: Any) -> Any:
    """Unwrap the result of a functional collective, which torch wraps until it is read; return others unchanged."""
    with private_names("torch", torch.__version__):
        from torch.distributed._functional_collectives import AsyncCollectiveTensor
    return tensor.trigger_wait() if isinstance(tensor, AsyncCollectiveTensor) else tensor


def meta_set(tensor: torch.Tensor, storage: Any, offset: int, size: Sequence[int], stride: Sequence[int]) -> Any:
    """Set the storage and the geometry of a tensor.

    The Meta kernel resizes every storage. Storages of other devices than the first are made from DLPack capsules and
    are not resizable; the CPU kernel is used for them, because it does not resize a storage that is large enough.
    """
    kernel = _set_resizable if storage.resizable() else _set_fixed
    return kernel(tensor, storage, offset, size, stride)
