"""Creates tensors on cells, and finds the cells of tensors."""

from __future__ import annotations

from typing import Any

import jax
import torch

from .._torch import NAME as NAME
from .._torch.tensors import create_empty_tensor, meta_as_strided
from ..dtypes import torch_dtype
from .avals import LazyFill, array_shape, contiguous_strides, tensor_aval
from .cell import Cell


def cell_of(tensor: torch.Tensor) -> Cell:
    """The cell behind a tensor of the device.

    Raises:
        RuntimeError: the tensor is not on device jax, or its storage was made outside tenax and has no cell.
    """
    try:
        return tensor.untyped_storage().cell  # type: ignore[attr-defined]
    except AttributeError:
        pass
    if tensor.device.type != NAME:
        raise RuntimeError(f"expected a tensor on device {NAME}, got one on {tensor.device}")
    plain = type(tensor).__torch_dispatch__ is torch.Tensor.__torch_dispatch__
    why = "was made outside tenax (by C++ code or a copied handle)" if plain else f"is a {type(tensor).__name__}"
    raise RuntimeError(f"this {NAME} tensor has no storage: it {why}")


def wrap(array: jax.Array, index: int = 0) -> torch.Tensor:
    """A new tensor that holds `array`, contiguous, of the same shape and dtype, on device `jax:index`."""
    return new_tensor(Cell(array, index), array.shape, torch_dtype(array.dtype))


def new_tensor(cell: Cell, size: Any, dtype: torch.dtype) -> torch.Tensor:
    """A new contiguous tensor of `size` and `dtype` on a cell."""
    if cell.index:
        from .dlpack_tensor import create  # imports ctypes, needed only for devices other than the first

        tensor = create(list(size), dtype, cell.index)
    else:
        tensor = create_empty_tensor(tuple(size), dtype)
    tensor.untyped_storage().cell = cell  # type: ignore[attr-defined]
    if 0 in size:  # torch's strides treat an axis of size 0 like one of size 1, unlike those of the new tensor
        return meta_as_strided(tensor, size, contiguous_strides(size), 0)
    return tensor


def covers_array(tensor: torch.Tensor, cell: Cell) -> bool:
    """Whether a tensor is exactly its cell's array, which implies offset 0."""
    aval = cell.aval
    return (
        tensor.size() == aval.shape
        and tensor.stride() == aval.stride
        and not (cell.mixed or tensor.is_neg() or (aval.dtype.kind == "c" and tensor.is_conj()))
    )


def fill_tensor(size: Any, dtype: torch.dtype, value: bool | int | float | complex = 0, index: int = 0) -> torch.Tensor:
    """A new contiguous tensor whose elements are all `value`. Its array is created when it is first read."""
    aval = tensor_aval(array_shape(size), dtype)
    lazy = aval.zeros if type(value) is int and value == 0 else LazyFill(aval, value)
    return new_tensor(Cell(lazy, index), size, dtype)
