"""What torch says of a call before it runs: errors, and the shape, strides and dtype of each result.

The source is the op's Meta kernel, called once for each new signature; its answer is kept in the executable.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch

from .._torch import pytree
from .._torch.modes import DisableTorchFunction
from .._torch.operators import EMPTY_STRIDED
from ..storage.placement import no_jax_trace
from ..storage.spec import TensorSpec
from ..trace.core import SYMBOLIC_TYPES
from .signature import Signature

_DEVICE = torch.device("meta")


def meta_tensor(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.device.type == "cpu" and not tensor.dim():  # one with axes is a constant of the device
        return tensor
    return EMPTY_STRIDED(
        tensor.size(), tensor.stride(), dtype=tensor.dtype, device=_DEVICE, layout=torch.strided, pin_memory=False
    )


def to_meta(value: Any) -> Any:
    """The argument with its tensors replaced by meta tensors of the same geometry, and devices by meta."""
    if isinstance(value, torch.Tensor):
        return meta_tensor(value)
    if isinstance(value, (list, tuple)):
        return [to_meta(x) for x in value]
    if isinstance(value, torch.device):
        return _DEVICE
    if value.__class__ in SYMBOLIC_TYPES:
        return SYMBOLIC_TYPES[value.__class__](1)
    return None if isinstance(value, torch.Generator) else value


def describe_results(value: Any) -> Any:
    """Each tensor of a result as a `TensorSpec`; other values, None too, as they are."""
    if isinstance(value, torch.Tensor):
        return TensorSpec.contiguous(value.size(), value.dtype).with_strides_of(value)
    if isinstance(value, (list, tuple)):
        return [describe_results(x) for x in value]
    return value


# Of a CPU kernel that is missing, or refuses half precision, which CUDA's may have; others refuse the arguments.
_NO_KERNEL = re.compile("Could not run|not implemented for '(Half|BFloat16)")


def infer_results(signature: Signature, values: Sequence[Any]) -> Any:
    """Call the Meta kernel of an overload and return what it gave.

    Raises:
        Whatever torch raises for these arguments on the CPU. Meta kernels written in Python word some errors in their
        own way and refuse what only CUDA refuses, so such a call is asked again of the CPU kernel: its answer counts.
    """
    try:
        read = signature.row.host_values
        found = [v.cpu() if n in read else to_meta(v) for n, v in zip(signature.names, values, strict=True)]
        return _call(signature, found)
    except Exception as error:
        refused = error
    if isinstance(refused, AssertionError) and signature.row.cpu_may_abort:
        raise RuntimeError(str(refused)) from None
    try:
        found = _call(signature, _to_host(values, blank=True))
    except NotImplementedError as error:  # of the dtype, or of the op
        raise (refused if _NO_KERNEL.search(str(error)) else error) from None
    except Exception:  # of the zeros, perhaps: the values decide
        if not no_jax_trace():
            raise refused from None
        try:
            found = _call(signature, _to_host(values, blank=False))
        except Exception as error:
            raise error from None
    if isinstance(refused, NotImplementedError):  # there is no Meta kernel: the lowering knows, zeros may not
        raise refused
    if no_jax_trace():
        raise_host_error(signature, values)  # some errors are those of a value
    return found


def infer_resized(signature: Signature, values: Sequence[Any], outputs: list[TensorSpec]) -> list[TensorSpec]:
    """The results of an `out=` overload whose tensors are resized, with the strides of fresh ones, as on the CPU.

    The Meta kernel of the functional overload is asked: those of `out=` overloads give contiguous results.
    """
    given = [i for i in range(len(values)) if i not in signature.outs]
    wanted = [(a.name, str(a.type)) for i, a in enumerate(signature.op._schema.arguments) if i in given]
    for name in signature.op.overloadpacket.overloads():
        op = getattr(signature.op.overloadpacket, name)
        if not op._schema.is_mutable and [(a.name, str(a.type)) for a in op._schema.arguments] == wanted:
            try:
                with DisableTorchFunction():
                    result = op(**{signature.arguments[i].name: to_meta(values[i]) for i in given})
            except Exception:  # of a call that only the CPU kernel takes
                return outputs
            fresh = describe_results(result if isinstance(result, (tuple, list)) else [result])
            return [o.restrided(f.stride) if o.size == f.size else o for o, f in zip(outputs, fresh, strict=True)]
    return outputs


def raise_host_error(signature: Signature, values: Sequence[Any], blank: bool = False) -> None:
    """Raise what the CPU kernel raises of these arguments (of zeros of their geometry, if `blank`), if it does."""
    try:
        _call(signature, _to_host(values, blank))
    except Exception as error:
        if not (isinstance(error, NotImplementedError) and _NO_KERNEL.search(str(error))):
            raise error from None


# What a lowering raises by accident, where torch may have words for the mistake.
LOWERING_ERRORS = (TypeError, ValueError, ZeroDivisionError)
SHARED = r"^unsupported operation:"
NO_SUCH_DIM = r"^Dimension out of range|Expected reduction dim"
_SMALL = 2**16  # elements, of which the CPU computes something at once
WRONG_DTYPE = r"dtype|scalar.type|cast|same type|tensor for result"


def raise_matching_host_error(signature: Signature, values: Sequence[Any], phrase: str = "") -> None:
    """Raise where the CPU kernel refuses arguments with a message that `phrase` matches.

    It is asked of zeros: what else it raises may be their fault. About dtypes, it is asked of small tensors first.
    """
    if phrase == WRONG_DTYPE and sum(t.numel() for t in _tensors(values)) > _SMALL:
        try:
            _call(signature, _to_host(_smaller(values), True))
            return
        except Exception as error:
            if re.search(phrase, str(error)):
                raise
    try:
        raise_host_error(signature, values, blank=True)
    except Exception as error:
        if re.search(phrase, str(error)):
            raise


def warn_of_resize(signature: Signature, values: Sequence[Any]) -> None:
    """Warn where the CPU kernel does when it resizes `out=` tensors that are not empty; some kernels say nothing."""
    try:
        _call(signature, _to_host(values, True))
    except Exception:  # of the zeros that stand for the values
        warnings.warn("An output with one or more elements was resized", UserWarning, stacklevel=2)


def _call(signature: Signature, values: list[Any]) -> Any:
    positional = signature.positional
    keywords = dict(zip(signature.names[positional:], values[positional:], strict=True))
    with DisableTorchFunction():  # a mode, such as a default device, would reach into kernels in Python
        return signature.op(*values[:positional], **keywords)


def _tensors(values: Sequence[Any]) -> list[torch.Tensor]:
    return [t for t in pytree.tree_leaves(list(values)) if isinstance(t, torch.Tensor)]


def _smaller(values: Sequence[Any]) -> list[Any]:
    """Arguments on the CPU, of sizes of at most 2, which fit each other as the given ones do where these broadcast."""
    made = {id(t): torch.zeros([min(n, 2) for n in t.shape], dtype=t.dtype, device="cpu") for t in _tensors(values)}
    return [[made.get(id(x), x) for x in v] if isinstance(v, (list, tuple)) else made.get(id(v), v) for v in values]


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

    made: dict[int, torch.Tensor] = {}  # a tensor that is passed twice is one tensor

    def convert(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in made:
                made[id(value)] = empty(value) if blank else value.cpu()
            return made[id(value)]
        return torch.device("cpu") if isinstance(value, torch.device) else value

    held = Counter(id(t.untyped_storage()) for t in _tensors(values))
    return [[convert(x) for x in v] if isinstance(v, (list, tuple)) else convert(v) for v in values]
