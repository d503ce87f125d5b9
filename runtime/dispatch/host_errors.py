"""Errors of the CPU kernel for calls that the device cannot execute, so that mistakes get torch's messages."""

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

_SMALL = 2**16  # elements; the CPU computes anything of this size quickly
_OF_ZEROS = "ZeroDivisionError"  # the message of integer division by the zeros used in place of the arguments
# The CPU kernel is missing, or lacks half precision, which CUDA may have; other errors are about the arguments.
_NO_KERNEL = re.compile("Could not run|not implemented for '(Half|BFloat16)")
_NO_CPU_KERNEL = re.compile("Could not run")


def raise_host_error(
    signature: Signature, values: Sequence[Any], blank: bool = False, missing: re.Pattern[str] = _NO_KERNEL
) -> None:
    """Raise the CPU kernel's error for these arguments, if any; with `blank`, for zeros of the same geometry.

    A `NotImplementedError` that matches `missing` says nothing about the arguments.
    """
    try:
        signature.call(_to_host(values, blank))
    except Exception as error:
        if not _is_missing(error, missing):
            raise error from None


def _is_missing(error: Exception, missing: re.Pattern[str]) -> bool:
    return isinstance(error, NotImplementedError) and missing.search(str(error)) is not None


def answer(signature: Signature, values: Sequence[Any], refused: Exception, of_dtypes: bool) -> Any:
    """The result of the CPU kernel for arguments that a Meta kernel rejected with the error `refused`.

    If there is no Meta kernel, or the error is about dtypes (`of_dtypes`), small tensors are tried before large ones.

    Raises:
        The CPU kernel's error, or `refused` if there is no CPU kernel.
    """
    if signature.cpu_may_abort and (isinstance(refused, AssertionError) or "broadcast" in str(refused)):
        raise RuntimeError(str(refused)) from None
    if (
        (of_dtypes or isinstance(refused, NotImplementedError))
        and _is_large(values)
        and _accepts_smaller(signature, values)
    ):
        raise NotImplementedError("no fake impl or Meta kernel for these arguments") from refused
    try:
        found = signature.call(_to_host(values, blank=True))
    except NotImplementedError as error:  # for the dtype, or the op
        raise (refused if _NO_KERNEL.search(str(error)) else error) from None
    except Exception as failed:  # perhaps only because of the zeros, so the actual values decide, if they are known
        if not no_jax_trace():
            of_zeros = type(failed).__name__ == "LinAlgError" or str(failed) == _OF_ZEROS
            raise (refused if of_zeros or isinstance(refused, NotImplementedError) else failed) from None
        try:
            found = signature.call(_to_host(values, blank=False))
        except Exception as error:
            raise error from None
    if isinstance(refused, NotImplementedError):  # no Meta kernel: infer from the lowering, not from a call with zeros
        raise refused
    if no_jax_trace():
        raise_host_error(signature, values)  # some errors depend on values
    return found


def raise_matching(
    signature: Signature, values: Sequence[Any], phrase: str, of_dtypes: bool, half: bool = True
) -> None:
    """Raise the CPU kernel's error for these arguments, if there is one and `phrase` matches its message.

    The kernel is called with zeros, which may cause errors with other messages. `of_dtypes` means that the phrase is
    about dtypes; then small tensors are tried before large ones, and are enough if the kernel accepts them.
    """
    missing = _NO_KERNEL if half else _NO_CPU_KERNEL
    if of_dtypes and _is_large(values):
        try:
            signature.call(_to_host(_smaller(values), True))
            return
        except Exception as error:
            if _is_missing(error, missing):
                return
            if re.search(phrase, str(error)):
                raise
    try:
        raise_host_error(signature, values, True, missing)
    except Exception as error:
        if str(error) != _OF_ZEROS and re.search(phrase, str(error)):
            raise


def warn_of_resize(signature: Signature, values: Sequence[Any]) -> None:
    """Warn if the CPU kernel warns when it resizes `out=` tensors that are not empty; some kernels do not."""
    try:
        signature.call(_to_host(values, True))
    except Exception:  # caused by the zeros used in place of the values
        warnings.warn("An output with one or more elements was resized", UserWarning, stacklevel=2)


def _tensors(values: Sequence[Any]) -> list[torch.Tensor]:
    return [t for t in pytree.tree_leaves(list(values)) if isinstance(t, torch.Tensor)]


def _is_large(values: Sequence[Any]) -> bool:
    return sum(t.numel() for t in _tensors(values)) > _SMALL


def _accepts_smaller(signature: Signature, values: Sequence[Any]) -> bool:
    try:
        signature.call(_to_host(_smaller(values), True))
    except Exception:
        return False
    return True


def _smaller(values: Sequence[Any]) -> list[Any]:
    """The arguments with small CPU tensors, whose axes have the same order in memory.

    Sizes beyond 1 become 8, 16, ... in their order: equal ones stay equal, and most that must be divisible or aligned
    are.
    """
    given = sorted({0, 1}.union(*(t.shape for t in _tensors(values))))
    shorter = {n: n if n < 2 else 8 * (i - 1) for i, n in enumerate(given)}

    def small(tensor: torch.Tensor) -> torch.Tensor:
        order = sorted(range(tensor.dim()), key=tensor.stride, reverse=True)
        sizes = [shorter[tensor.shape[d]] for d in order]
        return torch.zeros(sizes, dtype=tensor.dtype, device="cpu").permute([order.index(d) for d in range(len(order))])

    made = {id(t): small(t) for t in _tensors(values)}
    return [[made.get(id(x), x) for x in v] if isinstance(v, (list, tuple)) else made.get(id(v), v) for v in values]


def _to_host(values: Sequence[Any], blank: bool) -> list[Any]:
    """The arguments on the CPU; with `blank` as zeros, which share memory as the arguments do."""
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

    made: dict[int, torch.Tensor] = {}  # a tensor that is passed twice is converted once

    def convert(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in made:
                made[id(value)] = empty(value) if blank else value.cpu()
            return made[id(value)]
        return torch.device("cpu") if isinstance(value, torch.device) else value

    held = Counter(id(t.untyped_storage()) for t in _tensors(values))
    return [[convert(x) for x in v] if isinstance(v, (list, tuple)) else convert(v) for v in values]
