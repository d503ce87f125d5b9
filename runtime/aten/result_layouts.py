"""Where torch's Meta kernels describe results otherwise than its CPU kernels give them, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .._torch.dispatcher import CPU, kernel_on
from .._torch.results import suggest_memory_format
from ..dispatch.shape_inference import _DEVICE, meta_tensor


def _saved_in_training(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """Batch normalisation saves statistics only in training; those Meta kernels answer as CUDA does."""
    training = next((v for v in values if v.__class__ is bool), False)
    return outputs if training else [outputs[0], *(o.resized((0,)) for o in outputs[1:3]), *outputs[3:]]


def _column_major(values: Sequence[Any], outputs: list[Any], rows: int = 0) -> list[Any]:
    """LAPACK's layout of the first result, which may be the first of `rows` rows."""
    size = outputs[0].size
    like = torch.empty((*size[:-2], size[-1], max(rows, size[-2])), device=_DEVICE).mT[..., : size[-2], :]
    spec = outputs[0].resized(size) if 0 in size else outputs[0].with_strides_of(like)
    return [spec, *outputs[1:]]


def _column_major_vh(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """LAPACK's layout of V^H, where it is computed; Meta answers as CUDA does."""
    return [*outputs[:2], *(_column_major(values, outputs[2:]) if len(outputs[2].size) > 1 else outputs[2:])]


def _least_squares(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The solution lies where LAPACK was given the right-hand side; a vector is a column less its axis."""
    a, solution = values[0], outputs[0]
    if len(solution.size) >= a.dim():
        return _column_major(values, outputs, a.shape[-2])
    column = solution.resized((*solution.size, 1))
    column = _column_major(values, [column], a.shape[-2])[0]
    return [solution if column.is_contiguous() else solution.restrided(column.stride[:-1]), *outputs[1:]]


_choice_of_attention = kernel_on(torch.ops.aten._fused_sdp_choice.default, CPU)


def _like_query(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """Where torch chooses a fused attention on the CPU, the result lies as the query does; Meta takes the formula's."""
    scale, enable_gqa = values[6:]
    if not _choice_of_attention(*values[:6], scale=scale, enable_gqa=enable_gqa):
        return outputs
    query = values[0]
    like = torch.empty_like(torch.empty_strided(query.size(), query.stride(), device=_DEVICE))
    like = like if query.shape[-1] == outputs[0].size[-1] else torch.empty(outputs[0].size, device=_DEVICE)
    return [outputs[0].with_strides_of(like)]


def _like_product(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The gradient times the mask, strided as a product is; Meta gives a contiguous one."""
    like = meta_tensor(values[0]) * meta_tensor(values[1])
    return [outputs[0].with_strides_of(like)]


def _like_convolved(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """Channels last where the input or the weight is so; Meta gives contiguous results."""
    x, weight = values[:2] if len(outputs) == 1 else values[1:3]
    formats = suggest_memory_format(x), suggest_memory_format(weight)
    last = next((f for f in formats if f is not torch.contiguous_format), None)
    if last is None or not x.numel():
        return outputs
    return [o if o is None or len(o.size) < 4 else o.restrided(_meta_stride(o.size, last)) for o in outputs]


def _meta_stride(size: tuple[int, ...], memory_format: torch.memory_format) -> tuple[int, ...]:
    # Of one channel the strides differ from contiguous ones, though torch calls such a tensor contiguous.
    return torch.empty(size, device=_DEVICE, memory_format=memory_format).stride()


def _of_one_sample(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The loss of one sample without a batch axis is a scalar; Meta gives it an axis."""
    return [outputs[0].resized(()), *outputs[1:]] if values[0].dim() < 2 else outputs


def _margin_of_one_sample(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """As `_of_one_sample`; a target with an axis keeps it where nothing is reduced."""
    reduction = values[5]
    return outputs if values[1].dim() and reduction == 0 else _of_one_sample(values, outputs)


def _weights_if_needed(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The weights are none where they are not asked for; Meta gives an empty tensor."""
    need_weights = values[10]
    return outputs if need_weights else [outputs[0], None]


def _input_if_asked(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """No gradient of an input that needs none; Meta gives one whatever `output_mask` says."""
    output_mask = values[9]
    return outputs if output_mask[0] else [None, *outputs[1:]]


def _slices_in_order(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """Distinct slices across `dim`, which lie one after another."""
    dim = next((v for v in values if v.__class__ is int), None)
    size = outputs[0].size
    if dim is None or not size:
        return outputs
    dim %= len(size)
    like = torch.empty((size[dim], *size[:dim], *size[dim + 1 :]), device=_DEVICE).movedim(0, dim)
    return [outputs[0].with_strides_of(like), *outputs[1:]]


def _of_input_sizes(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The gradient of what was unfolded; Meta gives that of a number an axis."""
    input_sizes = values[1]
    return [outputs[0].resized(input_sizes)]


# By the word of the key `results` of the specs.
CORRECTIONS: dict[str, Callable[[Sequence[Any], list[Any]], list[Any]]] = {
    "column_major": _column_major,
    "column_major_vh": _column_major_vh,
    "input_if_asked": _input_if_asked,
    "least_squares": _least_squares,
    "like_convolved": _like_convolved,
    "like_product": _like_product,
    "like_query": _like_query,
    "margin_of_one_sample": _margin_of_one_sample,
    "of_input_sizes": _of_input_sizes,
    "of_one_sample": _of_one_sample,
    "saved_in_training": _saved_in_training,
    "slices_in_order": _slices_in_order,
    "weights_if_needed": _weights_if_needed,
}
