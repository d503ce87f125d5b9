"""Masks among the indices of a tensor: `x[mask]`, `x[mask] = values`.

Most operators of JAX want integers in their place, of an unknown number. In host memory NumPy reads and writes by a
mask of the leading axes itself (`kernels/host.py`), and a number or a row for all places is a `torch.where`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch

from ..dispatch.dispatcher import Handled
from ..dispatch.host_arrays import are_on_host, computed, device_tensor, host_array
from ..dispatch.signature import Signature
from ..kernels.host import put_rows_where, rows_where
from ..storage.placement import no_jax_trace
from ..storage.spec import TensorSpec
from ..storage.tensors import NAME, cell_of
from ..trace.core import is_unknown
from ..trace.masked_writes import MASKS, row_of_places, rows_in_order
from ..trace.transfer import read

Values = list[Any]
Prepare = Callable[[Values], Values | Handled]

_INDICES = (torch.int64, torch.int32, *MASKS)
_QUICKLY_COPIED = 1 << 24  # bytes; XLA writes rows of a larger tensor in place


def expand_masks(signature: Signature, indices: str) -> Prepare:
    """Convert masks to integer indices, one per dimension; move index tensors from the CPU, as CUDA does."""
    position = signature.names.index(indices)
    reads = signature.fresh and len(signature.arguments) == 2  # `index`, not the functional `index_put`

    def prepare(values: Values) -> Values | Handled:
        target = values[0]
        _warn_of_bytes(values[position])
        mask = _leading_mask(values[position])
        if mask is not None and reads and no_jax_trace():
            _covers(mask, target, 0)
            rows = rows_on_host(target, mask)
            if rows is not None:
                return Handled(rows)
        expanded: list[torch.Tensor | None] = []
        for index in values[position]:
            if index is None:
                expanded.append(index)
                continue
            if index.dtype not in _INDICES:
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
            if index.device.type == "cpu":
                index = index.to(target.device)
            if index.dtype in MASKS:
                _covers(index, target, len(expanded))
                expanded.extend(torch.ops.aten.nonzero.default(index).unbind(1))
            else:
                expanded.append(index)
        if len(expanded) > target.dim():
            raise IndexError(f"too many indices for tensor of dimension {target.dim()} (got {len(expanded)})")
        return [*values[:position], expanded, *values[position + 1 :]]

    return prepare


def _warn_of_bytes(indices: Any) -> None:
    if any(i is not None and i.dtype is torch.uint8 for i in indices):
        text = "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."
        warnings.warn(text, stacklevel=2)


def _leading_mask(indices: Any) -> torch.Tensor | None:
    """The mask that is the only index, of the leading axes; None for other indices."""
    first: torch.Tensor | None = indices[0] if indices else None
    if first is None or first.dtype not in MASKS or not first.dim() or first.device.type != NAME:
        return None
    return first if all(i is None for i in indices[1:]) else None


def _fits(row: torch.Tensor, target: torch.Tensor) -> bool:
    """Whether `row` can be broadcast to the shape of `target`."""
    sizes = zip(reversed(row.shape), reversed(target.shape), strict=False)
    return row.dim() <= target.dim() and all(n in (1, m) for n, m in sizes)


def _covers(mask: torch.Tensor, target: torch.Tensor, first: int) -> None:
    """Raise torch's error unless the shape of the mask matches the axes of `target` from `first` on."""
    for d, n in enumerate(mask.shape):
        if target.shape[first + d : first + d + 1] != (n,):
            raise IndexError(
                f"The shape of the mask {[*mask.shape]} at index {d} does not match the shape of the indexed tensor "
                f"{[*target.shape]} at index {first + d}"
            )


def put_masks(signature: Signature, indices: str, values: str) -> Prepare:
    """As `expand_masks`, but `torch.where` writes a number or a row, which needs no indices: they would be unknown in a
    trace, and elsewhere cost a wait for the mask."""
    expand = expand_masks(signature, indices)
    if signature.outs:
        return expand
    position, source, sums = (signature.names.index(name) for name in (indices, values, "accumulate"))
    inplace = signature.row.form == "inplace"

    def host_or_expand(values: Values) -> Values | Handled:
        mask = _leading_mask(values[position])
        if mask is not None and no_jax_trace():
            _covers(mask, values[0], 0)
            new = put_rows_on_host(values[0], mask, values[source], values[sums])
            if new is not None:  # of a contiguous tensor
                _warn_of_bytes(values[position])
                return Handled(values[0].copy_(new) if inplace else new)
        return expand(values)

    def prepare(values: Values) -> Values | Handled:
        target, places, value, accumulate = values[0], values[position], values[source], values[sums]
        masks = [i for i in places if i is not None and i.dtype in MASKS]
        alone = len(masks) == 1 and not accumulate and all(i is None or i is masks[0] for i in places)
        fills = alone and value.numel() == 1  # whatever the dtype of the value
        if value.dtype != target.dtype and not fills:
            raise RuntimeError(
                "Index put requires the source and destination dtypes match, "
                f"got {target.dtype} for the destination and {value.dtype} for the source."
            )
        if value.dtype != target.dtype:
            value = value.to(target.dtype)
            values = [*values[:source], value, *values[source + 1 :]]
        # A 0-d mask selects all or nothing, and has no indices.
        if not alone or not (masks[0].dim() or fills):
            return host_or_expand(values)
        first = next(k for k, i in enumerate(places) if i is not None)
        mask = masks[0].to(target.device, torch.bool)
        _covers(mask, target, first)
        inner = target.dim() - first - mask.dim()
        if no_jax_trace() and TensorSpec.of(target).is_expanded():
            return expand(values)
        value = value.to(target.device)
        row = row_of_places(value, mask.dim(), inner)
        if row is None and not no_jax_trace() and is_unknown(read(mask)):
            row = rows_in_order(value, mask, inner)
        if row is None or not _fits(row, target):
            return host_or_expand(values)
        mask = mask.reshape(*mask.shape, *[1] * inner)
        _warn_of_bytes(places)
        into = target if inplace else target.clone()
        if fills and no_jax_trace():
            return Handled(into.masked_fill_(mask, row))
        return Handled(into.copy_(torch.where(mask, row, target)))

    return prepare


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
    except (TypeError, ValueError):  # the shapes do not match, for which the operator has its own error
        return None
    return device_tensor(new, TensorSpec.contiguous(new.shape, target.dtype), cell_of(target).index)


def _in_order(target: torch.Tensor, mask: torch.Tensor) -> bool:
    """Whether the axes of the rows are in memory order, so that the result is contiguous."""
    sizes, strides = target.shape[mask.dim() :], target.stride()[mask.dim() :]
    dense = [s for n, s in zip(sizes, strides, strict=True) if n != 1]
    return dense == sorted(dense, reverse=True) and 0 not in dense
