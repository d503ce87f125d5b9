"""Operators: their classes, those that libraries define in Python, overloads that the runtime uses, their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..releases import private_names

with private_names("torch", torch.__version__):
    from torch._decomp import decomposition_table as decomposition_table
    from torch._library.custom_ops import OPDEFS as OPDEFS  # created by `torch.library.custom_op`, by name
    from torch._library.custom_ops import CustomOpDef as CustomOpDef
    from torch._ops import HigherOrderOperator as HigherOrderOperator
    from torch._ops import OpOverload as OpOverload
    from torch._ops import OpOverloadPacket as OpOverloadPacket
    from torch._prims_common import suggest_memory_format as suggest_memory_format
    from torch._prims_common import wrappers as _wrappers
    from torch.optim import adam as _adam

    maybe_resize_out = _wrappers._maybe_resize_out
    safe_copy_out = _wrappers._safe_copy_out
    # (info, name, is_matrix): raises the error of a factorization whose `info` is not 0
    check_factorization = torch._linalg_check_errors
    fused_adam: Callable[..., None] = _adam._fused_adam  # the step of Adam by torch's fused operator

# Overloads that the runtime calls, or looks for in graphs.
CLONE = torch.ops.aten.clone.default
COPY_INTO = torch.ops.aten.copy_.default
EMPTY_STRIDED = torch.ops.aten.empty_strided.default
INDEX = torch.ops.aten.index.Tensor
ITEM = torch.ops.aten._local_scalar_dense.default
TO_COPY = torch.ops.aten._to_copy.default
VIEW_AS_DTYPE = torch.ops.aten.view.dtype

# Names by which captured graphs call methods and operators.
BY_POSITION = ("as_strided", "as_strided_")  # views that start at a position of the storage
DETACHES = "detach"
MOVES = "as_strided_"
SETS_DATA = "set_"
WINDOWS = "unfold"


def is_foreach(name: str) -> bool:
    """Whether an operator computes each element of its lists as if there were no others."""
    return name.startswith("_foreach_")


def on_tensors(name: str, operands: Sequence[Any]) -> Callable[..., Any] | None:
    """The function of tensors that an operator on lists (`_foreach_add_`) applies to each.

    None if there is none, or if the operator on lists has no derivative.
    """
    method = name.removeprefix("_foreach_")
    if method in (name, "copy_"):
        return None
    if method in ("addcdiv_", "addcmul_"):
        return lambda x, a, b, value=1: getattr(x, method)(a, b, value=value)
    if method in ("maximum_", "minimum_"):
        function = getattr(torch, method[:-1])
        of_tensors = all(isinstance(x, torch.Tensor) for x in operands)
        return (lambda x, y: x.copy_(function(x.clone(), y))) if of_tensors else None
    return getattr(torch.Tensor, method, None)


# The module in which torch creates the autograd functions of library-defined operators.
OPERATOR_AUTOGRAD_MODULE = "torch._library.autograd"


def overload_named(name: str) -> Any:
    """The overload of a name such as `library::name.overload`; without a library, one of aten."""
    packet, _, overload = name.partition(".")
    namespace, _, packet = packet.rpartition("::")
    return getattr(getattr(getattr(torch.ops, namespace or "aten"), packet), overload or "default")


def forget_dispatch(operator: str) -> None:
    """Clear an overload's kernel cache in torch's Python dispatcher, which is used to trace graphs."""
    with private_names("torch", torch.__version__):
        overload_named(operator)._dispatch_cache.clear()
