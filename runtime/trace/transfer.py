"""Transfers to and from the device, and conversions: host tensors, NumPy arrays, JAX arrays, and trees of them."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import torch
from jax.sharding import NamedSharding, PartitionSpec

from .._jax import ArrayImpl, uncommitted
from .._torch.tensors import awaited, is_wrapper
from ..dtypes import CARRIER, numpy_dtype
from ..storage.access import load
from ..storage.avals import MAX_NDIM, LazyFill, meshes
from ..storage.cell import Cell
from ..storage.memory_errors import as_torch_error
from ..storage.mutation import donating
from ..storage.ordinals import jax_devices
from ..storage.placement import moved, no_jax_trace, put, sharding_of_array, without_explicit_axes
from ..storage.spec import Operand, TensorSpec, operand_of
from ..storage.tensors import cell_of, covers_array, wrap
from .async_errors import raise_failed_assertions
from .core import alias_array, as_tracer, current_trace, require_known


def from_numpy(array: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
    """A host tensor of `dtype` on an array's memory. If the memory is read-only, the caller must not write to it."""
    carrier = CARRIER.get(dtype)
    if carrier is not None:
        array = array.view(numpy_dtype(carrier))
    if not array.flags.writeable:
        array = np.asarray(_Writeable(array))
    tensor = torch.from_numpy(array)
    return tensor if carrier is None else tensor.view(dtype)


class _Writeable:
    """Presents read-only memory as writeable, because torch warns about read-only memory even if it only reads."""

    def __init__(self, owner: np.ndarray) -> None:
        self.owner = owner
        interface = dict(owner.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


class _Transfers:
    """Runs transfers; `measure`, if set, is called with "ToDevice" or "FromDevice", the bytes and the transfer."""

    measure: Callable[[str, int, Callable[[], Any]], Any] | None = None

    def run(self, direction: str, nbytes: int, transfer: Callable[[], Any]) -> Any:
        """Run a transfer. An accelerator may run out of memory after an operation has returned; its value raises."""
        try:
            return transfer() if self.measure is None else self.measure(direction, nbytes, transfer)
        except jax.errors.JaxRuntimeError as error:
            raise as_torch_error(error)  # noqa: B904 (it states its cause)


transfers = _Transfers()

_ALIGNMENT = 64  # bytes; XLA's CPU client uses memory of this alignment without a copy


def upload(
    tensor: torch.Tensor,
    index: int | None,
    dtype: torch.dtype | None = None,
    size: Any = None,
    sharding: jax.sharding.Sharding | None = None,
) -> jax.Array:
    """Copy a host tensor to device `index` (None: see `put`) or to the devices of a sharding, with conversion and
    broadcasting.

    `device_put` uses aligned host memory without a copy, even with `may_alias=False` (jax 0.10), and otherwise reads
    the memory after it has returned. So the copy is made here, into memory that nothing else writes.
    """
    dtype, size = dtype or tensor.dtype, tuple(tensor.shape if size is None else size)
    if uploading.take is not None:
        return uploading.take(tensor, lambda: _uploaded(tensor, index, dtype, size, sharding), index, dtype, size)
    return _uploaded(tensor, index, dtype, size, sharding)


class _Uploading(threading.local):
    take: Callable[..., jax.Array] | None = None


uploading = _Uploading()  # `take` is how the trace on this thread handles uploads, if set


def _uploaded(
    tensor: torch.Tensor, index: int | None, dtype: torch.dtype, size: tuple[int, ...], sharding: Any
) -> jax.Array:
    kind = numpy_dtype(dtype)
    nbytes = math.prod(size) * kind.itemsize
    raw = np.empty(nbytes + _ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    owned = raw[start : start + nbytes].view(kind).reshape(size)
    from_numpy(owned, dtype).copy_(tensor.detach())
    return transfers.run("ToDevice", nbytes, lambda: put(owned, index, sharding))


def read(tensor: torch.Tensor) -> jax.Array:
    """The value of a tensor as a `jax.Array`: no copy for a whole device tensor, an upload for a CPU tensor."""
    try:
        cell = tensor.untyped_storage().cell  # type: ignore[attr-defined]
    except (AttributeError, RuntimeError):
        if tensor.device.type == "cpu":
            return upload(tensor, None)
        if is_wrapper(tensor) and (waited := awaited(tensor)) is not tensor:
            return read(waited)
        cell = cell_of(tensor)  # raises an error that says why there is no cell
    base = cell.array
    if base is None:
        base = cell.read()
    elif covers_array(tensor, cell):
        return base
    spec = TensorSpec.of(tensor)
    if not spec.bits and not cell.mixed and spec.is_reshape_of(cell.shape):
        if cell.shape == spec.size:
            return base
        if not meshes.used:
            return base.reshape(spec.size)
    return _read(operand_of(cell.aval, spec), base)


def checked_read(tensor: torch.Tensor) -> jax.Array:
    """As `read`, for a value that leaves the device's programs: wait for their assertions, and raise failed ones."""
    with donating:
        value = read(tensor)
    raise_failed_assertions(wait=True)
    return value


def _load(operand: Operand, base: jax.Array) -> jax.Array:
    if not meshes.used:
        return load(base, operand, None)
    from .axes import with_automatic_axes

    return with_automatic_axes(lambda base: load(base, operand, None), [base])


_read = jax.jit(_load, static_argnums=0)


def tensor_to_jax(tensor: torch.Tensor) -> Any:
    """The implementation of `Tensor.jax()`.

    Raises:
        NotImplementedError: the tensor is sparse.
    """
    if tensor.layout is not torch.strided:
        raise NotImplementedError(f"Tensor.jax: layout {tensor.layout} is not a JAX array; convert with .to_dense()")
    return as_tracer(checked_read(tensor))


def from_jax(tree: Any) -> Any:
    """Replace the `jax.Array` leaves of a tree by tensors on device "jax", without a copy.

    Args:
        tree: any pytree; other leaves are unchanged.

    Raises:
        TypeError: torch has no equivalent of a leaf's dtype.
    """
    return jax.tree.map(_from_array, tree)


def _from_array(leaf: Any) -> Any:
    if not isinstance(leaf, jax.Array):
        return leaf
    if without_explicit_axes(sharding := sharding_of_array(leaf)) is not sharding:
        leaf = alias_array(leaf)
    return wrap(leaf, array_index(leaf))


def array_index(array: jax.Array) -> int:
    """The index of an array's device. An array on several devices counts as on the first, whose tensors may join it."""
    if isinstance(array, jax.core.Tracer) or sharding_of_array(array) is not None:
        return 0
    (device,) = array.devices()
    return jax_devices().index(device)


def to_jax(tree: Any) -> Any:
    """Replace the tensor leaves of a tree, such as `module.state_dict()`, by `jax.Array`s; CPU tensors are copied once.

    Args:
        tree: any pytree whose leaves may be strided tensors on device "jax" or "cpu".

    Raises:
        NotImplementedError: JAX has no equivalent of a leaf's dtype.
    """
    return jax.tree.map(lambda x: checked_read(x) if isinstance(x, torch.Tensor) else x, tree)


def to_host(tensor: torch.Tensor, purpose: str) -> np.ndarray:
    """The value of a device tensor as a read-only NumPy array.

    Raises:
        TraceError: it is unknown in a trace; the message names the purpose.
    """
    value = require_known(checked_read(tensor), purpose)
    return transfers.run("FromDevice", value.nbytes, lambda: np.asarray(value))


def download(tensor: torch.Tensor, destination: torch.Tensor) -> None:
    """Copy a device tensor into a host tensor of any dtype and strides."""
    if tensor.dim() > MAX_NDIM:
        tensor = tensor.reshape(-1)
    array = to_host(tensor, "copy to the CPU")
    destination.copy_(from_numpy(array, tensor.dtype).view(destination.size()))


def overwrite(tensor: torch.Tensor, source: torch.Tensor) -> bool:
    """Replace the array of `tensor` by an upload of a host tensor; False if the caller must copy on the device."""
    cell, spec = cell_of(tensor), TensorSpec.of(tensor)
    if cell.mixed or spec.bits or not spec.is_reshape_of(cell.shape):
        return False
    size = spec.size
    if len(size) > MAX_NDIM:
        source, size = source.expand(size).reshape(-1), cell.shape
    sharding = cell.aval.sharding
    if not cell.shape and (value := _number(source, tensor.dtype)) is not None and sharding is None:
        cell.replace(LazyFill(cell.aval, value))
        return True
    if sharding is not None and size != cell.shape:
        return False  # the sharding applies to another shape
    array = upload(source, cell.index, tensor.dtype, size, sharding)
    cell.replace(array if array.shape == cell.shape else array.reshape(cell.shape))  # JAX would compile one for ()
    return True


def _number(source: torch.Tensor, dtype: torch.dtype) -> Any:
    """The value of a 0-d host tensor, which operations take as a number, so that nothing is uploaded. None for other
    tensors, if it is to be converted, for values that have several forms, and in a trace, where it is an input."""
    if source.dim() or source.dtype is not dtype or uploading.take is not None or not no_jax_trace():
        return None
    value = None if current_trace() is not None else source.item()
    return value if value == value and type(value) is not complex else None


def move(tensor: torch.Tensor, target: Cell) -> torch.Tensor:
    """Copy a device tensor to the device or mesh of a cell's array."""
    array, sharding = read(tensor), target.aval.sharding
    if isinstance(sharding, NamedSharding) and array.shape != target.shape:
        sharding = NamedSharding(sharding.mesh, PartitionSpec())
    result = moved(array, sharding or jax_devices()[target.index])
    if not target.index and sharding is None and isinstance(result, ArrayImpl):
        result = uncommitted(result)  # unplaced tensors are on the first device, uncommitted
    return wrap(result, target.index)
