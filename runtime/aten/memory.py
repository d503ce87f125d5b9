"""Operators that manage memory: views and copies.

torch's other views reach `as_strided` or `view` through C++ composites. A geometry that was seen before is not checked
or computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .._torch.dispatcher import COMPOSITE_EXPLICIT, META, NON_FUNCTIONAL, kernel_on
from .._torch.tensors import displaced, in_inference, meta_as_strided, view_as_dtype
from ..dtypes import numpy_dtype
from ..storage.ordinals import NAME, device_index
from ..storage.spec import TensorSpec, lazy_bits
from ..storage.tensors import cell_of, covers_array, fill_tensor, new_tensor
from ..trace.core import is_unknown, require_known
from ..trace.data_swaps import set_geometry
from ..trace.transfer import checked_read, download, move, overwrite, transfers
from ..xla.memory import on_eviction
from .registry import kernel_of

_aten = torch.ops.aten
Tensor = torch.Tensor


def elements(tensor: Tensor) -> int:
    """The capacity of the tensor's storage, in elements of the tensor's dtype."""
    cell = cell_of(tensor)
    return cell.nbytes // tensor.element_size()


def check_bounds(op: str, size: Sequence[int], stride: Sequence[int], offset: int, available: int) -> None:
    if offset < 0:
        raise RuntimeError(f"{op}: Tensor: invalid storage offset {offset}")
    if any(s < 0 for s in stride):
        raise RuntimeError(f"{op}: Negative strides are not supported at the moment, got strides: {list(stride)}")
    if 0 in size:
        return
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if last >= available:
        raise RuntimeError(
            f"{op}: setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset} are out of bounds "
            f"for storage of {available} elements"
        )


_HELD = 1 << 16
_in_bounds: set[Any] = set()
_geometries: dict[Any, tuple[tuple[int, ...], tuple[int, ...]]] = {}  # sizes and strides of results of `view`
on_eviction += [_in_bounds.clear, _geometries.clear]
_view_of_size = kernel_on(_aten.view.default, META)


def as_strided(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    begin: Any = self.storage_offset()
    offset = begin if storage_offset is None else storage_offset
    cell = cell_of(self)
    key = (cell.aval, *size, *stride, offset)
    if key in _in_bounds and not cell.mixed and len(size) == len(stride) and self.is_inference() is in_inference():
        return displaced(self, (*size,), (*stride,), offset - begin)
    if len(size) != len(stride):
        raise RuntimeError(f"mismatch in length of strides and shape: {list(size)}, {list(stride)}")
    check_bounds("as_strided", size, stride, offset, elements(self))
    if not cell.mixed and len(_in_bounds) < _HELD:
        _in_bounds.add(key)
    return meta_as_strided(self, size, stride, offset)


def view(self: Tensor, size: Any) -> Tensor:
    key = (self.size(), self.stride(), *size)
    known = _geometries.get(key)
    if known is not None and self.is_inference() is in_inference():
        return displaced(self, *known, 0)
    made: Tensor = _view_of_size(self, size)
    if len(_geometries) < _HELD:
        _geometries[key] = (*made.size(),), made.stride()
    return made


def as_strided_(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """`squeeze_`, `unsqueeze_`, `t_` and `transpose_` call this."""
    offset = int(self.storage_offset()) if storage_offset is None else storage_offset
    if not hasattr(self.untyped_storage(), "cell"):  # a wrapper of torch.compile, which has only a geometry
        return _set_strides(self, size, stride, offset)
    check_bounds("as_strided_", size, stride, offset, elements(self))
    return set_geometry(self, size, stride, offset)


_set_strides = kernel_on(_aten.as_strided_.default, NON_FUNCTIONAL)


def view_dtype(self: Tensor, dtype: torch.dtype) -> Tensor:
    numpy_dtype(dtype)
    out = view_as_dtype(self, dtype)
    if dtype != self.dtype:
        cell_of(self).mix()
    return out


def _complex_view(op: Any) -> Callable[..., Tensor]:
    kernel = kernel_on(op, META)

    def view(self: Tensor) -> Tensor:
        out = kernel(self)
        numpy_dtype(out.dtype)  # raises for half precision: JAX has no complex32
        cell_of(self).mix()
        return out

    return view


def copy_from(self: Tensor, dst: Tensor, non_blocking: bool = False) -> Tensor:
    """Copy between two tensors of which at least one is on the device."""
    if dst.device.type != NAME:
        if dst.device.type != "cpu":
            raise NotImplementedError(f"copy_: from {self.device} to {dst.device} is not possible; go by the CPU")
        download(self, dst)
        return dst
    if self.device.type == NAME:
        source, target = cell_of(self), cell_of(dst)
        if source.index != target.index:
            self = move(self, target)
        kernel_of("copy_")(dst, self)
        return dst
    if self.device.type != "cpu":
        raise NotImplementedError(f"copy_: from {self.device} to {dst.device} is not possible; go by the CPU")
    if not overwrite(dst, self):
        staged = fill_tensor(self.shape, dst.dtype, index=cell_of(dst).index)
        overwrite(staged, self)
        kernel_of("copy_")(dst, staged)
    return dst


def copy(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    source, target = getattr(src.untyped_storage(), "cell", None), getattr(self.untyped_storage(), "cell", None)
    if source is None or target is None or source.index != target.index:
        return copy_from(src, self, non_blocking)
    one = source is target
    if not one and source.aval is target.aval and covers_array(self, target) and covers_array(src, source):
        target.take(source)
    elif not one or not _has_same_places(self, src):
        kernel_of("copy_")(self, src)
    return self


def _has_same_places(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors on one storage have the same elements, so that a copy is a no-op, even if expanded."""
    first, second = TensorSpec.of(a), TensorSpec.of(b)
    # `y[...] = x` expands a 0-d `x`; on the CPU that is a fill of `y`, which overlap does not prevent.
    expanded = a.numel() == 1 and not any(second.stride)
    return first == (second.restrided(first.stride) if expanded else second)


_to_copy = kernel_on(_aten._to_copy.default, COMPOSITE_EXPLICIT)


def to_copy(
    self: Tensor,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | None = None,
    non_blocking: bool = False,
    memory_format: torch.memory_format | None = None,
    layout: torch.layout | None = None,
    **options: Any,
) -> Tensor:
    """The copy behind `Tensor.to`. A copy to the host is blocking: torch would request pinned memory otherwise."""
    to = self.device if device is None else device
    if to.type == "cpu":
        non_blocking = False
    elif memory_format in (None, torch.preserve_format) and layout in (None, self.layout) and not any(options.values()):
        made = fill_tensor(self.size(), dtype or self.dtype, index=device_index(to))
        if made.stride() == self.stride() and (self.device.type == "cpu" or covers_array(self, cell_of(self))):
            return copy(made, self)
    options.update(layout=layout, memory_format=memory_format)
    return _to_copy(self, dtype=dtype, device=device, non_blocking=non_blocking, **options)


def local_scalar_dense(self: Tensor) -> Any:
    """The value of a one-element tensor as a Python number."""
    value = checked_read(self)
    if is_unknown(value):
        if value.dtype.kind == "c":
            return require_known(value, "item")
        from ..trace.symbols import symbolic_number  # only for traced programs

        return symbolic_number(value.reshape(()))
    return transfers.run("FromDevice", value.nbytes, value.item)


def record_stream(x: torch.Tensor, stream: torch.Stream) -> None:
    """Do nothing: JAX keeps an array alive until every computation that reads it has finished."""


def clone(self: Tensor, memory_format: torch.memory_format | None = None) -> Tensor:
    """A second storage with the same array: arrays are immutable, and the first write to either separates the two."""
    cell = cell_of(self)
    whole = self.is_contiguous() and self.numel() * self.element_size() == cell.nbytes
    plain = whole and not cell.mixed and not lazy_bits(self)
    if plain and memory_format in (None, torch.preserve_format, torch.contiguous_format):
        new = new_tensor(cell.copied(), self.size(), self.dtype)
        kept = memory_format is torch.contiguous_format or new.stride() == self.stride()
        return new if kept else meta_as_strided(new, self.size(), self.stride(), 0)  # an axis of one element
    return kernel_of("clone")(self, memory_format=memory_format)
