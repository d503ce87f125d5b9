"""What the CPU kernel raises of a call that the device cannot carry out, so that a mistake has torch's words."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch

from .._torch import pytree
from ..storage.placement import no_jax_trace
from .signature import Signature

_SMALL = 2**16  # elements, of which the CPU computes something at once
_OF_ZEROS = "ZeroDivisionError"  # what integer division says of the zeros that stand for the arguments
# Of a CPU kernel that is missing, or refuses half precision, which CUDA's may have; others refuse the arguments.
_NO_KERNEL = re.compile("Could not run|not implemented for '(Half|BFloat16)")


def raise_host_error(signature: Signature, values: Sequence[Any], blank: bool = False) -> None:
    """Raise what the CPU kernel raises of these arguments (of zeros of their geometry, if `blank`), if it does."""
    try:
        signature.call(_to_host(values, blank))
    except Exception as error:
        if not (isinstance(error, NotImplementedError) and _NO_KERNEL.search(str(error))):
            raise error from None


def answer(signature: Signature, values: Sequence[Any], refused: Exception) -> Any:
    """What the CPU kernel gives for arguments that a Meta kernel refused with an error.

    Raises:
        What the CPU kernel raises, or the error itself where there is no CPU kernel.
    """
    if isinstance(refused, AssertionError) and signature.row.cpu_may_abort:
        raise RuntimeError(str(refused)) from None
    try:
        found = signature.call(_to_host(values, blank=True))
    except NotImplementedError as error:  # of the dtype, or of the op
        raise (refused if _NO_KERNEL.search(str(error)) else error) from None
    except Exception:  # of the zeros, perhaps: the values decide
        if not no_jax_trace():
            raise refused from None
        try:
            found = signature.call(_to_host(values, blank=False))
        except Exception as error:
            raise error from None
    if isinstance(refused, NotImplementedError):  # there is no Meta kernel: the lowering knows, zeros may not
        raise refused
    if no_jax_trace():
        raise_host_error(signature, values)  # some errors are those of a value
    return found


def raise_matching(signature: Signature, values: Sequence[Any], phrase: str, of_dtypes: bool) -> None:
    """Raise where the CPU kernel refuses arguments with a message that `phrase` matches.

    It is asked of zeros: what else it raises may be their fault. `of_dtypes` says that the phrase is one about
    dtypes, and then it is asked of small tensors first.
    """
    if of_dtypes and sum(t.numel() for t in _tensors(values)) > _SMALL:
        try:
            signature.call(_to_host(_smaller(values), True))
            return
        except Exception as error:
            if re.search(phrase, str(error)):
                raise
    try:
        raise_host_error(signature, values, blank=True)
    except Exception as error:
        if str(error) != _OF_ZEROS and re.search(phrase, str(error)):
            raise


def warn_of_resize(signature: Signature, values: Sequence[Any]) -> None:
    """Warn where the CPU kernel does when it resizes `out=` tensors that are not empty; some kernels say nothing."""
    try:
        signature.call(_to_host(values, True))
    except Exception:  # of the zeros that stand for the values
        warnings.warn("An output with one or more elements was resized", UserWarning, stacklevel=2)


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
