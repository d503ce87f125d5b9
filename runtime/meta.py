"""What torch says of a call before it runs: errors, and the shape, strides and dtype of each result.

The source is the op's Meta kernel, called once for each new signature; its answer is kept in the executable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

_KEY = torch._C.DispatchKey.Meta
_DEVICE = torch.device("meta")


class Output(NamedTuple):
    """One tensor result: `stride` is None when contiguous."""

    size: tuple[int, ...]
    stride: tuple[int, ...] | None
    dtype: torch.dtype


def has_meta(op: Any) -> bool:
    """Whether torch has a Meta kernel for the overload, of its own or by a composite."""
    return op.has_kernel_for_dispatch_key(_KEY) or torch._C._dispatch_has_computed_kernel_for_dispatch_key(
        op.name(), "Meta"
    )


def _meta_tensor(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.device.type == "cpu":
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
    return None if isinstance(value, torch.Generator) else value


def describe(value: Any) -> Any:
    """Each tensor of a result as an `Output`; other values, None too, as they are."""
    if isinstance(value, torch.Tensor):
        size, stride = tuple(value.shape), value.stride()
        return Output(size, None if value.is_contiguous() else stride, value.dtype)
    if isinstance(value, (list, tuple)):
        return [describe(x) for x in value]
    return value


def infer(op: Any, names: Sequence[str], values: Sequence[Any], keyword_from: int) -> Any:
    """Call the Meta kernel of `op` and return what it gave.

    Raises:
        Whatever torch raises for these arguments on the CPU. Meta kernels written in Python word some errors in their
        own way, so a call that one of them refuses is asked again of the CPU kernel.
    """
    try:
        return _call(op, names, [to_meta(v) for v in values], keyword_from)
    except Exception as error:
        refused = error
    raise_of_host(op, names, values, keyword_from, blank=True)
    raise refused


def raise_of_host(op: Any, names: Sequence[str], values: Sequence[Any], keyword_from: int, blank: bool = False) -> None:
    """Raise what the CPU kernel raises of these arguments (of zeros of their geometry, if `blank`), if it does."""
    try:
        _call(op, names, [_to_host(v, blank) for v in values], keyword_from)
    except NotImplementedError:
        pass
    except Exception as error:
        raise error from None


def _call(op: Any, names: Sequence[str], values: list[Any], keyword_from: int) -> Any:
    keywords = dict(zip(names[keyword_from:], values[keyword_from:], strict=True))
    return op(*values[:keyword_from], **keywords)


def _to_host(value: Any, blank: bool) -> Any:
    if isinstance(value, torch.Tensor):
        if not blank:
            return value.cpu()
        size, stride = value.size(), value.stride()
        return torch.empty_strided(size, stride, dtype=value.dtype, device="cpu").zero_()
    if isinstance(value, (list, tuple)):
        return [_to_host(x, blank) for x in value]
    return torch.device("cpu") if isinstance(value, torch.device) else value
