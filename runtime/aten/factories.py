"""Creation operators, and fills of whole tensors with one number: arrays that are created when they are first read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from .._torch.tensors import meta_as_strided
from ..dtypes import holds, numpy_dtype
from ..storage.avals import LazyFill, array_shape, aval_of, meshes, tensor_aval
from ..storage.cell import Cell
from ..storage.ordinals import NAME, NAMES, device_index
from ..storage.spec import lazy_bits
from ..storage.tensors import cell_of, fill_tensor, new_tensor
from ..trace.core import SYMBOLIC_TYPES
from .memory import Tensor
from .registry import kernel_of

_NUMBERS = frozenset({bool, int, float, complex})
_ROUNDED_ONCE = {float: 1e38, int: 1 << 53}  # below these, NumPy and torch convert to float32 and float64 alike


def empty(
    size: Sequence[int],
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
    memory_format: torch.memory_format | None = None,
) -> Tensor:
    _check_options(size, layout, pin_memory)
    if memory_format in (None, torch.contiguous_format, torch.preserve_format):
        dtype = dtype or torch.get_default_dtype()
        value = conspicuous(dtype) if torch.are_deterministic_algorithms_enabled() else 0
        return fill_tensor(size, dtype, value, device_index(device))
    like = torch.empty(size, device="meta", memory_format=memory_format)
    return empty_strided(size, like.stride(), dtype=dtype, device=device)


def _check_options(size: Sequence[int], layout: torch.layout | None, pin_memory: bool | None) -> None:
    if pin_memory:
        raise RuntimeError(f"empty: Only dense CPU tensors can be pinned; expected pin_memory=False on device {NAME!r}")
    if layout not in (None, torch.strided):
        raise NotImplementedError(f"empty: layout {layout} is not available on device {NAME!r}; expected torch.strided")
    if size and min(size) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")


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
    if len(size) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})"
        )
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


make_dep_token = partial(empty, ())


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
    if type(fill_value) not in _NUMBERS:
        return fill_scalar(empty(size, dtype, layout, device, pin_memory), fill_value)
    _check_options(size, layout, pin_memory)
    zero = type(fill_value) is int and fill_value == 0  # of any dtype
    value = fill_value if zero else converted(fill_value, dtype, math.prod(size))
    return fill_tensor(size, dtype, value, device_index(device))


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


def full_like(self: Tensor, fill_value: Any, **options: Any) -> Tensor:
    return _filled(empty_like(self, **options), fill_value)


zeros_like = partial(full_like, fill_value=0)
ones_like = partial(full_like, fill_value=1)


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


new_zeros = partial(new_full, fill_value=0)
new_ones = partial(new_full, fill_value=1)


def fill_whole(self: Tensor, value: Any) -> bool:
    """Fill a tensor that covers its whole storage, without computing; False if the fill needs a computation."""
    cell = cell_of(self)
    if cell.mixed or lazy_bits(self) or self.numel() * self.element_size() != cell.nbytes:
        return False
    if not self.is_contiguous() and not torch.ops.aten.is_non_overlapping_and_dense.default(self):
        return False
    if type(value) not in _NUMBERS:
        return False
    cell.replace(LazyFill(cell.aval, value))
    return True


def converted(value: Any, dtype: torch.dtype, count: int) -> Any:
    """Convert a Python number to the value that the `count` elements of a tensor would have on the CPU.

    Raises:
        RuntimeError: the dtype cannot hold the number.
    """
    kind = numpy_dtype(dtype)
    most = _ROUNDED_ONCE.get(type(value))
    if most is not None and kind.char in "fd" and -most < value < most:  # common, and ten times faster
        return kind.type(value).item()
    if type(value) is int and kind.kind == "i" and holds(kind, value):
        return value
    filled = torch.full((min(count, 2),), value, dtype=dtype, device="cpu")  # one element has rules of its own
    return filled[0].item() if count else 0


def fill_scalar(self: Tensor, value: Any) -> Tensor:
    if type(value) in _NUMBERS:
        value = converted(value, self.dtype, self.numel())
    if not fill_whole(self, value):
        kernel_of("fill_.Scalar")(self, value)
    return self


def conspicuous(dtype: torch.dtype) -> Any:
    """The value of uninitialized elements in torch's deterministic mode: NaN or the greatest integer, which exposes
    programs that read them; zero if `torch.utils.deterministic.fill_uninitialized_memory` is off."""
    if not torch.utils.deterministic.fill_uninitialized_memory:  # type: ignore[attr-defined]
        return 0
    if dtype.is_floating_point or dtype.is_complex:
        return math.nan
    return True if dtype is torch.bool else torch.iinfo(dtype).max


zero = partial(fill_scalar, value=0)
