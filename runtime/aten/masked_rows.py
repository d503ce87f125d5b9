"""`x[mask]` and `x[mask] = values` by a mask of the leading axes, for tensors in host memory (`kernels/host.py`)."""

from __future__ import annotations

import torch

from ..dispatch.host_arrays import are_on_host, computed, device_tensor, host_array
from ..kernels.host import put_rows_where, rows_where
from ..storage.spec import TensorSpec
from ..storage.tensors import cell_of

_QUICKLY_COPIED = 1 << 24  # bytes; XLA writes rows of a larger tensor in place


def rows_on_host(target: torch.Tensor, mask: torch.Tensor) -> torch.Tensor | None:
    """`target[mask]`; None if XLA should compute it, or the result may not be contiguous."""
    if not _in_order(target, mask) or not are_on_host([target, mask]):
        return None
    rows = computed(rows_where, host_array(target), host_array(mask))
    return device_tensor(rows, TensorSpec.contiguous(rows.shape, target.dtype), cell_of(target).index)


def put_rows_on_host(
    target: torch.Tensor, mask: torch.Tensor, values: torch.Tensor, accumulate: bool
) -> torch.Tensor | None:
    """`target` with `target[mask] = values`, or `+=`; None if XLA should compute it."""
    contiguous = target.is_contiguous() and target.numel() * target.itemsize <= _QUICKLY_COPIED
    if not contiguous or target.dtype != values.dtype or not are_on_host([target, mask, values]):
        return None
    arrays = host_array(target), host_array(mask), host_array(values)
    try:
        new = computed(put_rows_where, *arrays, accumulate)
    except ValueError:  # the shapes do not match, for which the operator has its own error
        return None
    return device_tensor(new, TensorSpec.contiguous(new.shape, target.dtype), cell_of(target).index)


def _in_order(target: torch.Tensor, mask: torch.Tensor) -> bool:
    """Whether the axes of the rows are in memory order, so that the result is contiguous."""
    sizes, strides = target.shape[mask.dim() :], target.stride()[mask.dim() :]
    dense = [s for n, s in zip(sizes, strides, strict=True) if n != 1]
    return dense == sorted(dense, reverse=True) and 0 not in dense
