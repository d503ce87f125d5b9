"""The cell: what a storage of the device owns, its current array."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import torch

from .dtypes import numpy_dtype, torch_dtype

_create = torch._C._acc.create_empty_tensor

MOST_AXES = 64  # of a NumPy array; a tensor of more is kept flat


class Fill(NamedTuple):
    """An array not yet made: every element is `value`. Creation then costs nothing, and neither does overwriting it."""

    shape: tuple[int, ...]
    dtype: np.dtype
    value: bool | int | float | complex = 0


class Cell:
    """The current array of a storage, kept in its natural shape.

    `value` is that array where the fast path of dispatch applies and None elsewhere: when the array is not yet made,
    lies on a device other than the first, or is looked at through several dtypes. One test thus covers them all.
    """

    __slots__ = ("__weakref__", "held", "index", "mixed", "shape", "value")

    def __init__(self, held: Any, index: int = 0) -> None:
        self.held: jax.Array | Fill = held
        self.shape: tuple[int, ...] = held.shape
        self.index = index
        self.mixed = False
        self.value: jax.Array | None = None if index or held.__class__ is Fill else held

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the array; a tensor of another dtype is a bitcast view."""
        return self.held.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the storage."""
        return math.prod(self.shape) * self.held.dtype.itemsize

    def read(self) -> jax.Array:
        """The array, made if it is not yet."""
        held = self.held
        if held.__class__ is Fill:
            held = materialise(held, self.index)
            self.write(held)
        return held  # type: ignore[return-value]

    def write(self, array: jax.Array | Fill) -> None:
        """Replace the array."""
        self.held = array
        self.shape = array.shape
        self.value = None if self.index or self.mixed or array.__class__ is Fill else array  # type: ignore[assignment]

    def mix(self) -> None:
        """Take the storage off the fast path: a tensor of another dtype shares it."""
        self.mixed = True
        self.value = None


def poison() -> None:
    """Make every cell raise: JAX does not survive a fork."""

    def lost(self: Cell, *value: Any) -> Any:
        raise RuntimeError(
            "Cannot re-initialize jax in forked subprocess. To use jax with multiprocessing, you must use the 'spawn' "
            "start method, or send tensors that were moved to the CPU"
        )

    for name in ("held", "value"):
        setattr(Cell, name, property(lost, lost))


def put(array: np.ndarray, index: int) -> jax.Array:
    """A host array on device `index`, of its own dtype: outside `enable_x64` JAX would make 64-bit data 32-bit."""
    device = jax.devices()[index]
    if array.dtype.itemsize < 8 or array.dtype.name == "complex64":
        return jax.device_put(array, device)
    with jax.enable_x64(True):
        return jax.device_put(array, device)


_SMALL = 1 << 16  # bytes


def materialise(fill: Fill, index: int) -> jax.Array:
    """Make the array of a `Fill` on device `index`. Arrays are immutable, so small ones are made once and shared."""
    if math.prod(fill.shape) * fill.dtype.itemsize <= _SMALL:
        return _constant(fill, repr(fill.value), index)
    return jnp.full(fill.shape, fill.value, fill.dtype, device=jax.devices()[index])


@lru_cache(maxsize=1024)
def _constant(fill: Fill, text: str, index: int) -> jax.Array:
    """`text` tells 0.0 from -0.0 and 1 from True, which compare equal."""
    return put(np.full(fill.shape, fill.value, fill.dtype), index)


def cell_of(tensor: torch.Tensor) -> Cell:
    """The cell behind a tensor of the device.

    Raises:
        RuntimeError: the tensor is not on device jax, or its storage was made by a road that gives it no cell.
    """
    try:
        return tensor.untyped_storage().cell  # type: ignore[attr-defined]
    except AttributeError:
        pass
    if tensor.device.type != "jax":
        raise RuntimeError(f"expected a tensor on device jax, got one on {tensor.device}")
    raise RuntimeError("this jax tensor has no storage: it was made outside tenax (by C++ code or a copied handle)")


def wrap(array: jax.Array, index: int = 0) -> torch.Tensor:
    """A new tensor that holds `array`, contiguous, of the same shape and dtype, on device `jax:index`."""
    return new_tensor(Cell(array, index), array.shape, torch_dtype(array.dtype))


def new_tensor(cell: Cell, size: Any, dtype: torch.dtype) -> torch.Tensor:
    """A new contiguous tensor of `size` and `dtype` on a cell."""
    if cell.index:
        from .ordinal import create  # ctypes, wanted only beyond the first device

        tensor = create(list(size), dtype, cell.index)
    else:
        tensor = _create(tuple(size), dtype)
    tensor.untyped_storage().cell = cell  # type: ignore[attr-defined]
    return tensor


def natural(size: Sequence[int]) -> tuple[int, ...]:
    """The shape of the array of a dense tensor."""
    return tuple(size) if len(size) <= MOST_AXES else (math.prod(size),)


def fill_tensor(size: Any, dtype: torch.dtype, value: bool | int | float | complex = 0, index: int = 0) -> torch.Tensor:
    """A new contiguous tensor whose elements are all `value`, made when first read."""
    return new_tensor(Cell(Fill(natural(size), numpy_dtype(dtype), value), index), size, dtype)
