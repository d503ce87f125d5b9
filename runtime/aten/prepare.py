"""Argument preparation of a few operators, before their lowering is called.

A lowering gets arrays of known shapes: neither boolean masks, which select a number of elements that depends on data,
nor memory layouts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .._torch.results import check_factorization
from ..dispatch.dispatcher import Handled
from ..storage.placement import no_jax_trace

Values = list[Any]


_MASKS = (torch.bool, torch.uint8)
_INDICES = (torch.int64, torch.int32, *_MASKS)


def _indices(position: int) -> Callable[[Values], Values]:
    """Turn masks into integer indices, one per dimension; move index tensors from the CPU, as CUDA does."""

    def prepare(values: Values) -> Values:
        target = values[0]
        expanded: list[torch.Tensor | None] = []
        for index in values[position]:
            if index is None:
                expanded.append(index)
                continue
            if index.dtype not in _INDICES:
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
            if index.device.type == "cpu":
                index = index.to(target.device)
            if index.dtype in _MASKS:
                _covers(index, target, len(expanded))
                expanded.extend(torch.ops.aten.nonzero.default(index).unbind(1))
            else:
                expanded.append(index)
        if len(expanded) > target.dim():
            raise IndexError(f"too many indices for tensor of dimension {target.dim()} (got {len(expanded)})")
        return [*values[:position], expanded, *values[position + 1 :]]

    return prepare


def _covers(mask: torch.Tensor, target: torch.Tensor, first: int) -> None:
    """Raise torch's error unless the mask has the shape of the axes of `target` from `first` on."""
    for d, n in enumerate(mask.shape):
        if target.shape[first + d : first + d + 1] != (n,):
            raise IndexError(
                f"The shape of the mask {[*mask.shape]} at index {d} does not match the shape of the indexed tensor "
                f"{[*target.shape]} at index {first + d}"
            )


def _put(position: int, inplace: bool) -> Callable[[Values], Values | Handled]:
    """As `_indices`; but in a trace, where a mask's indices are unknown, a single value is put by `torch.where`."""
    indices = _indices(position)

    def prepare(values: Values) -> Values | Handled:
        target, places, value = values[0], values[position], values[position + 1]
        accumulate = len(values) > position + 2 and values[position + 2]
        masks = [i for i in places if i is not None and i.dtype in _MASKS]
        # With a single mask and a single value, torch fills, whatever the dtype of the value.
        fills = len(masks) == 1 == value.numel() and not accumulate and all(i is None or i is masks[0] for i in places)
        if value.dtype != target.dtype and not fills:
            raise RuntimeError(
                "Index put requires the source and destination dtypes match, "
                f"got {target.dtype} for the destination and {value.dtype} for the source."
            )
        if no_jax_trace() or not fills or len(places) != 1:
            return indices(values)
        mask = places[0].to(target.device, torch.bool)
        _covers(mask, target, 0)
        mask = mask.reshape(*mask.shape, *[1] * (target.dim() - mask.dim()))
        chosen = torch.where(mask, value.to(target.device, target.dtype).reshape(()), target)
        return Handled(target.copy_(chosen) if inplace else chosen)

    return prepare


def _on_device(position: int) -> Callable[[Values], Values]:
    """Move a CPU tensor to the device of the first argument: the batch sizes of packed sequences."""

    def prepare(values: Values) -> Values:
        return [*values[:position], values[position].to(values[0].device), *values[position + 1 :]]

    return prepare


def _factored(values: Sequence[Any]) -> Values:
    """Transpose a real matrix that is not contiguous.

    torch's gradient of a determinant expects the LU factors of A.mT if A is contiguous and real, else those of A. The
    lowering factors A.mT for every real A, and the determinant of the transpose is the same.
    """
    a = values[0]
    plain = a.is_contiguous() or a.is_complex()
    return [*values] if plain else [a.mT, *values[1:]]


def _told(op: Any, name: str) -> Callable[[Values], Values | Handled]:
    """Call without `check_errors` and raise the error for `info` afterwards, under the name that torch uses."""
    names = [a.name for a in op._schema.arguments]
    check = names.index("check_errors")

    def prepare(values: Values) -> Values | Handled:
        if not values[check]:
            return [*values]
        result = op(**{**dict(zip(names, values, strict=True)), "check_errors": False})
        check_factorization(result[-1], name, is_matrix=values[0].dim() == 2)
        return Handled(result)

    return prepare


# By packet: an overload for `out=`, and the name in its errors.
_TELLING = {
    "linalg_cholesky_ex": ("L", "linalg.cholesky_ex"),
    "linalg_inv_ex": ("inverse", "linalg.inv_ex"),
    "linalg_lu_factor_ex": ("out", "torch.linalg.lu_factor_ex"),
    "linalg_ldl_factor_ex": ("out", "torch.linalg.ldl_factor_ex"),
    "_linalg_solve_ex": ("result", "torch.linalg.solve_ex"),
}
PREPARE: dict[str, Callable[[Values], Values | Handled]] = {
    **{packet: _told(getattr(torch.ops.aten, packet).default, name) for packet, (_, name) in _TELLING.items()},
    **{
        f"{packet}.{out}": _told(getattr(getattr(torch.ops.aten, packet), out), name)
        for packet, (out, name) in _TELLING.items()
    },
    "index.Tensor": _indices(1),
    "index.Tensor_out": _indices(1),
    "_unsafe_index.Tensor": _indices(1),
    "index_put": _put(1, inplace=False),
    "index_put_": _put(1, inplace=True),
    "index_put.out": _indices(1),
    "_unsafe_index_put": _indices(1),
    "_index_put_impl_": _put(1, inplace=True),
    "_linalg_det": _factored,
    "_linalg_slogdet": _factored,
    "lstm.data": _on_device(1),
    "gru.data": _on_device(1),
    "rnn_tanh.data": _on_device(1),
    "rnn_relu.data": _on_device(1),
}
