"""Creation operators: tensors whose arrays are made when they are first read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from .._torch.tensors import meta_as_strided
from ..storage.avals import array_shape, tensor_aval
from ..storage.cell import Cell
from ..storage.ordinals import device_index
from ..storage.tensors import fill_tensor, new_tensor
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
        raise RuntimeError("empty: Only dense CPU tensors can be pinned; expected pin_memory=False on device 'jax'")
    if layout not in (None, torch.strided):
        raise NotImplementedError(f"empty: layout {layout} is not available on device 'jax'; expected torch.strided")
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
    dtype = dtype or torch.get_default_dtype()
    index = device_index(device)
    n = 1 + sum((a - 1) * b for a, b in zip(size, stride, strict=True)) if 0 not in size else 0
    if n == math.prod(size):
        # Dense: the cell keeps the array in memory order, so that a permuted tensor is a transpose and no gather.
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
    """Lazy like `empty`: the array is made when it is first read."""
    if dtype is None:
        kinds = {bool: torch.bool, int: torch.int64, complex: torch.get_default_dtype().to_complex()}
        dtype = kinds.get(fill_value.__class__, torch.get_default_dtype())
    out = empty(size, dtype, layout, device, pin_memory)
    zero = fill_value.__class__ is int and fill_value == 0 and not torch.are_deterministic_algorithms_enabled()
    return out if zero else fill_scalar(out, fill_value)


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


def full_like(
    self: Tensor,
    fill_value: Any,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
    memory_format: torch.memory_format | None = None,
) -> Tensor:
    dtype = dtype or self.dtype
    device = device or self.device
    if memory_format in (None, torch.preserve_format) and self.is_contiguous():
        return full(self.size(), fill_value, dtype, layout, device, pin_memory)
    like = torch.empty_like(torch.empty_strided(self.size(), self.stride(), device="meta"), memory_format=memory_format)
    return fill_scalar(empty_strided(self.size(), like.stride(), dtype, layout, device, pin_memory), fill_value)
