"""Counts events in which a tensor may have moved to another storage or changed its geometry in place.

Code that has looked up the cells and geometries of many tensors need not do so again while `count` is unchanged. A
tensor moves to another storage by `set_`, by an assignment to `.data` (torch first asks the device whether the two are
compatible), and by `swap_tensors`. Its geometry changes by `resize_`, `as_strided_`, `t_` and the like. A running trace
is notified of the tensor that is about to change.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import torch

from .. import patches
from .._torch.tensors import may_share_implementation, meta_set, swap_implementations
from ..errors import TraceError
from ..storage.mutation import mutation_epoch
from ..storage.tensors import cell_of
from .core import current_trace, is_unknown

_numbers = itertools.count(1)
count = 0


def record_swap(tensor: torch.Tensor) -> None:
    """Count a swap that is about to happen, and notify the running trace."""
    global count
    count = next(_numbers)
    mutation_epoch.advance()
    trace = current_trace()
    if trace is not None:
        trace.moving(tensor)


def record_growth() -> None:
    """Count a storage that a compiled step has resized."""
    global count
    count = next(_numbers)


def set_geometry(
    tensor: torch.Tensor, size: Sequence[int], stride: Sequence[int], offset: int, storage: Any = None
) -> torch.Tensor:
    """Change the geometry of a device tensor in place, on its storage or on another one of the same cell."""
    global count
    storage = tensor.untyped_storage() if storage is None else storage
    trace = current_trace()
    if trace is not None:
        trace.reshaping(tensor)
    if storage.cell.observed:
        count = next(_numbers)
    mutation_epoch.advance()
    return meta_set(tensor, storage, offset, size, stride)


def swap(a: torch.Tensor, b: torch.Tensor) -> None:
    """Exchange the implementations of two tensors, for everything that holds them.

    Raises:
        TraceError: while a function is traced, except where a CPU tensor of known value, which it made, is moved.
    """
    if current_trace() is not None and (not a.is_cpu or b.is_cpu or is_unknown(cell_of(b).content)):
        raise TraceError("tensors are swapped while a function is traced; copy their data instead")
    record_swap(a)
    swap_implementations(a, b)


def _has_compatible_shallow_copy_type(self: torch.Tensor, source: torch.Tensor) -> Any:
    record_swap(self)
    # Except for dense tensors of built-in devices, which it moves between them, torch compares dispatch keys. These
    # differ between devices, and for tensors with lazy bits or made in inference mode. A trace moves nothing.
    may_move = self.device == source.device or current_trace() is None
    return (may_move and _is_dense(self) and _is_dense(source)) or may_share_implementation(self, source)


def _is_dense(tensor: torch.Tensor) -> bool:
    return tensor.device.type != "meta" and tensor.layout is torch.strided and not tensor.is_nested


def install(library: Any) -> None:
    """Install the counting of assignments to `.data` and of swaps."""
    name = "_has_compatible_shallow_copy_type"
    library.impl(name, _has_compatible_shallow_copy_type, "PrivateUse1")
    # torch's fallbacks for lazy bits would pass a copy instead of the tensor.
    for key in ("AutogradPrivateUse1", "Conjugate", "Negative"):
        library.impl(name, torch.library.fallthrough_kernel, key)
    patches.replace("torch._C._swap_tensor_impl", swap)
