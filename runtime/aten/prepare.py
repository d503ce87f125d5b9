"""Changes to the arguments of a call before its lowering is called: the functions that `prepare` in the specs names.

A lowering gets arrays of known shapes. It cannot handle boolean masks, which select a data-dependent number of
elements, or memory layouts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch

from .._torch.results import check_factorization
from ..dispatch.dispatcher import Handled
from ..dispatch.dtype_support import dtypes_named
from ..dispatch.signature import Signature
from ..storage.placement import no_jax_trace
from ..storage.spec import TensorSpec
from ..trace.masked_writes import MASKS, row_of_places

Values = list[Any]
Prepare = Callable[[Values], Values | Handled]


_INDICES = (torch.int64, torch.int32, *MASKS)


def expand_masks(signature: Signature, indices: str) -> Prepare:
    """Convert masks to integer indices, one per dimension; move index tensors from the CPU, as CUDA does."""
    position = signature.names.index(indices)

    def prepare(values: Values) -> Values | Handled:
        target = values[0]
        _warn_of_bytes(values[position])
        mask = _leading_mask(values[position])
        if mask is not None and signature.fresh and len(values) == 2 and no_jax_trace():
            from .masked_rows import rows_on_host

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
    if first is None or first.dtype not in MASKS or not first.dim() or first.device.type != "jax":
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
            from .masked_rows import put_rows_on_host

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
        row = row_of_places(value.to(target.device), mask.dim(), inner)
        if row is None or not _fits(row, target):
            return host_or_expand(values)
        mask = mask.reshape(*mask.shape, *[1] * inner)
        _warn_of_bytes(places)
        into = target if inplace else target.clone()
        if fills and no_jax_trace():
            return Handled(into.masked_fill_(mask, row))
        return Handled(into.copy_(torch.where(mask, row, target)))

    return prepare


def on_named_device(signature: Signature, device: str) -> Prepare:
    """Create the result on the device named in the call, which may be the CPU, instead of the input's device."""
    if device not in signature.names:  # with `out=`
        return lambda values: [*values]
    position = signature.names.index(device)

    def prepare(values: Values) -> Values | Handled:
        named, source = values[position], values[0]
        if named is None or torch.empty(0, device=named).device == source.device:
            return [*values]
        return Handled(signature.call([torch.empty_like(source, device=named), *values[1:]]))

    return prepare


def to_device(signature: Signature, argument: str) -> Prepare:
    """Move a tensor to the device of the first argument, which may be the CPU: the batch sizes of packed sequences, or
    the primal of a tangent on another device."""
    position = signature.names.index(argument)

    def prepare(values: Values) -> Values | Handled:
        first = values[0]
        moved = [*values[:position], values[position].to(first.device), *values[position + 1 :]]
        if first.device.type == "cpu":
            return Handled(signature.op(**dict(zip(signature.names, moved, strict=True))))
        return moved

    return prepare


def transpose_strided(signature: Signature, argument: str) -> Prepare:
    """Transpose a real matrix that is not contiguous.

    torch's gradient of a determinant expects the LU factors of A.mT if A is contiguous and real, and otherwise those of
    A. The lowering factors A.mT for every real A, and the determinant of the transpose is the same.
    """
    position = signature.names.index(argument)

    def prepare(values: Values) -> Values:
        a = values[position]
        plain = a.is_contiguous() or a.is_complex()
        return [*values] if plain else [*values[:position], a.mT, *values[position + 1 :]]

    return prepare


def raise_info(signature: Signature, name: str) -> Prepare:
    """Call without `check_errors`, then raise the error for `info` under the name that torch uses."""
    check = signature.names.index("check_errors")

    def prepare(values: Values) -> Values | Handled:
        if not values[check]:
            return [*values]
        result = signature.op(**{**dict(zip(signature.names, values, strict=True)), "check_errors": False})
        check_factorization(result[-1], name, is_matrix=values[0].dim() == 2)
        return Handled(result)

    return prepare


def alert_not_deterministic(signature: Signature, name: str) -> Prepare:
    """Raise or warn in torch's deterministic mode, under the name that the CPU kernel uses; not with `accumulate`."""
    sums = signature.names.index("accumulate") if "accumulate" in signature.names else None

    def prepare(values: Values) -> Values:
        if torch.are_deterministic_algorithms_enabled() and not (sums is not None and values[sums]):
            warns = torch.is_deterministic_algorithms_warn_only_enabled()
            text = (
                f"{name} does not have a deterministic implementation, but you set "
                f"'torch.use_deterministic_algorithms(True{', warn_only=True' if warns else ''})'."
            )
            if not warns:
                raise RuntimeError(text + " Turn it off for this operation, or set warn_only=True.")
            warnings.warn(text, stacklevel=2)
        return values

    return prepare


def dtype_of_out(signature: Signature, argument: str) -> Prepare:
    """Compute in the dtype of the written tensor, in place or `out=`, unless the call names a dtype or the op does not
    support the dtype of the input or the written tensor."""
    position, out = signature.names.index(argument), signature.outs[0] if signature.outs else 0
    taken = dtypes_named(signature.row.dtypes[0][1])

    def prepare(values: Values) -> Values:
        named = values[position] or not {values[0].dtype, values[out].dtype} <= taken
        return values if named else [*values[:position], values[out].dtype, *values[position + 1 :]]

    return prepare


def dtype_of_wider_out(signature: Signature, argument: str) -> Prepare:
    """As `dtype_of_out`, but only if the input is integral, or floating-point with a lower precision than `out=`."""
    prepare, out = dtype_of_out(signature, argument), signature.outs[0]

    def choose(values: Values) -> Values | Handled:
        x = values[0]
        keeps = x.is_complex() or (x.is_floating_point() and not _is_wider(values[out], x))
        return values if keeps else prepare(values)

    return choose


def _is_wider(out: torch.Tensor, x: torch.Tensor) -> bool:
    """Whether `x` is floating-point or complex and `out` has a higher precision."""
    inexact = x.is_floating_point() or x.is_complex()
    return inexact and torch.promote_types(x.dtype, out.dtype) is not x.dtype


def widen_to_out(signature: Signature, argument: str) -> Callable[[Values], Values]:
    """Convert an argument to the precision of `out=` if that is higher, as CPU torch does before a reduction."""
    position, out = signature.names.index(argument), signature.outs[0]

    def prepare(values: Values) -> Values:
        x = values[position]
        if not _is_wider(values[out], x):
            return values
        dtype = torch.promote_types(x.dtype, values[out].dtype)
        dtype = dtype if x.is_complex() else dtype.to_real()
        return [*values[:position], x.to(dtype), *values[position + 1 :]]

    return prepare


def real_part_to_out(signature: Signature, argument: str) -> Prepare:
    """As `widen_to_out`; for a complex input and a real `out=`, return the logarithm of the real part of the sum."""
    widen, position, out = widen_to_out(signature, argument), signature.names.index(argument), signature.outs[0]

    def prepare(values: Values) -> Values | Handled:
        x = values[position]
        if not (x.is_floating_point() or x.is_complex()):
            values = [*values[:position], x.to(torch.get_default_dtype()), *values[position + 1 :]]
        values = widen(values)
        if not (x.is_complex() and values[out].is_floating_point()):
            return values
        total = torch.logsumexp(*[v for i, v in enumerate(values) if i != out])
        return Handled(torch.add(total.real, total.imag.cos().log(), out=values[out]))

    return prepare


def truth_of_bytes(signature: Signature, argument: str) -> Prepare:
    """Test the truth of the elements if `out=` is bool, and of their conversion to uint8 if it is uint8, as on the CPU.

    The result of the op is uint8 for a uint8 argument, and bool otherwise. A single element is not converted.
    """
    position, out = signature.names.index(argument), signature.outs[0]

    def prepare(values: Values) -> Values:
        x, dtype = values[position], values[out].dtype
        if x.dtype is dtype or dtype not in (torch.bool, torch.uint8) or torch.uint8 not in (x.dtype, dtype):
            return values
        mask = x.to(torch.uint8) if dtype is torch.uint8 and x.numel() != 1 else x != 0
        return [*values[:position], mask, *values[position + 1 :]]

    return prepare


def refuse_empty_axis(signature: Signature, dim: str, index: str) -> Prepare:
    """Raise torch's error for indices into an axis of size 0: about the storage, if it is too small for what would be
    written, and otherwise about the index."""
    dim_at, index_at = signature.names.index(dim), signature.names.index(index)
    inplace = signature.row.form == "inplace"

    def prepare(values: Values) -> Values:
        target, axis, indices = values[0], values[dim_at], values[index_at]
        if target.numel() or not target.dim() or not indices.numel() or target.size(axis):
            return values
        axis %= target.dim()
        rest = [(n, s) for d, (n, s) in enumerate(zip(target.shape, target.stride(), strict=True)) if d != axis]
        if not all(n for n, _ in rest):
            return values
        end = target.storage_offset() + sum((n - 1) * s for n, s in rest) + 1
        if not inplace or end * target.itemsize > target.untyped_storage().nbytes():
            raise RuntimeError(
                f"setStorage: {indices.numel()} elements along axis {axis} of a tensor of shape {[*target.shape]} are "
                "out of bounds for its storage"
            )
        which = f"index {int(indices.reshape(-1)[0])}" if no_jax_trace() else "index"
        raise IndexError(f"{which} is out of bounds for dimension {axis} with size 0")

    return prepare


# Keyed by the `prepare` entry of the specs.
PREPARATIONS: dict[str, Callable[..., Prepare]] = {
    "alert_not_deterministic": alert_not_deterministic,
    "dtype_of_out": dtype_of_out,
    "dtype_of_wider_out": dtype_of_wider_out,
    "expand_masks": expand_masks,
    "put_masks": put_masks,
    "raise_info": raise_info,
    "real_part_to_out": real_part_to_out,
    "refuse_empty_axis": refuse_empty_axis,
    "to_device": to_device,
    "on_named_device": on_named_device,
    "transpose_strided": transpose_strided,
    "truth_of_bytes": truth_of_bytes,
    "widen_to_out": widen_to_out,
}


def preparation(signature: Signature) -> Prepare:
    """The preparation for an op whose spec has `prepare`."""
    word, *arguments = signature.row.prepare
    return PREPARATIONS[word](signature, *arguments)
