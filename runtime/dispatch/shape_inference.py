"""What torch says about a call before it runs: errors, and the shape, strides and dtype of each result.

The source is the op's Meta kernel, called once for each new key; the executable keeps its results.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch

from .._torch.operators import EMPTY_STRIDED
from ..errors import ResultError
from ..storage.spec import TensorSpec
from ..trace.core import SYMBOLIC_TYPES
from .signature import Signature

_DEVICE = torch.device("meta")


def meta_tensor(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.device.type == "cpu" and not tensor.dim():  # a larger one becomes a constant on the device
        return tensor
    return EMPTY_STRIDED(
        tensor.size(), tensor.stride(), dtype=tensor.dtype, device=_DEVICE, layout=torch.strided, pin_memory=False
    )


def to_meta(value: Any) -> Any:
    """Replace the tensors in an argument by meta tensors of the same geometry, and devices by meta."""
    if isinstance(value, torch.Tensor):
        return meta_tensor(value)
    if isinstance(value, (list, tuple)):
        return [to_meta(x) for x in value]
    if isinstance(value, torch.device):
        return _DEVICE
    if type(value) in SYMBOLIC_TYPES:
        return SYMBOLIC_TYPES[type(value)](1)
    return None if isinstance(value, torch.Generator) else value


def describe_results(value: Any) -> Any:
    """Replace each tensor in a result by a `TensorSpec`; other values, including None, stay as they are."""
    if isinstance(value, torch.Tensor):
        return TensorSpec.contiguous(value.size(), value.dtype).with_strides_of(value)
    if isinstance(value, (list, tuple)):
        return [describe_results(x) for x in value]
    return value


def infer_results(signature: Signature, values: Sequence[Any]) -> Any:
    """Call the Meta kernel of an overload and return its result.

    Raises:
        Whatever torch raises for these arguments on the CPU. Meta kernels written in Python word some errors
        differently and reject what only CUDA rejects, so the CPU kernel decides about the calls that they reject.
    """
    try:
        read = signature.host_values
        found = [v.cpu() if n in read else to_meta(v) for n, v in zip(signature.names, values, strict=True)]
        if signature.row.results.endswith(".of_all_steps"):
            found = _two_steps(found)
        return signature.call(found)
    except Exception as error:
        refused = error
    from . import host_errors

    return host_errors.answer(signature, values, refused, bool(re.search(WRONG_DTYPE, str(refused))))


def _two_steps(values: list[Any]) -> list[Any]:
    """The arguments of a recurrent network with the first two steps of its input.

    torch's Meta kernel loops over all steps, which takes seconds for a thousand.
    """
    x, sizes, batch_first = values[0], values[1], values[-1]
    if x.dim() == 3:
        axis = 1 if batch_first else 0
        return [x.narrow(axis, 0, min(2, x.size(axis))), *values[1:]]
    if x.dim() == 2 and sizes.sum() == len(x) and (sizes[1:] <= sizes[:-1]).all():  # packed
        return [x[: int(sizes[:2].sum())], sizes[:2], *values[2:]]
    return values


# Errors that a lowering raises by accident for invalid arguments, where torch may have a better message.
LOWERING_ERRORS = (TypeError, ValueError, LookupError, ZeroDivisionError, RecursionError, ResultError)
SHARED = r"^unsupported operation:"
NO_SUCH_DIM = r"^Dimension out of range|Expected reduction dim"
WRONG_DTYPE = r"dtype|scalar.type|cast|same type|tensor for result"


def raise_matching_host_error(signature: Signature, values: Sequence[Any], phrase: str = "", half: bool = True) -> None:
    """Raise the CPU kernel's error, if `phrase` matches its message; `half` excuses that it lacks half precision."""
    from . import host_errors  # most programs never need it

    host_errors.raise_matching(signature, values, phrase, phrase == WRONG_DTYPE, half)
