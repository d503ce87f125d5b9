"""What happens to the arguments of a few ops before their lowering sees them.

A lowering sees values of known shapes; it sees neither masks, whose shapes depend on data, nor memory layouts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from ..device.cell import untraced

Values = list[Any]


class Done(NamedTuple):
    """The result of a call that was carried out by other operations."""

    result: Any


_MASKS = (torch.bool, torch.uint8)
_INDICES = (torch.int64, torch.int32, *_MASKS)


def _indices(position: int) -> Callable[[Values], Values]:
    """Masks become integer indices, one per dimension; index tensors on the CPU are moved, as on CUDA."""

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
    """Torch's error for a mask whose shape is not that of the axes of `target` from `first` on."""
    for d, n in enumerate(mask.shape):
        if target.shape[first + d : first + d + 1] != (n,):
            raise IndexError(
                f"The shape of the mask {[*mask.shape]} at index {d} does not match the shape of the indexed tensor "
                f"{[*target.shape]} at index {first + d}"
            )


def _put(position: int, inplace: bool) -> Callable[[Values], Values | Done]:
    """As `_indices`. Within a trace, where masks have no places, one value is put by a choice."""
    indices = _indices(position)

    def prepare(values: Values) -> Values | Done:
        target, places, value = values[0], values[position], values[position + 1]
        accumulate = len(values) > position + 2 and values[position + 2]
        masks = [i for i in places if i is not None and i.dtype in _MASKS]
        # One value at the places of one mask is what torch fills in, of whatever dtype it is.
        fills = len(masks) == 1 == value.numel() and not accumulate and all(i is None or i is masks[0] for i in places)
        if value.dtype != target.dtype and not fills:
            raise RuntimeError(
                "Index put requires the source and destination dtypes match, "
                f"got {target.dtype} for the destination and {value.dtype} for the source."
            )
        if untraced() or not fills or len(places) != 1:
            return indices(values)
        mask = places[0].to(target.device, torch.bool)
        _covers(mask, target, 0)
        mask = mask.reshape(*mask.shape, *[1] * (target.dim() - mask.dim()))
        chosen = torch.where(mask, value.to(target.device, target.dtype).reshape(()), target)
        return Done(target.copy_(chosen) if inplace else chosen)

    return prepare


def _on_device(position: int) -> Callable[[Values], Values]:
    """A CPU tensor is moved beside the first argument: the batch sizes of packed sequences."""

    def prepare(values: Values) -> Values:
        return [*values[:position], values[position].to(values[0].device), *values[position + 1 :]]

    return prepare


def _factored(values: Sequence[Any]) -> Values:
    """The gradient of a determinant wants the factors of A.mT where A is contiguous and real, of A elsewhere.

    The lowering gives those of A.mT for every real A; a determinant is that of the transpose.
    """
    a = values[0]
    plain = a.is_contiguous() or a.is_complex()
    return [*values] if plain else [a.mT, *values[1:]]


def _told(op: Any, name: str) -> Callable[[Values], Values | Done]:
    """With `check_errors`, the call without it, whose `info` then becomes an error of this name."""
    names = [a.name for a in op._schema.arguments]
    check = names.index("check_errors")

    def prepare(values: Values) -> Values | Done:
        if not values[check]:
            return [*values]
        result = op(**{**dict(zip(names, values, strict=True)), "check_errors": False})
        torch._linalg_check_errors(result[-1], name, is_matrix=values[0].dim() == 2)
        return Done(result)

    return prepare


# By packet: an overload for `out=`, and the name in its errors.
_TELLING = {
    "linalg_cholesky_ex": ("L", "linalg.cholesky_ex"),
    "linalg_inv_ex": ("inverse", "linalg.inv_ex"),
    "linalg_lu_factor_ex": ("out", "torch.linalg.lu_factor_ex"),
    "linalg_ldl_factor_ex": ("out", "torch.linalg.ldl_factor_ex"),
    "_linalg_solve_ex": ("result", "torch.linalg.solve_ex"),
}
PREPARE: dict[str, Callable[[Values], Values | Done]] = {
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
