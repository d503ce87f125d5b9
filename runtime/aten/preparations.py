"""Changes to the arguments of a call before its lowering is called: the functions that `prepare` in the specs names.

A lowering gets arrays of known shapes. It cannot handle boolean masks, which select a data-dependent number of
elements, or memory layouts. Masks and ranges have modules of their own.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import torch

from .._torch.operators import check_factorization
from ..dispatch.dispatcher import Handled
from ..dispatch.dtype_support import dtypes_named
from ..dispatch.signature import Signature
from ..storage.placement import no_jax_trace

Values = list[Any]
Prepare = Callable[[Values], Values | Handled]


def on_named_device(signature: Signature, device: str) -> Prepare:
    """Create the result on the device named in the call, which may be the CPU, instead of the input's device: the op
    runs there, on an empty tensor of the same geometry."""
    if device not in signature.names:  # with `out=`
        return lambda values: [*values]
    position = signature.names.index(device)

    def prepare(values: Values) -> Values | Handled:
        named, source = values[position], values[0]
        if named is None or torch.empty(0, device=named).device == source.device:
            return [*values]
        return Handled(signature.call([torch.empty_like(source, device=named), *values[1:]]))

    return prepare


def to_device(signature: Signature, *arguments: str) -> Prepare:
    """Move tensors to the device of the first argument, which may be the CPU: the batch sizes of packed sequences, the
    primal of a tangent on another device, or the lengths of a CTC loss."""
    places = {*map(signature.names.index, arguments)}

    def prepare(values: Values) -> Values | Handled:
        first = values[0]
        moved = [v.to(first.device) if i in places else v for i, v in enumerate(values)]
        if first.device.type == "cpu":
            return Handled(signature.op(**dict(zip(signature.names, moved, strict=True))))
        return moved

    return prepare


def with_lengths(signature: Signature, targets: str, *lengths: str) -> Prepare:
    """Call the overload for lengths that are tensors, so that they are no part of the program, with a row of labels for
    each target. The lengths that limit the targets come last. A call with `out=` keeps its numbers."""
    at, places = signature.names.index(targets), [*map(signature.names.index, lengths)]

    def prepare(values: Values) -> Values | Handled:
        if signature.outs:
            return values
        if "grad" not in signature.names:  # the loss itself, whose Meta kernel checks the lengths
            signature.op(*[torch.empty_like(v, device="meta") if isinstance(v, torch.Tensor) else v for v in values])
        labels, sizes = values[at], values[places[-1]]
        if labels.dim() == 1:  # one target after another
            ends = torch.tensor(sizes).cumsum(0)
            rows = (ends - torch.tensor(sizes))[:, None] + torch.arange(max(sizes, default=0))
            rows = rows.clamp(max=max(0, labels.numel() - 1)).to(labels.device)
            labels = labels[rows] if labels.numel() else rows
        labels = labels[:, : max(sizes, default=0)]
        given = {at: labels, **{i: torch.tensor(values[i], device=values[0].device) for i in places}}
        overload = getattr(torch.ops.aten, signature.op._schema.name.partition("::")[2]).Tensor
        return Handled(overload(*[given.get(i, v) for i, v in enumerate(values)]))

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


def truth_to_out(signature: Signature, argument: str) -> Prepare:
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


def resize_statistics(signature: Signature, first: str) -> Prepare:
    """Resize the four statistics of a fused observer and fake quantizer, which start empty, to the rows of its first
    input. An empty input is not observed."""
    at, inplace = signature.names.index(first), signature.row.form == "inplace"
    axis_at, per_row_at = signature.names.index("ch_axis"), signature.names.index("per_row_fake_quant")

    def prepare(values: Values) -> Values | Handled:
        x, observer_on, statistics, per_row = values[0], values[1], values[at : at + 4], values[per_row_at]
        if inplace and per_row and values[axis_at] == 0 and not statistics[0].numel():
            for statistic, start in zip(statistics, (math.inf, -math.inf, 1, 0), strict=True):
                statistic.resize_(len(x)).fill_(start)
        if x.numel() or not inplace:
            return values
        if observer_on.item():
            raise RuntimeError(
                "dimensions of scale and zero-point are not consistent with input tensor"
                if per_row
                else "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
            )
        return Handled((torch.empty_like(x), torch.empty_like(x, dtype=torch.bool)))

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
