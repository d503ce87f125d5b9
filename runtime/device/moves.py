"""When a tensor may have come to another storage: counted.

Who knows the cells of many tensors need not look at each of them as long as `count` is what it was. A tensor comes to
another storage by `set_`, by an assignment to `.data`, before which torch asks the device whether the two agree, and by
`torch.utils.swap_tensors`, which asks nobody. A trace is told which tensor is about to.
"""

from __future__ import annotations

import itertools
from typing import Any

import torch

from ..errors import TraceError
from ..tracing.trace import current
from .cell import writes

_compatible = torch.ops.aten._has_compatible_shallow_copy_type.default
_numbers = itertools.count(1)
count = 0


def moving(tensor: torch.Tensor) -> None:
    """Count a move that is about to be made."""
    global count
    count = next(_numbers)
    writes.note()
    trace = current()
    if trace is not None:
        trace.moving(tensor)


def _has_compatible_shallow_copy_type(self: torch.Tensor, source: torch.Tensor) -> Any:
    moving(self)
    return _compatible._op_dk(torch._C.DispatchKey.CompositeImplicitAutograd, self, source)


def install(library: Any) -> None:
    """Have assignments to `.data` and swaps counted."""
    name = "_has_compatible_shallow_copy_type"
    library.impl(name, _has_compatible_shallow_copy_type, "PrivateUse1")
    library.impl(name, torch.library.fallthrough_kernel, "AutogradPrivateUse1")
    plain = torch._C._swap_tensor_impl

    def swap(a: torch.Tensor, b: torch.Tensor) -> None:
        if current() is not None:
            raise TraceError("tensors are swapped while a function is traced; copy their data instead")
        moving(a)
        plain(a, b)

    torch._C._swap_tensor_impl = swap  # type: ignore[assignment]
