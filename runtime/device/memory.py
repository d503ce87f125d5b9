"""The ops that manage memory rather than compute: creation, views, copies, resizing, storages.

Everything else that torch calls a view reaches `as_strided` or `view` by C++ composites.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from ..dispatch.quantize import fused_moving_avg_obs_fq_helper
from ..dispatch.register import kernel_of
from ..dtypes import numpy_dtype
from ..tracing.symbol import symbol
from ..tracing.trace import refuse, unknown
from .backend import device_index
from .cell import Cell, Fill, cell_of, fill_tensor, is_all, natural, new_tensor, tensor_kind
from .convert import download, overwrite, read
from .moves import moving

_aten = torch.ops.aten
_META = torch._C.DispatchKey.Meta
_COMPOSITE = torch._C.DispatchKey.CompositeExplicitAutograd
Tensor = torch.Tensor

_as_strided = _aten.as_strided.default._op_dk
_view_dtype = _aten.view.dtype._op_dk
_set = _aten.set_.source_Storage_storage_offset._op_dk


def elements(tensor: Tensor) -> int:
    """How many elements of the tensor's dtype its storage holds."""
    cell = cell_of(tensor)
    return cell.nbytes // tensor.element_size()


def _check_bounds(op: str, size: Sequence[int], stride: Sequence[int], offset: int, available: int) -> None:
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
    tensor = fill_tensor(size, dtype or torch.get_default_dtype(), index=device_index(device))
    if memory_format in (None, torch.contiguous_format, torch.preserve_format):
        return tensor
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
        cell = Cell(tensor_kind(natural([size[d] for d in order]), dtype).zeros, index)
    else:
        cell = Cell(tensor_kind((n,), dtype).zeros, index)
    tensor = new_tensor(cell, size, dtype)
    if tensor.stride() == tuple(stride):
        return tensor
    return _as_strided(_META, tensor, size, stride, 0)


_in_bounds: set[Any] = set()


def as_strided(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    offset = int(self.storage_offset()) if storage_offset is None else storage_offset
    cell = cell_of(self)
    key = (cell.kind, tuple(size), tuple(stride), offset)
    if cell.mixed or key not in _in_bounds:
        if len(size) != len(stride):
            raise RuntimeError(f"mismatch in length of strides and shape: {list(size)}, {list(stride)}")
        _check_bounds("as_strided", size, stride, offset, elements(self))
        if not cell.mixed and len(_in_bounds) < 1 << 16:
            _in_bounds.add(key)
    return _as_strided(_META, self, size, stride, offset)


def as_strided_(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """What `squeeze_`, `unsqueeze_`, `t_` and `transpose_` come down to."""
    offset = int(self.storage_offset()) if storage_offset is None else storage_offset
    _check_bounds("as_strided_", size, stride, offset, elements(self))
    return _set(_META, self, self.untyped_storage(), offset, size, stride)


def view_dtype(self: Tensor, dtype: torch.dtype) -> Tensor:
    numpy_dtype(dtype)
    out = _view_dtype(_COMPOSITE, self, dtype)
    if dtype != self.dtype:
        cell_of(self).mix()
    return out


def _complex_view(op: Any) -> Callable[..., Tensor]:
    kernel = op._op_dk

    def view(self: Tensor) -> Tensor:
        out = kernel(_META, self)
        numpy_dtype(out.dtype)  # of half precision it is complex32, which no array has
        cell_of(self).mix()
        return out

    return view


def _meta_view(op: Any) -> Callable[..., Tensor]:
    kernel = op._op_dk

    def view(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return kernel(_META, self, *args, **kwargs)

    return view


def copy_from(self: Tensor, dst: Tensor, non_blocking: bool = False) -> Tensor:
    """Every copy with a tensor of the device at one end."""
    if dst.device.type != "jax":
        if dst.device.type != "cpu":
            raise NotImplementedError(f"copy_: from {self.device} to {dst.device} is not possible; go by the CPU")
        download(self, dst)
        return dst
    if self.device.type == "jax":
        source, target = cell_of(self), cell_of(dst)
        if source.index != target.index:
            import jax

            from .backend import jax_devices
            from .cell import wrap

            moved = jax.device_put(read(self), jax_devices()[target.index])
            self = wrap(moved, target.index)
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
    try:
        source = src.untyped_storage().cell  # type: ignore[attr-defined]
        target = self.untyped_storage().cell  # type: ignore[attr-defined]
    except AttributeError:
        return copy_from(src, self, non_blocking)
    if source.index != target.index:
        return copy_from(src, self, non_blocking)
    if source.kind is target.kind and is_all(self, target) and is_all(src, source):
        target.replace(source.held)  # arrays are immutable: the first write to either parts them
    else:
        kernel_of("copy_")(self, src)
    return self


def local_scalar_dense(self: Tensor) -> Any:
    """The value of a one-element tensor as a Python number."""
    value = read(self)
    if unknown(value):
        return symbol(value.reshape(())) if value.dtype.kind != "c" else refuse(value, "item")
    return value.reshape(()).item()


def resize_(self: Tensor, size: Sequence[int], memory_format: torch.memory_format | None = None) -> Tensor:
    if tuple(size) == tuple(self.shape) and memory_format is None:
        return self  # strides stay
    if any(n < 0 for n in size):
        raise RuntimeError(f"resize_: requested size {list(size)} has a negative dimension")
    stride = torch.empty(size, device="meta", memory_format=memory_format or torch.contiguous_format).stride()
    need = math.prod(size) + int(self.storage_offset())
    if math.prod(size):
        grow(cell_of(self), need, self.dtype)
    return _set(_META, self, self.untyped_storage(), int(self.storage_offset()), size, stride)


def grow(cell: Cell, count: int, dtype: torch.dtype) -> None:
    """Make a storage hold at least `count` elements of `dtype`; what it held stays in front."""
    import jax.numpy as jnp

    kind = numpy_dtype(dtype)
    have = cell.nbytes // kind.itemsize
    if count <= have:
        return
    if isinstance(cell.held, Fill) or have == 0:
        cell.write(Fill(tensor_kind((count,), dtype), cell.held.value if isinstance(cell.held, Fill) else 0))
        return
    scale = kind.itemsize / cell.dtype.itemsize
    flat = cell.read().reshape(-1)
    extra = math.ceil(count * scale) - flat.size
    cell.write(jnp.concatenate([flat, jnp.zeros(extra, flat.dtype)]))


def set_storage(
    self: Tensor, source: Any, storage_offset: int = 0, size: Sequence[int] | None = None, stride: Any = None
) -> Tensor:
    cell = getattr(source, "cell", None)
    if cell is None:
        raise RuntimeError(f"set_: Expected a storage on device jax, got one on {source.device}")
    adopt(cell, self.dtype)
    available = cell.nbytes // self.element_size()
    if size is None:
        size, stride = [available], [1]
    if stride is None or not len(stride):
        stride = torch.empty(size, device="meta").stride()
    _check_bounds("set_", size, stride, storage_offset, available)
    moving(self)
    return _set(_META, self, source, storage_offset, size, stride)


def adopt(cell: Cell, dtype: torch.dtype) -> None:
    """Raw bytes take the dtype of the first tensor set on them; a storage of another dtype becomes a mixed one."""
    from ..dispatch.program import bitcast

    kind = numpy_dtype(dtype)
    if cell.dtype == kind:
        return
    if cell.dtype.name == "uint8" and not cell.mixed and cell.nbytes % kind.itemsize == 0:
        cell.write(bitcast(cell.read().reshape(-1), kind))
    else:
        cell.mix()


def set_storage_whole(self: Tensor, source: Any) -> Tensor:
    return set_storage(self, source)


def set_tensor(self: Tensor, source: Tensor) -> Tensor:
    return set_storage(
        self, source.untyped_storage(), int(source.storage_offset()), list(source.shape), list(source.stride())
    )


def set_none(self: Tensor) -> Tensor:
    fresh = fill_tensor([0], self.dtype, index=cell_of(self).index)
    moving(self)
    return _set(_META, self, fresh.untyped_storage(), 0, [0], [1])


def fill_whole(self: Tensor, value: Any) -> bool:
    """Fill a tensor that is all of its storage without computing; False where it is not."""
    cell = cell_of(self)
    if cell.mixed or self.is_neg() or self.is_conj() or self.numel() * self.element_size() != cell.nbytes:
        return False
    if not self.is_contiguous() and not torch.ops.aten.is_non_overlapping_and_dense.default(self):
        return False
    if not isinstance(value, (bool, int, float, complex)):
        return False
    cell.replace(Fill(cell.kind, value))
    return True


_CPP_NAMES = {
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "int32": "int",
    "float64": "double",
    "float32": "float",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
}


def converted(value: Any, dtype: np.dtype) -> Any:
    """A Python number as an element of a dtype, a Python number too; negative integers wrap into unsigned ones.

    Raises:
        RuntimeError: the dtype cannot hold it, torch's `checked_convert`.
    """
    try:
        if isinstance(value, complex) and dtype.kind not in "bc":
            if value.imag:
                raise OverflowError
            value = value.real
        if dtype.kind == "u" and value.__class__ is int and -(most := int(np.iinfo(dtype).max)) <= value < 0:
            value += most + 1
        with np.errstate(over="raise" if dtype.name == "float32" else "ignore"):
            return dtype.type(value).item()
    except (OverflowError, ValueError, TypeError, FloatingPointError):
        name = _CPP_NAMES.get(dtype.name, dtype.name)
        raise RuntimeError(f"value cannot be converted to type {name} without overflow: {value}") from None


def fill_scalar(self: Tensor, value: Any) -> Tensor:
    if isinstance(value, (bool, int, float, complex)):
        value = converted(value, numpy_dtype(self.dtype))
    if not fill_whole(self, value):
        kernel_of("fill_.Scalar")(self, value)
    return self


def zero(self: Tensor) -> Tensor:
    return fill_scalar(self, 0)


def make_dep_token(**options: Any) -> Tensor:
    return empty((), **options)


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    if self.untyped_storage() is not tensor.untyped_storage() or self.storage_offset() != tensor.storage_offset():
        return False
    return self.shape == tensor.shape and self.stride() == tensor.stride()


def full(
    size: Sequence[int],
    fill_value: Any,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """As `empty`, and lazy like it: the value is made when it is first read."""
    if dtype is None:
        kinds = {bool: torch.bool, int: torch.int64, complex: torch.get_default_dtype().to_complex()}
        dtype = kinds.get(fill_value.__class__, torch.get_default_dtype())
    out = empty(size, dtype, layout, device, pin_memory)
    return out if fill_value.__class__ is int and fill_value == 0 else fill_scalar(out, fill_value)


def zeros(size: Sequence[int], dtype: torch.dtype | None = None, **options: Any) -> Tensor:
    return empty(size, dtype, **options)


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


def clone(self: Tensor, memory_format: torch.memory_format | None = None) -> Tensor:
    """A second storage on the same array, which is immutable: the first write parts them."""
    cell = cell_of(self)
    whole = self.is_contiguous() and self.numel() * self.element_size() == cell.nbytes
    plain = whole and not cell.mixed and not self.is_conj() and not self.is_neg()
    if plain and memory_format in (None, torch.preserve_format, torch.contiguous_format):
        return new_tensor(Cell(cell.held, cell.index), self.size(), self.dtype)
    return kernel_of("clone")(self, memory_format=memory_format)


KERNELS: dict[str, Callable[..., Any]] = {
    "empty.memory_format": empty,
    "empty_strided": empty_strided,
    "as_strided": as_strided,
    "as_strided_": as_strided_,
    "view.dtype": view_dtype,
    "view": _meta_view(_aten.view.default),
    "_reshape_alias": _meta_view(_aten._reshape_alias.default),
    "unfold": _meta_view(_aten.unfold.default),
    "view_as_real": _complex_view(_aten.view_as_real.default),
    "view_as_complex": _complex_view(_aten.view_as_complex.default),
    "clone": clone,
    "copy_": copy,
    "_copy_from": copy_from,
    "_copy_from_and_resize": copy_from,
    "_local_scalar_dense": local_scalar_dense,
    "_make_dep_token": make_dep_token,
    "is_set_to": is_set_to,
    "full": full,
    "zeros": zeros,
    "ones": ones,
    "scalar_tensor": scalar_tensor,
    "zeros_like": zeros_like,
    "ones_like": ones_like,
    "full_like": full_like,
    "fill_.Scalar": fill_scalar,
    "zero_": zero,
    "resize_": resize_,
    "set_.source_Storage_storage_offset": set_storage,
    "set_.source_Storage": set_storage_whole,
    "set_.source_Tensor": set_tensor,
    "set_": set_none,
    "_fused_moving_avg_obs_fq_helper": fused_moving_avg_obs_fq_helper,
}
