"""Values in and out of the device: torch tensors on the host, NumPy arrays, JAX arrays, and trees of them."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import torch

from ..dispatch import views
from ..dispatch.arguments import Operand, operand
from ..dispatch.program import load
from ..dtypes import CARRIER, numpy_dtype
from ..tracing.trace import refuse, traced
from .backend import jax_devices
from .cell import MOST_AXES, cell_of, is_all, put, wrap


def from_numpy(array: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
    """A host tensor of `dtype` that shares the array's memory; read-only memory must not be written through it."""
    carrier = CARRIER.get(dtype)
    if carrier is not None:
        array = array.view(numpy_dtype(carrier))
    if not array.flags.writeable:
        array = np.asarray(_Writeable(array))
    tensor = torch.from_numpy(array)
    return tensor if carrier is None else tensor.view(dtype)


class _Writeable:
    """Read-only memory shown to NumPy as writeable: torch warns of the former even when it only reads."""

    def __init__(self, owner: np.ndarray) -> None:
        self.owner = owner
        interface = dict(owner.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


_ALIGNMENT = 64  # bytes: what XLA's CPU client asks of memory that it takes over without a copy


def upload(tensor: torch.Tensor, index: int | None, dtype: torch.dtype | None = None, size: Any = None) -> jax.Array:
    """One copy of a host tensor on device `index` (None: as `put`), converted and broadcast on the way.

    `device_put` takes over aligned host memory as it is, even when told not to alias (jax 0.10), and elsewhere reads it
    after it returns. So the copy is made here, into memory that nobody else writes.
    """
    dtype, size = dtype or tensor.dtype, tuple(tensor.shape if size is None else size)
    if uploading.take is not None:
        return uploading.take(tensor, lambda: _uploaded(tensor, index, dtype, size), index, dtype, size)
    return _uploaded(tensor, index, dtype, size)


class _Uploading(threading.local):
    take: Callable[..., jax.Array] | None = None


uploading = _Uploading()  # what a trace of this thread does with uploads


def _uploaded(tensor: torch.Tensor, index: int | None, dtype: torch.dtype, size: tuple[int, ...]) -> jax.Array:
    kind = numpy_dtype(dtype)
    nbytes = math.prod(size) * kind.itemsize
    raw = np.empty(nbytes + _ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    owned = raw[start : start + nbytes].view(kind).reshape(size)
    from_numpy(owned, dtype).copy_(tensor.detach())
    return put(owned, index)


def read(tensor: torch.Tensor) -> jax.Array:
    """The value of any tensor as a `jax.Array`: no copy for a whole tensor of the device, a strided read for a view."""
    try:
        cell = tensor.untyped_storage().cell  # type: ignore[attr-defined]
    except (AttributeError, RuntimeError):
        if tensor.device.type == "cpu":
            return upload(tensor, None)
        cell = cell_of(tensor)  # which says what is wrong
    base = cell.value
    if base is None:
        base = cell.read()
    elif is_all(tensor, cell):
        return base
    size = tuple(tensor.size())
    bits = tensor.is_conj() + 2 * tensor.is_neg()
    whole = views.is_whole(cell.shape, size, tensor.stride(), int(tensor.storage_offset()))
    if whole and not bits and not cell.mixed:
        return base if cell.shape == size else base.reshape(size)
    view = views.View(size, tuple(tensor.stride()), int(tensor.storage_offset()))
    mixed = base.dtype if cell.mixed else None
    return _read(operand(cell.shape, tensor.dtype, mixed, view, bits), base)


def _load(part: Operand, base: jax.Array) -> jax.Array:
    return load(base, part, None)


_read = jax.jit(_load, static_argnums=0)


def jax_value(tensor: torch.Tensor) -> Any:
    """What `Tensor.jax()` gives.

    Raises:
        NotImplementedError: the tensor is sparse.
    """
    if tensor.layout is not torch.strided:
        raise NotImplementedError(f"Tensor.jax: layout {tensor.layout} is no JAX array; convert with .to_dense()")
    return traced(read(tensor))


def from_jax(tree: Any) -> Any:
    """Tensors on device "jax" in place of the `jax.Array` leaves of a tree. No copy.

    Args:
        tree: any pytree; leaves that are not JAX arrays stay as they are.

    Raises:
        TypeError: torch has no such dtype.
    """
    return jax.tree.map(_from_array, tree)


def _from_array(leaf: Any) -> Any:
    if not isinstance(leaf, jax.Array):
        return leaf
    return wrap(leaf, array_index(leaf))


def array_index(array: jax.Array) -> int:
    """The index of the device that holds an array; a sharded one counts as on the first of its devices."""
    if isinstance(array, jax.core.Tracer):
        return 0
    first = min(array.devices(), key=lambda d: d.id)
    return jax_devices().index(first)


def to_jax(tree: Any) -> Any:
    """`jax.Array` in place of the tensor leaves of a tree, host tensors by one copy.

    Args:
        tree: any pytree whose leaves may be tensors of any strided layout on device "jax" or "cpu".

    Raises:
        TypeError: JAX has no such dtype.
    """
    return jax.tree.map(lambda x: read(x) if isinstance(x, torch.Tensor) else x, tree, is_leaf=_is_tensor)


def _is_tensor(x: Any) -> bool:
    return isinstance(x, torch.Tensor)


def download(tensor: torch.Tensor, destination: torch.Tensor) -> None:
    """Copy a tensor of the device into a host tensor of any dtype and strides."""
    if tensor.dim() > MOST_AXES:
        tensor = tensor.reshape(-1)
    destination.copy_(
        from_numpy(np.asarray(refuse(read(tensor), "copy to the CPU")), tensor.dtype).view(destination.shape)
    )


def overwrite(tensor: torch.Tensor, source: torch.Tensor) -> bool:
    """Replace the whole storage of `tensor` by a copy of a host tensor; False where it is not all of its storage."""
    cell = cell_of(tensor)
    size = tuple(tensor.size())
    whole = views.is_whole(cell.shape, size, tensor.stride(), int(tensor.storage_offset()))
    if not whole or cell.mixed or tensor.is_conj() or tensor.is_neg():
        return False
    if len(size) > MOST_AXES:
        source, size = source.expand(size).reshape(-1), cell.shape
    array = upload(source, cell.index, tensor.dtype, size)
    cell.write(array.reshape(cell.shape))
    return True
