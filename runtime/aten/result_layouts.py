"""Corrections for torch's Meta kernels that describe results differently from the CPU kernels, or not at all: the
functions that `results` in the specs names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from .._torch.dispatcher import CPU, kernel_on
from .._torch.operators import suggest_memory_format
from ..dispatch.shape_inference import _DEVICE, meta_tensor


def saved_in_training(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """Batch normalisation saves statistics only in training, and keeps the memory format of the image alone; the Meta
    kernels follow CUDA."""
    outputs = like_image([values[0], None], outputs)
    training = next((v for v in values if v.__class__ is bool), False)
    return outputs if training else [outputs[0], *(o.resized((0,)) for o in outputs[1:3]), *outputs[3:]]


def column_major(values: Sequence[Any], outputs: list[Any], rows: int = 0) -> list[Any]:
    """LAPACK's column-major layout for the first result, which may be the leading part of `rows` rows."""
    size = outputs[0].size
    like = torch.empty((*size[:-2], size[-1], max(rows, size[-2])), device=_DEVICE).mT[..., : size[-2], :]
    spec = outputs[0].resized(size) if 0 in size else outputs[0].restrided(like.stride())
    return [spec, *outputs[1:]]


def column_major_last(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """LAPACK's layout for the last result, eigenvectors or V^H, if it is computed; the Meta kernels differ."""
    vectors = outputs[-1]
    return [*outputs[:-1], *(column_major(values, [vectors]) if len(vectors.size) > 1 else [vectors])]


def eigenvectors(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """Eigenvectors are column-major, unless the `out` tensor, the last argument, has elements."""
    used = len(values) > 1 and values[-1].numel()
    return contiguous(values, outputs) if used else column_major_last(values, outputs)


def least_squares(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The solution is in the memory of the right-hand side passed to LAPACK; a vector is a column without its axis."""
    a, solution = values[0], outputs[0]
    if len(solution.size) >= a.dim():
        return column_major(values, outputs, a.shape[-2])
    column = solution.resized((*solution.size, 1))
    column = column_major(values, [column], a.shape[-2])[0]
    return [solution if column.is_contiguous() else solution.restrided(column.stride[:-1]), *outputs[1:]]


_choice_of_attention = kernel_on(torch.ops.aten._fused_sdp_choice.default, CPU)


def like_query(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """If torch chooses fused attention on the CPU, the result has the query's layout; Meta uses the formula's."""
    scale, enable_gqa = values[6:]
    if not _choice_of_attention(*values[:6], scale=scale, enable_gqa=enable_gqa):
        return outputs
    query = values[0]
    like = torch.empty_like(torch.empty_strided(query.size(), query.stride(), device=_DEVICE))
    like = like if query.shape[-1] == outputs[0].size[-1] else torch.empty(outputs[0].size, device=_DEVICE)
    return [outputs[0].with_strides_of(like)]


def aligned_rows(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The rows of grouped products begin at multiples of 16 bytes, which Meta states for CUDA alone."""
    *sizes, columns = outputs[0].size
    aligned = 16 // outputs[0].dtype.itemsize
    return [outputs[0].restrided(outputs[0].resized((*sizes, -(-columns // aligned) * aligned)).stride)]


def like_product(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """Binary operators, and gradients times a function of the input, have the strides of a product; Meta's are others.

    A reduced result has none.
    """
    if not outputs[0].size:
        return outputs
    first, *others = [meta_tensor(v) for v in values[:2] if isinstance(v, torch.Tensor)]
    like = first * (others[0] if others else 1)
    return [outputs[0].with_strides_of(like)]


def elu_backward(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """As `like_product`, of the gradient and the input, or the result."""
    return like_product([values[0], values[5]], outputs)


def like_first(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The result has the strides of the first argument, if nothing is reduced; Meta's depend on the second too."""
    return [outputs[0].with_strides_of(torch.empty_like(meta_tensor(values[0])))] if outputs[0].size else outputs


def like_second(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The gradient has the strides of the input; Meta's depend on the incoming gradient too."""
    return like_first(values[1:], outputs)


def like_convolved(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """Results are channels-last if the input or the weight is; Meta returns contiguous ones."""
    x, weight = values[:2] if len(outputs) == 1 else values[1:3]
    formats = suggest_memory_format(x), suggest_memory_format(weight)
    last = next((f for f in formats if f is not torch.contiguous_format), None)
    if last is None or not x.numel():
        return outputs
    return [o if o is None or len(o.size) < 4 else o.restrided(_meta_stride(o.size, last)) for o in outputs]


def like_image(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The first result has the memory format of the image, which comes after a gradient; Meta's may have another."""
    image = values[1] if isinstance(values[1], torch.Tensor) else values[0]
    if outputs[0] is None or not image.numel():
        return outputs
    return [outputs[0].restrided(_meta_stride(outputs[0].size, suggest_memory_format(image))), *outputs[1:]]


def like_rolled(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The result has the memory format of the input; without `dims` the input is flattened, and it is contiguous."""
    return like_image(values, outputs) if values[2] else outputs


def _meta_stride(size: tuple[int, ...], memory_format: torch.memory_format) -> tuple[int, ...]:
    # With one channel the strides differ from contiguous ones, although torch calls such a tensor contiguous.
    return torch.empty(size, device=_DEVICE, memory_format=memory_format).stride()


def of_one_sample(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The loss of one sample without a batch axis is 0-d; Meta returns an axis."""
    return [outputs[0].resized(()), *outputs[1:]] if values[0].dim() < 2 else outputs


def margin_of_one_sample(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """As `of_one_sample`, but without a reduction the loss keeps the axis of the target."""
    reduction = values[5]
    return outputs if values[1].dim() and reduction == 0 else of_one_sample(values, outputs)


def weights_if_needed(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The weights are None if they are not requested; Meta returns an empty tensor."""
    need_weights = values[10]
    return outputs if need_weights else [outputs[0], None]


def input_if_requested(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The gradient of an image is None if `output_mask` excludes it; Meta always returns one."""
    output_mask = values[9]
    return like_image(values, outputs if output_mask[0] else [None, *outputs[1:]])


def slices_in_order(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The distinct slices along `dim` are stored one after another."""
    dim = next((v for v in values if v.__class__ is int), None)
    size = outputs[0].size
    if dim is None or not size:
        return outputs
    dim %= len(size)
    like = torch.empty((size[dim], *size[:dim], *size[dim + 1 :]), device=_DEVICE).movedim(0, dim)
    return [outputs[0].restrided(like.stride()), *outputs[1:]]


def of_all_steps(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The outputs of a recurrent network have all steps of the input, of which the Meta kernel is given two. They are
    stored step by step, even if the batch comes first."""
    size, batch_first = (*values[0].shape[:-1], outputs[0].size[-1]), values[-1]
    spec = outputs[0].resized(size)
    if len(size) == 3 and batch_first:
        spec = spec.restrided((size[-1], size[0] * size[-1], 1))
    return [spec, *outputs[1:]]


def of_input_sizes(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The gradient has the shape of the unfolded tensor; Meta returns an axis for a 0-d one."""
    input_sizes = values[1]
    return [outputs[0].resized(input_sizes)]


def in_order_of_transform(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """MKL stores the transformed axes last, and the others by decreasing strides; Meta follows CUDA's cuFFT.

    The source is `aten/src/ATen/native/mkl/SpectralOps.cpp`. Other libraries, and `out=`, have contiguous results.
    """
    x, dims = values[:2]
    if len(values) > 4 or not torch.backends.mkl.is_available():
        return contiguous(values, outputs)
    stride, real = x.stride(), not (x.is_complex() and outputs[0].dtype.is_complex)
    last = [*dims[-1:]] if real else []  # in a transform from or to real numbers, the axis of which half is stored
    inner = sorted(dims[: len(dims) - len(last)], key=lambda d: -stride[d])
    if x.is_complex() and last and inner:  # to real numbers: the inner axes are transformed before
        stride, inner = _transformed_stride(x.shape, stride, inner), []
    return [outputs[0].restrided(_transformed_stride(outputs[0].size, stride, [*inner, *last]))]


def _transformed_stride(size: Sequence[int], stride: Sequence[int], dims: list[int]) -> tuple[int, ...]:
    order = [*sorted(set(range(len(size))) - {*dims}, key=lambda d: -stride[d]), *dims]
    made = torch.empty([size[d] for d in order], device=_DEVICE)
    return made.permute([order.index(d) for d in range(len(size))]).stride()


def contiguous(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """Contiguous results, where the Meta kernel's have other strides; CPU kernels resize `out=` to contiguous ones."""
    return [o and o.resized(o.size) for o in outputs]


def coordinates(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The coordinates of each axis are stored one after another; these are the strides even without elements."""
    return [o.restrided((1, o.size[0])) for o in outputs]


def contiguous_used_out(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """As `contiguous`, if the `out` tensor, the last argument, has elements."""
    return contiguous(values, outputs) if values[-1].numel() else outputs


def kept_out(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """An `out` tensor of as many elements keeps its shape, and is filled in the order of its elements."""
    out = values[-1]
    return [outputs[0].resized(tuple(out.shape))] if out.numel() == math.prod(outputs[0].size) else outputs


contiguous_out = contiguous
