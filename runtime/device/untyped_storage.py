"""The methods of `torch.UntypedStorage` for device storages, whose bytes are those of a cell."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ..storage.mutation import donating
from ..storage.ordinals import NAME
from .storage_methods import PLAIN

_addresses = itertools.count(1)


def make(data: torch.Tensor, index: int = 0) -> Any:
    """Create a device storage with a copy of the bytes of a host tensor."""
    from ..storage.cell import Cell
    from ..trace.transfer import upload

    return _attached(Cell(upload(data, index), index), data.nbytes)


def zeros(nbytes: int, index: int = 0) -> Any:
    """Create a device storage of `nbytes` zero bytes."""
    from ..storage.avals import aval_of
    from ..storage.cell import Cell

    return _attached(Cell(aval_of((nbytes,), np.dtype(np.uint8)).zeros, index), nbytes)


def _attached(cell: Any, nbytes: int) -> Any:
    from ..storage.tensors import new_tensor

    return new_tensor(cell, [nbytes], torch.uint8).untyped_storage()


def host_bytes(storage: Any) -> np.ndarray:
    """The bytes of a device storage, in memory order, as a uint8 host array."""
    from ..trace.async_errors import raise_failed_assertions

    with donating:
        value = _cell(storage).read()
    raise_failed_assertions(wait=True)
    array = np.ascontiguousarray(np.asarray(value))
    return array.reshape(-1).view(np.uint8)


def _cell(storage: Any) -> Any:
    cell = getattr(storage, "cell", None)
    if cell is None:
        raise RuntimeError(f"this storage of device {NAME} holds nothing: it was made by C++ code outside tenax")
    return cell


def _nbytes(self: Any) -> Any:
    cell = getattr(self, "cell", None)  # fake tensors have a size, possibly a symbolic one, but no array
    return PLAIN["nbytes"](self) if cell is None else int(cell.nbytes)


def _clone(self: Any) -> Any:
    cell = _cell(self)
    return _attached(cell.copied(), cell.nbytes)


def _cpu(self: Any) -> Any:
    return torch.from_numpy(host_bytes(self).copy()).untyped_storage()


def _data_ptr(self: Any) -> int:
    # There is no address. Programs compare pointers to find tied weights, so each storage gets a unique number, 64 GiB
    # from the next so that no offset reaches it.
    state = vars(_cell(self))
    return state["address"] if "address" in state else state.setdefault("address", next(_addresses) << 36)


def _write_file(self: Any, *args: Any) -> Any:
    return PLAIN["_write_file"](_cpu(self), *args)


def _set_from_file(self: Any, file: Any, offset: Any, is_real_file: Any, element_size: Any) -> Any:
    host = torch.UntypedStorage(_nbytes(self))
    PLAIN["_set_from_file"](host, file, offset, is_real_file, element_size)
    _write_bytes(self, host)
    return self


def copy(self: Any, source: Any, non_blocking: bool | None = None) -> Any:
    """`copy_` if either storage is on the device."""
    if self.device.type != NAME:
        return PLAIN["copy_"](self, source.cpu(), non_blocking)
    if source.nbytes() != _nbytes(self):
        raise RuntimeError(f"size does not match, self was {_nbytes(self)} bytes but src was {source.nbytes()} bytes")
    _write_bytes(self, source.cpu())
    return self


def _write_bytes(storage: Any, host: Any) -> None:
    """Replace the content with that of a host storage of the same size. Tensors may already use the storage."""
    from ..kernels.bitcast import bitcast

    cell = _cell(storage)
    array = make(_as_tensor(host), cell.index).cell.content
    cell.replace(bitcast(array, cell.dtype).reshape(cell.shape))


def _resize(self: Any, nbytes: int) -> Any:
    """Free or reallocate the array of a storage, or change its number of elements.

    A storage that is freed and reallocated at the same size, as by FSDP, gets its old shape back.
    """
    from ..storage.avals import aval_of

    cell = _cell(self)
    count, rest = divmod(nbytes, cell.dtype.itemsize)
    if rest:
        raise NotImplementedError(
            f"UntypedStorage.resize_ to {nbytes} bytes: the storage of device {NAME!r} holds {cell.dtype}; expected a "
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
        from ..aten.storage_operators import holding
        from ..dtypes import torch_dtype

        holding(self, cell, count, torch_dtype(cell.dtype))
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


METHODS: dict[str, Callable[..., Any]] = {
    "nbytes": _nbytes,
    "size": _nbytes,
    "__len__": _nbytes,
    "clone": _clone,
    "cpu": _cpu,
    "tolist": lambda self: host_bytes(self).tolist(),
    "__getitem__": lambda self, index: _cpu(self)[index],
    "data_ptr": _data_ptr,
    "_write_file": _write_file,
    "_set_from_file": _set_from_file,
    "resize_": _resize,
    "to": _to,
    "is_pinned": _false,
    "is_shared": _false,
    "__deepcopy__": _deepcopy,
}


def new(args: tuple[Any, ...], device: Any) -> Any:
    """Create a device storage from a number of bytes or from a sequence of byte values."""
    from ..storage.ordinals import device_index

    index = device_index(device)
    if not args or isinstance(args[0], int):
        return zeros(args[0] if args else 0, index)
    return make(torch.tensor(list(args[0]), dtype=torch.uint8, device="cpu"), index)


def restored(storage: Any, location: str) -> Any:
    """Create a device storage with the content of a host storage."""
    from ..storage.ordinals import device_index

    return make(_as_tensor(storage), device_index(location))


def location_of(storage: Any) -> str:
    """The location tag of a device storage."""
    return f"{NAME}:{_cell(storage).index}"
