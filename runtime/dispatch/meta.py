"""What torch says of a call before it runs: errors, and the shape, strides and dtype of each result.

The source is the op's Meta kernel, called once for each new signature; its answer is kept in the executable.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch._prims_common import suggest_memory_format
from torch.utils import _pytree as pytree

from ..device.cell import contiguous, untraced
from .arguments import SYMBOLS

_KEY = torch._C.DispatchKey.Meta
_DEVICE = torch.device("meta")
_READ = {"batch_sizes"}  # arguments whose values decide shapes; on the CPU in every program


# Composite in torch, by a kernel that only raises, which backends override, or (baddbmm.dtype of torch 2.13) by a
# decomposition that takes one argument for another.
_STUBS = {"aten::convolution_overrideable", "aten::convolution_backward_overrideable", "aten::baddbmm.dtype"}


class Output(NamedTuple):
    """One tensor result: `stride` is None when contiguous."""

    size: tuple[int, ...]
    stride: tuple[int, ...] | None
    dtype: torch.dtype


def has_meta(op: Any) -> bool:
    """Whether torch has a Meta kernel for the overload, of its own or by a composite."""
    name = op.name()
    return name not in _STUBS and (
        op.has_kernel_for_dispatch_key(_KEY) or torch._C._dispatch_has_computed_kernel_for_dispatch_key(name, "Meta")
    )


def _saved_in_training(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """Batch normalisation saves statistics only in training; those Meta kernels answer as CUDA does."""
    training = next((v for v in values if v.__class__ is bool), False)
    return outputs if training else [outputs[0], *(o._replace(size=(0,)) for o in outputs[1:3]), *outputs[3:]]


def _column_major(values: Sequence[Any], outputs: list[Any], rows: int = 0) -> list[Any]:
    """LAPACK's layout of the first result, which may be the first of `rows` rows."""
    size = outputs[0].size
    like = torch.empty((*size[:-2], size[-1], max(rows, size[-2])), device=_DEVICE).mT[..., : size[-2], :]
    stride = None if 0 in size or like.is_contiguous() else like.stride()
    return [outputs[0]._replace(stride=stride), *outputs[1:]]


def _column_major_vh(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """LAPACK's layout of V^H, where it is computed; Meta answers as CUDA does."""
    return [*outputs[:2], *(_column_major(values, outputs[2:]) if len(outputs[2].size) > 1 else outputs[2:])]


def _least_squares(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The solution lies where LAPACK was given the right-hand side; a vector is a column less its axis."""
    a, solution = values[0], outputs[0]
    if len(solution.size) >= a.dim():
        return _column_major(values, outputs, a.shape[-2])
    column = solution._replace(size=(*solution.size, 1))
    stride = _column_major(values, [column], a.shape[-2])[0].stride
    return [solution._replace(stride=None if stride is None else stride[:-1]), *outputs[1:]]


def _like_query(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """Where torch chooses a fused attention on the CPU, the result lies as the query does; Meta takes the formula's."""
    choice = torch.ops.aten._fused_sdp_choice.default
    scale, enable_gqa = values[6:]
    if not choice._op_dk(torch._C.DispatchKey.CPU, *values[:6], scale=scale, enable_gqa=enable_gqa):
        return outputs
    query = values[0]
    like = torch.empty_like(torch.empty_strided(query.size(), query.stride(), device=_DEVICE))
    like = like if query.shape[-1] == outputs[0].size[-1] else torch.empty(outputs[0].size, device=_DEVICE)
    return [outputs[0]._replace(stride=None if like.is_contiguous() else like.stride())]


def _like_product(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The gradient times the mask, strided as a product is; Meta gives a contiguous one."""
    like = _meta_tensor(values[0]) * _meta_tensor(values[1])
    return [outputs[0]._replace(stride=None if like.is_contiguous() else like.stride())]


def _like_convolved(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """Channels last where the input or the weight is so; Meta gives contiguous results."""
    x, weight = values[:2] if len(outputs) == 1 else values[1:3]
    formats = suggest_memory_format(x), suggest_memory_format(weight)
    last = next((f for f in formats if f is not torch.contiguous_format), None)
    if last is None or not x.numel():
        return outputs
    return [o if o is None or len(o.size) < 4 else o._replace(stride=_meta_stride(o.size, last)) for o in outputs]


def _meta_stride(size: tuple[int, ...], memory_format: torch.memory_format) -> tuple[int, ...] | None:
    stride = torch.empty(size, device=_DEVICE, memory_format=memory_format).stride()
    return None if stride == contiguous(size) else stride  # of one channel it differs, though that is contiguous too


def _of_one_sample(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The loss of one sample without a batch axis is a scalar; Meta gives it an axis."""
    return [outputs[0]._replace(size=()), *outputs[1:]] if values[0].dim() < 2 else outputs


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
    return [outputs[0]._replace(stride=None if like.is_contiguous() else like.stride()), *outputs[1:]]


def _of_input_sizes(values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The gradient of what was unfolded; Meta gives that of a number an axis."""
    input_sizes = values[1]
    return [outputs[0]._replace(size=tuple(input_sizes))]


# What torch's Meta kernels say otherwise than its CPU kernels, or not at all, by the name of the op.
_CORRECTIONS: dict[str, Callable[[Sequence[Any], list[Any]], list[Any]]] = {
    "native_batch_norm": _saved_in_training,
    "_native_batch_norm_legit": _saved_in_training,
    "_native_batch_norm_legit_functional": _saved_in_training,
    "_native_batch_norm_legit_no_training": _saved_in_training,
    "multi_margin_loss": _margin_of_one_sample,
    "multilabel_margin_loss": _of_one_sample,
    "multilabel_margin_loss_forward": _of_one_sample,
    "native_batch_norm_backward": _input_if_asked,
    "batch_norm_backward": _input_if_asked,
    "convolution": _like_convolved,
    "convolution_backward": _like_convolved,
    "native_dropout_backward": _like_product,
    "_linalg_svd": _column_major_vh,
    "geqrf": _column_major,
    "linalg_lstsq": _least_squares,
    "nonzero": _column_major,
    "unfold_backward": _of_input_sizes,
    "unique_dim": _slices_in_order,
    "unique_consecutive": _slices_in_order,
    "unique_dim_consecutive": _slices_in_order,
    "scaled_dot_product_attention": _like_query,
    "_native_multi_head_attention": _weights_if_needed,
}


def corrected(name: str, values: Sequence[Any], outputs: list[Any]) -> list[Any]:
    """The results of an op (`name` without its overload) as the CPU kernel gives them."""
    correct = _CORRECTIONS.get(name)
    return outputs if correct is None else correct(values, outputs)


def _meta_tensor(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.device.type == "cpu" and not tensor.dim():  # one with axes is a constant of the device
        return tensor
    return torch.ops.aten.empty_strided.default(
        tensor.size(), tensor.stride(), dtype=tensor.dtype, device=_DEVICE, layout=torch.strided, pin_memory=False
    )


def to_meta(value: Any) -> Any:
    """The argument with its tensors replaced by meta tensors of the same geometry, and devices by meta."""
    if isinstance(value, torch.Tensor):
        return _meta_tensor(value)
    if isinstance(value, (list, tuple)):
        return [to_meta(x) for x in value]
    if isinstance(value, torch.device):
        return _DEVICE
    if value.__class__ in SYMBOLS:
        return SYMBOLS[value.__class__](1)
    return None if isinstance(value, torch.Generator) else value


def describe(value: Any) -> Any:
    """Each tensor of a result as an `Output`; other values, None too, as they are."""
    if isinstance(value, torch.Tensor):
        size, stride = tuple(value.shape), value.stride()
        return Output(size, None if value.is_contiguous() else stride, value.dtype)
    if isinstance(value, (list, tuple)):
        return [describe(x) for x in value]
    return value


# Of a CPU kernel that is missing, or refuses half precision, which CUDA's may have; others refuse the arguments.
_NO_KERNEL = re.compile("Could not run|not implemented for '(Half|BFloat16)")


def infer(op: Any, names: Sequence[str], values: Sequence[Any], keyword_from: int) -> Any:
    """Call the Meta kernel of `op` and return what it gave.

    Raises:
        Whatever torch raises for these arguments on the CPU. Meta kernels written in Python word some errors in their
        own way and refuse what only CUDA refuses, so such a call is asked again of the CPU kernel: its answer counts.
    """
    try:
        found = [v.cpu() if n in _READ else to_meta(v) for n, v in zip(names, values, strict=True)]
        return _call(op, names, found, keyword_from)
    except Exception as error:
        refused = error
    if isinstance(refused, AssertionError) and "batch_norm" in op.name():  # where the CPU kernels end the process
        raise RuntimeError(str(refused)) from None
    try:
        found = _call(op, names, _to_host(values, blank=True), keyword_from)
    except NotImplementedError as error:  # of the dtype, or of the op
        raise (refused if _NO_KERNEL.search(str(error)) else error) from None
    except Exception:  # of the zeros, perhaps: the values decide
        if not untraced():
            raise refused from None
        try:
            found = _call(op, names, _to_host(values, blank=False), keyword_from)
        except Exception as error:
            raise error from None
    if isinstance(refused, NotImplementedError):  # there is no Meta kernel: the lowering knows, zeros may not
        raise refused
    if untraced():
        raise_of_host(op, names, values, keyword_from)  # some errors are those of a value
    return found


def raise_of_host(op: Any, names: Sequence[str], values: Sequence[Any], keyword_from: int, blank: bool = False) -> None:
    """Raise what the CPU kernel raises of these arguments (of zeros of their geometry, if `blank`), if it does."""
    try:
        _call(op, names, _to_host(values, blank), keyword_from)
    except Exception as error:
        if not (isinstance(error, NotImplementedError) and _NO_KERNEL.search(str(error))):
            raise error from None


# What a lowering raises by accident, where torch may have words for the mistake.
LOWERING_ERRORS = (TypeError, ValueError, ZeroDivisionError)
SHARED = r"^unsupported operation:"
NO_SUCH_DIM = r"^Dimension out of range|Expected reduction dim"
WRONG_DTYPE = r"dtype|scalar type|cast"


def refuse(op: Any, names: Sequence[str], values: Sequence[Any], keyword_from: int, phrase: str = "") -> None:
    """Raise where the CPU kernel refuses arguments with a message that `phrase` matches.

    It is asked of zeros: what else it raises may be their fault.
    """
    try:
        raise_of_host(op, names, values, keyword_from, blank=True)
    except Exception as error:
        if re.search(phrase, str(error)):
            raise


def warn_of_resize(op: Any, names: Sequence[str], values: Sequence[Any], keyword_from: int) -> None:
    """Warn where the CPU kernel does when it resizes `out=` tensors that are not empty; some kernels say nothing."""
    try:
        _call(op, names, _to_host(values, True), keyword_from)
    except Exception:  # of the zeros that stand for the values
        warnings.warn("An output with one or more elements was resized", UserWarning, stacklevel=2)


def _call(op: Any, names: Sequence[str], values: list[Any], keyword_from: int) -> Any:
    keywords = dict(zip(names[keyword_from:], values[keyword_from:], strict=True))
    with torch._C.DisableTorchFunction():  # a mode, such as a default device, would reach into kernels in Python
        return op(*values[:keyword_from], **keywords)


def _to_host(values: Sequence[Any], blank: bool) -> list[Any]:
    """The arguments on the CPU; `blank` ones are zeros and share memory as the arguments do."""
    storages: dict[int, torch.Tensor] = {}

    def empty(tensor: torch.Tensor) -> torch.Tensor:
        size, stride, storage = tensor.size(), tensor.stride(), tensor.untyped_storage()
        if held[id(storage)] == 1:
            return torch.empty_strided(size, stride, dtype=tensor.dtype, device="cpu").zero_()
        if id(storage) not in storages:
            storages[id(storage)] = torch.zeros(storage.nbytes(), dtype=torch.uint8, device="cpu")
        memory = storages[id(storage)].untyped_storage()
        offset = int(tensor.storage_offset())
        return torch.empty(0, dtype=tensor.dtype, device="cpu").set_(memory, offset, size, stride)

    def convert(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return empty(value) if blank else value.cpu()
        return torch.device("cpu") if isinstance(value, torch.device) else value

    held = Counter(id(t.untyped_storage()) for t in pytree.tree_leaves(list(values)) if isinstance(t, torch.Tensor))
    return [[convert(x) for x in v] if isinstance(v, (list, tuple)) else convert(v) for v in values]
