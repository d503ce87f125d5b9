"""`torch.UntypedStorage` of the device: its bytes are those of a cell.

`torch.UntypedStorage` is a Python class, so every method that would access memory is replaced, for storages of the
device only. Methods that have no meaning without addresses raise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .. import patches
from ..storage.ordinals import NAME

_Storage = torch.UntypedStorage
_plain: dict[str, Any] = {}

# Methods that would write or share raw memory of the device.
_REFUSED = (
    "__setitem__ _byteswap byteswap fill_ new share_memory_ _share_filename_cpu_ _share_fd_cpu_ "
    "_share_cuda_ _get_filename"
).split()


def is_ours(storage: Any) -> bool:
    """Whether a storage belongs to the device."""
    return bool(storage.device.type == NAME)


def make(data: torch.Tensor, index: int = 0) -> Any:
    """A storage of the device with a copy of the bytes of a host tensor."""
    from ..storage.cell import Cell
    from ..trace.transfer import upload

    return _attached(Cell(upload(data, index), index), data.nbytes)


def zeros(nbytes: int, index: int = 0) -> Any:
    """A storage of `nbytes` zero bytes on the device."""
    from ..storage.avals import aval_of
    from ..storage.cell import Cell

    return _attached(Cell(aval_of((nbytes,), np.dtype(np.uint8)).zeros, index), nbytes)


def _attached(cell: Any, nbytes: int) -> Any:
    from ..storage.tensors import new_tensor

    return new_tensor(cell, [nbytes], torch.uint8).untyped_storage()


def host_bytes(storage: Any) -> np.ndarray:
    """The bytes of a storage of the device, in memory order, as a uint8 array on the host."""
    array = np.ascontiguousarray(np.asarray(_cell(storage).read()))
    return array.reshape(-1).view(np.uint8)


def _cell(storage: Any) -> Any:
    cell = getattr(storage, "cell", None)
    if cell is None:
        raise RuntimeError("this storage of device jax holds nothing: it was made by C++ code outside tenax")
    return cell


def _nbytes(self: Any) -> int:
    cell = getattr(self, "cell", None)  # fake tensors have a size and no array
    return int(_plain["nbytes"](self) if cell is None else cell.nbytes)


def _clone(self: Any) -> Any:
    from ..storage.cell import Cell

    cell = _cell(self)
    return _attached(Cell(cell.content, cell.index), cell.nbytes)


def _cpu(self: Any) -> Any:
    return torch.from_numpy(host_bytes(self).copy()).untyped_storage()


def _tolist(self: Any) -> list[int]:
    return host_bytes(self).tolist()


def _getitem(self: Any, index: Any) -> Any:
    return _cpu(self)[index]


def _data_ptr(self: Any) -> int:
    # There is no address. Programs compare pointers to find tied weights, so each storage gets a number of its own,
    # far enough from others that offsets never overlap.
    return id(_cell(self)) << 16


def _write_file(self: Any, *args: Any) -> Any:
    return _plain["_write_file"](_cpu(self), *args)


def _set_from_file(self: Any, file: Any, offset: Any, is_real_file: Any, element_size: Any) -> Any:
    host = _plain_new(_nbytes(self))
    _plain["_set_from_file"](host, file, offset, is_real_file, element_size)
    _write_bytes(self, host)
    return self


def _copy(self: Any, source: Any, non_blocking: bool | None = None) -> Any:
    if source.nbytes() != _nbytes(self):
        raise RuntimeError(f"size does not match, self was {_nbytes(self)} bytes but src was {source.nbytes()} bytes")
    _write_bytes(self, source.cpu())
    return self


def _copy_to_host(self: Any, source: Any, non_blocking: bool | None = None) -> Any:
    return _plain["copy_"](self, source.cpu() if is_ours(source) else source, non_blocking)


def _write_bytes(storage: Any, host: Any) -> None:
    """Replace the content by that of a host storage of the same size. Tensors may be on the storage already."""
    from ..storage.access import bitcast

    cell = _cell(storage)
    array = make(_as_tensor(host), cell.index).cell.content
    cell.replace(bitcast(array, cell.dtype).reshape(cell.shape))


def _resize(self: Any, nbytes: int) -> Any:
    """Free the array of a storage, make it again, or change how many of its elements there are.

    A storage that is freed and made again, as FSDP does, has an array of the shape it had.
    """
    from ..storage.avals import aval_of

    cell = _cell(self)
    count, rest = divmod(nbytes, cell.dtype.itemsize)
    if rest:
        raise NotImplementedError(
            f"UntypedStorage.resize_ to {nbytes} bytes: the storage of device 'jax' holds {cell.dtype}; expected a "
            f"multiple of {cell.dtype.itemsize}"
        )
    if not count:
        cell.freed = cell.freed or cell.aval
        cell.write(aval_of((0,), cell.dtype).zeros)
    elif cell.nbytes == 0:
        before = cell.freed
        cell.write((before if before and before.nbytes == nbytes else aval_of((count,), cell.dtype)).zeros)
        cell.freed = None
    elif nbytes < cell.nbytes:
        cell.write(cell.read().reshape(-1)[:count])
    elif nbytes > cell.nbytes:
        from ..aten.memory import grow
        from ..dtypes import torch_dtype

        grow(cell, count, torch_dtype(cell.dtype))
    return self


def _to(self: Any, *, device: Any, non_blocking: bool = False) -> Any:
    device = torch.device(device)
    if device.type == NAME:
        return (
            self
            if device.index in (None, _cell(self).index)
            else make(torch.from_numpy(host_bytes(self).copy()), device.index)
        )
    return _cpu(self).to(device=device, non_blocking=non_blocking)


def _as_tensor(storage: Any) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device="cpu").set_(storage)


def _false(self: Any, *args: Any) -> bool:
    return False


def _deepcopy(self: Any, memo: dict[Any, Any]) -> Any:
    memo = memo.setdefault("torch", {})
    key = self._cdata
    if key not in memo:
        memo[key] = _clone(self)
    return memo[key]


_REPLACED: dict[str, Callable[..., Any]] = {
    "nbytes": _nbytes,
    "size": _nbytes,
    "__len__": _nbytes,
    "clone": _clone,
    "cpu": _cpu,
    "tolist": _tolist,
    "__getitem__": _getitem,
    "data_ptr": _data_ptr,
    "_write_file": _write_file,
    "_set_from_file": _set_from_file,
    "resize_": _resize,
    "to": _to,
    "is_pinned": _false,
    "is_shared": _false,
    "__deepcopy__": _deepcopy,
}


def _for_device(name: str, ours: Callable[..., Any], others: Callable[..., Any] | None = None) -> Callable[..., Any]:
    plain = others or getattr(_Storage, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.device.type == NAME:
            return ours(self, *args, **kwargs)
        return plain(self, *args, **kwargs)

    method.__name__ = name
    method.__qualname__ = f"UntypedStorage.{name}"
    return method


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"UntypedStorage.{name} is not available on device 'jax', whose arrays have no address; use a tensor "
            "operation or storage.cpu()"
        )

    return refuse


def _plain_new(*args: Any, **kwargs: Any) -> Any:
    return _plain["__new__"](_Storage, *args, **kwargs)


def _new(cls: Any, *args: Any, **kwargs: Any) -> Any:
    device = kwargs.get("device")
    if device is None or torch.device(device).type != NAME:
        return _plain["__new__"](cls, *args, **kwargs)
    from ..storage.ordinals import device_index

    index = device_index(device)
    if not args or isinstance(args[0], int):
        return zeros(args[0] if args else 0, index)
    return make(torch.tensor(list(args[0]), dtype=torch.uint8, device="cpu"), index)


def restore(storage: Any, location: str) -> Any:
    """For `torch.load`: move a host storage to the device if it was saved there or is mapped there."""
    if location != NAME and not location.startswith(f"{NAME}:"):
        return None
    from ..storage.ordinals import device_index

    return make(_as_tensor(storage), device_index(location))


def location(storage: Any) -> str | None:
    """For `torch.save`: the location tag of a storage."""
    return f"{NAME}:{_cell(storage).index}" if is_ours(storage) else None


def install() -> None:
    """Replace the methods, for storages of the device only."""
    if _plain:
        return
    replacements = {"__new__": _new}
    replacements |= {name: _for_device(name, ours) for name, ours in _REPLACED.items()}
    replacements["copy_"] = _for_device("copy_", _copy, _copy_to_host)
    replacements |= {name: _for_device(name, _refusing(name)) for name in _REFUSED if hasattr(_Storage, name)}
    for name, method in replacements.items():
        _plain[name] = patches.replace(f"torch.UntypedStorage.{name}", method)
