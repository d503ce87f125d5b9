"""Creation operators: tensors whose arrays are created when they are first read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from .._torch.tensors import meta_as_strided
from ..storage.avals import LazyFill, array_shape, aval_of, meshes, tensor_aval
from ..storage.cell import Cell
from ..storage.ordinals import NAME, NAMES, device_index
from ..storage.tensors import cell_of, fill_tensor, new_tensor
from ..trace.core import SYMBOLIC_TYPES
from .fill import conspicuous, fill_scalar
from .memory import Tensor


def empty(
    size: Sequence[int],
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
    memory_format: torch.memory_format | None = None,
) -> Tensor:
    if pin_memory:
        raise RuntimeError(f"empty: Only dense CPU tensors can be pinned; expected pin_memory=False on device {NAME!r}")
    if layout not in (None, torch.strided):
        raise NotImplementedError(f"empty: layout {layout} is not available on device {NAME!r}; expected torch.strided")
    if any(n < 0 for n in size):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    if memory_format in (None, torch.contiguous_format, torch.preserve_format):
        dtype = dtype or torch.get_default_dtype()
        value = conspicuous(dtype) if torch.are_deterministic_algorithms_enabled() else 0
        return fill_tensor(size, dtype, value, device_index(device))
    like = torch.empty(size, device="meta", memory_format=memory_format)
    return empty_strided(size, like.stride(), dtype=dtype, device=device)


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    if pin_memory:
        raise RuntimeError("empty_strided: Only dense CPU tensors can be pinned; expected pin_memory=False")
    dtype, index = dtype or torch.get_default_dtype(), device_index(device)
    n = 1 + sum((a - 1) * b for a, b in zip(size, stride, strict=True)) if 0 not in size else 0
    if n == math.prod(size):
        # Dense: the cell keeps the array in memory order, so that reading a permuted tensor is a transpose, no gather.
        order = sorted(range(len(size)), key=lambda d: (-stride[d], -size[d], d))
        cell = Cell(tensor_aval(array_shape([size[d] for d in order]), dtype).zeros, index)
    else:
        cell = Cell(tensor_aval((n,), dtype).zeros, index)
    tensor = new_tensor(cell, size, dtype)
    if tensor.stride() != tuple(stride):
        tensor = meta_as_strided(tensor, size, stride, 0)
    return fill_scalar(tensor, conspicuous(dtype)) if torch.are_deterministic_algorithms_enabled() else tensor


def make_dep_token(**options: Any) -> Tensor:
    return empty((), **options)


def full(
    size: Sequence[int],
    fill_value: Any,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """Lazy like `empty`: the array is created when it is first read."""
    if dtype is None:
        kinds = {bool: torch.bool, int: torch.int64, complex: torch.get_default_dtype().to_complex()}
        dtype = kinds.get(SYMBOLIC_TYPES.get(type(fill_value), type(fill_value)), torch.get_default_dtype())
    return _filled(empty(size, dtype, layout, device, pin_memory), fill_value)


def _filled(new: Tensor, value: Any) -> Tensor:
    """Fill a new tensor; it already has zeros, unless deterministic mode fills uninitialized memory."""
    if new.device.type not in NAMES:
        return new.fill_(value)
    zero = type(value) is int and value == 0 and not torch.are_deterministic_algorithms_enabled()
    return new if zero else fill_scalar(new, value)


def zeros(size: Sequence[int], dtype: torch.dtype | None = None, **options: Any) -> Tensor:
    return full(size, 0, dtype or torch.get_default_dtype(), **options)


def ones(size: Sequence[int], dtype: torch.dtype | None = None, **options: Any) -> Tensor:
    return full(size, 1, dtype or torch.get_default_dtype(), **options)


def scalar_tensor(s: Any, dtype: torch.dtype | None = None, **options: Any) -> Tensor:
    return full((), s, dtype or torch.get_default_dtype(), **options)


def zeros_like(self: Tensor, *args: Any, **options: Any) -> Tensor:
    return full_like(self, 0, *args, **options)


def ones_like(self: Tensor, *args: Any, **options: Any) -> Tensor:
    return full_like(self, 1, *args, **options)


def full_like(self: Tensor, fill_value: Any, *args: Any, **options: Any) -> Tensor:
    return _filled(empty_like(self, *args, **options), fill_value)


def empty_like(
    self: Tensor,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
    memory_format: torch.memory_format | None = None,
) -> Tensor:
    dtype = dtype or self.dtype
    device = device or self.device
    if device.type not in NAMES:
        like = torch.empty_strided(self.size(), self.stride(), dtype=self.dtype, device="meta")
        return torch.empty_like(
            like, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory, memory_format=memory_format
        )
    if memory_format in (None, torch.preserve_format) and self.is_contiguous():
        new = empty(self.size(), dtype, layout, device, pin_memory)
        if new.stride() == self.stride():  # those of an axis of one element may be any, and are kept
            return _placed_like(self, new)
    like = torch.clone(torch.empty_strided(self.size(), self.stride(), device="meta"), memory_format=memory_format)
    return _placed_like(self, empty_strided(self.size(), like.stride(), dtype, layout, device, pin_memory))


def _placed_like(source: Tensor, new: Tensor) -> Tensor:
    """Put a new tensor on the mesh of the source if their arrays have the same shape."""
    if not meshes.used:
        return new
    try:
        aval, cell = source.untyped_storage().cell.aval, cell_of(new)  # type: ignore[attr-defined]
    except (AttributeError, RuntimeError):  # a CPU tensor, or a torch wrapper
        return new
    if aval.sharding is not None and cell.shape == aval.shape and not cell.index:
        placed, fill = aval_of(cell.shape, cell.dtype, aval.sharding), cell.content
        cell.write(LazyFill(placed, fill.value) if isinstance(fill, LazyFill) else placed.zeros)
    return new


def new_empty(
    self: Tensor, size: Sequence[int], dtype: torch.dtype | None = None, device: Any = None, **options: Any
) -> Tensor:
    device = torch.device(device or self.device)
    if device.type not in NAMES:
        return torch.empty(size, dtype=dtype or self.dtype, device=device, **options)
    return _placed_like(self, empty(size, dtype or self.dtype, device=device, **options))


def new_empty_strided(
    self: Tensor, size: Sequence[int], stride: Any, dtype: torch.dtype | None = None, device: Any = None, **options: Any
) -> Tensor:
    device = torch.device(device or self.device)
    if device.type not in NAMES:
        return torch.empty_strided(size, stride, dtype=dtype or self.dtype, device=device, **options)
    return _placed_like(self, empty_strided(size, stride, dtype or self.dtype, device=device, **options))


def new_full(self: Tensor, size: Sequence[int], fill_value: Any, **options: Any) -> Tensor:
    return _filled(new_empty(self, size, **options), fill_value)


def new_zeros(self: Tensor, size: Sequence[int], **options: Any) -> Tensor:
    return new_full(self, size, 0, **options)


def new_ones(self: Tensor, size: Sequence[int], **options: Any) -> Tensor:
    return new_full(self, size, 1, **options)
