"""What is passed where a plain tensor of the device is expected: views that are lazily conjugated, or that share their
storage with other dtypes, Python numbers, and tensors of the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
import torch

from ..dtypes import numpy_dtype
from ..errors import mixed_devices
from ..storage.avals import tensor_aval
from ..storage.cell import Cell
from ..storage.placement import put
from ..storage.spec import Operand, TensorSpec, operand_of
from ..storage.tensors import NAME, cell_of
from ..trace.core import accepts_host_tensors
from ..trace.transfer import upload, uploading
from .operands import encode_number, located, starts_are_fixed, whole_operand
from .signature import Argument

moving_operators: set[str] = set()  # those for which an emulated library moves CPU tensors to the device


def unusual_view(cell: Cell, tensor: torch.Tensor) -> tuple[Operand, jax.Array | None]:
    """As `view_operand`, for a tensor that is lazily conjugated or negated, or shares its storage with other dtypes."""
    spec = TensorSpec.of(tensor)
    # If the storage is mixed, the spec counts elements of the tensor's dtype, and the base is read flat.
    if cell.mixed or starts_are_fixed():
        return operand_of(cell.aval, spec), None
    return located(cell.aval, spec)


def not_of_device(
    name: str, slot: Argument, value: Any, values: Sequence[Any], index: int | None, wide: bool
) -> tuple[Any, Any]:
    """The key part and the operand of a number or 0-d CPU tensor in place of a tensor; of any CPU tensor while a pure
    function is traced."""
    if not isinstance(value, torch.Tensor):
        return encode_number(value, wide)
    device = value.device.type
    if device == NAME:
        cell_of(value)  # raises: there is no cell
    if index is None:  # that of a later argument
        index = next((v.device.index for v in values if isinstance(v, torch.Tensor) and v.device.type == NAME), 0)
    pure = value.dim() and accepts_host_tensors()
    if slot.written or device != "cpu" or (value.dim() and not pure and name not in moving_operators):
        raise mixed_devices(name, value, f"{NAME}:{index}")
    part = whole_operand(tensor_aval(tuple(value.size()), value.dtype))
    if not value.dim() and uploading.take is None:
        return part, put(np.asarray(value.item(), numpy_dtype(value.dtype)), index)
    # In a trace, a tensor that comes from an argument is an input.
    return part, upload(value, None if pure else index)
