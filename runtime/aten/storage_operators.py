"""Operators on the memory of a tensor, not only on its elements, which most programs never call: they change its
storage, or that storage's size, or return a copy of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from .._torch.tensors import meta_set
from ..dtypes import numpy_dtype, torch_dtype
from ..storage.avals import LazyFill, tensor_aval
from ..storage.cell import Cell
from ..storage.tensors import NAME, cell_of, fill_tensor, new_tensor
from ..trace.data_swaps import record_swap, set_geometry
from .factories import conspicuous
from .memory import Tensor, check_bounds, elements
from .registry import kernel_of


def resize_(self: Tensor, size: Sequence[int], memory_format: torch.memory_format | None = None) -> Tensor:
    if tuple(size) == tuple(self.shape) and memory_format is None:
        return self  # strides stay
    if any(n < 0 for n in size):
        raise RuntimeError(f"resize_: requested size {list(size)} has a negative dimension")
    stride = torch.empty(size, device="meta", memory_format=memory_format or torch.contiguous_format).stride()
    need = math.prod(size) + int(self.storage_offset())
    storage = self.untyped_storage()
    if math.prod(size):
        filled = torch.are_deterministic_algorithms_enabled()
        value = conspicuous(torch_dtype(cell_of(self).dtype)) if filled else 0
        storage = holding(storage, cell_of(self), need, self.dtype, value)
    return set_geometry(self, size, stride, int(self.storage_offset()), storage)


def holding(storage: Any, cell: Cell, count: int, dtype: torch.dtype, value: Any = 0) -> Any:
    """A storage of the cell with room for `count` elements of `dtype`: its content, padded with `value`."""
    import jax
    import jax.numpy as jnp

    kind = numpy_dtype(dtype)
    if count * kind.itemsize <= cell.nbytes:
        return storage
    fill = cell.content.value if isinstance(cell.content, LazyFill) else None
    if not cell.nbytes or fill == value:
        cell.write(LazyFill(tensor_aval((count,), dtype), value))
    else:
        flat = cell.read().reshape(-1)
        extra = math.ceil(count * kind.itemsize / flat.dtype.itemsize) - flat.size
        with jax.enable_x64(True):
            cell.write(jnp.concatenate([flat, jnp.full(extra, value, flat.dtype)]))
    if storage.resizable():
        return storage
    return new_tensor(cell, [count], dtype).untyped_storage()  # a second storage of the same cell


def set_storage(
    self: Tensor, source: Any, storage_offset: int = 0, size: Sequence[int] | None = None, stride: Any = None
) -> Tensor:
    cell = getattr(source, "cell", None)
    if cell is None:
        raise RuntimeError(f"set_: Expected a storage on device {NAME}, got one on {source.device}")
    available = cell.nbytes // self.element_size()
    if size is None:
        size, stride = [available], [1]
    contiguous = torch.empty(size, device="meta").stride()
    if stride is None or not len(stride):
        stride = contiguous
    covers = tuple(stride) == contiguous and math.prod(size) == available and not storage_offset
    adopt(cell, self.dtype, size if covers else [available])
    need = 0 if 0 in size else storage_offset + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    check_bounds("set_", size, stride, storage_offset, max(need, available))
    record_swap(self)
    source = holding(source, cell, need, self.dtype)
    return meta_set(self, source, storage_offset, size, stride)


def adopt(cell: Cell, dtype: torch.dtype, shape: Sequence[int]) -> None:
    """Convert raw bytes to the dtype and shape of the first tensor set on them; mark a storage of another dtype as
    mixed."""
    from ..kernels.bitcast import bitcast

    kind = numpy_dtype(dtype)
    if cell.dtype == kind:
        return
    if cell.dtype.name == "uint8" and not cell.mixed and cell.nbytes % kind.itemsize == 0:
        cell.write(bitcast(cell.read().reshape(-1), kind).reshape(tuple(shape)))
    else:
        cell.mix()


def set_tensor(self: Tensor, source: Tensor) -> Tensor:
    return set_storage(
        self, source.untyped_storage(), int(source.storage_offset()), list(source.shape), list(source.stride())
    )


def set_none(self: Tensor) -> Tensor:
    fresh = fill_tensor([0], self.dtype, index=cell_of(self).index)
    record_swap(self)
    return meta_set(self, fresh.untyped_storage(), 0, [0], [1])


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    if self.untyped_storage() is not tensor.untyped_storage() or self.storage_offset() != tensor.storage_offset():
        return False
    return self.shape == tensor.shape and self.stride() == tensor.stride()


def as_strided_scatter(
    self: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """A copy of `self` in a copy of its memory, with a strided window replaced by `src`.

    Raises:
        RuntimeError: `self` requires a gradient and is not contiguous: torch has no derivative for that.
    """
    if self.requires_grad and not self.is_contiguous():
        raise RuntimeError(
            "as_strided_scatter is currently only supported for contiguous inputs that require a gradient"
        )
    if _covers(self) and len(size) == len(stride) and not _repeats(size, stride):
        return kernel_of("as_strided_scatter")(self, src, size, stride, storage_offset)
    copied = _copied(self)
    copied.as_strided(size, stride, storage_offset).copy_(src)
    return copied


def as_strided_scatter_out(
    self: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
    *,
    out: Tensor,
) -> Tensor:
    """As `as_strided_scatter`, copied into `out`."""
    result = as_strided_scatter(self, src, size, stride, storage_offset)
    return out.resize_(result.size()).copy_(result) if out.size() != result.size() else out.copy_(result)


def copy(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """A copy of the memory of `self` with the values of `src`: functionalized programs take views of its result."""
    if _covers(self):
        return kernel_of("copy")(self, src)
    copied = _copied(self)
    copied.copy_(src)
    return copied


def foreach_copy(self: list[Tensor], src: list[Tensor], non_blocking: bool = False) -> list[Tensor]:
    """As `copy`, for each pair."""
    return [torch.ops.aten.copy.default(x, y) for x, y in zip(self, src, strict=True)]


def _covers(x: Tensor) -> bool:
    return x.is_contiguous() and x.numel() == elements(x)


def _copied(x: Tensor) -> Tensor:
    """The tensor on a copy of its memory."""
    if _repeats(x.size(), x.stride()):
        return x.clone()
    memory = x.as_strided((elements(x),), (1,), 0).clone()
    return memory.as_strided(x.size(), x.stride(), x.storage_offset())


def _repeats(size: Sequence[int], stride: Sequence[int]) -> bool:
    return any(n > 1 and step == 0 for n, step in zip(size, stride, strict=True))
