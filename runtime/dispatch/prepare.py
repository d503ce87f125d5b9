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


def _indices(position: int) -> Callable[[Values], Values]:
    """Masks become integer indices, one per dimension; index tensors on the CPU are moved, as on CUDA."""

    def prepare(values: Values) -> Values:
        device = values[0].device
        expanded: list[torch.Tensor | None] = []
        for index in values[position]:
            if index is not None and index.device.type == "cpu":
                index = index.to(device)
            if index is not None and index.dtype in (torch.bool, torch.uint8):
                expanded.extend(torch.ops.aten.nonzero.default(index).unbind(1))
            else:
                expanded.append(index)
        return [*values[:position], expanded, *values[position + 1 :]]

    return prepare


def _put(position: int, inplace: bool) -> Callable[[Values], Values | Done]:
    """As `_indices`. Within a trace, where masks have no places, one value is put by a choice."""
    indices = _indices(position)

    def prepare(values: Values) -> Values | Done:
        target, places, value = values[0], values[position], values[position + 1]
        accumulate = len(values) > position + 2 and values[position + 2]
        one = len(places) == 1 and places[0] is not None and places[0].dtype in (torch.bool, torch.uint8)
        if untraced() or not one or accumulate or value.numel() != 1:
            return indices(values)
        mask = places[0].to(target.device, torch.bool)
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


PREPARE: dict[str, Callable[[Values], Values | Done]] = {
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
