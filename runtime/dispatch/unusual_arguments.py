"""Unusual arguments: numbers that a dtype may not hold, and what is passed in place of a plain tensor of the device.

The latter are views that are lazily conjugated, or that share their storage with other dtypes, Python numbers, and
tensors of the host.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ..dtypes import holds, number_limits, numpy_dtype
from ..errors import mixed_devices
from ..storage.avals import tensor_aval
from ..storage.cell import Cell
from ..storage.placement import put
from ..storage.spec import Operand, TensorSpec, operand_of
from ..storage.tensors import NAME, cell_of
from ..trace.async_errors import add_assertion
from ..trace.core import SYMBOLIC_TYPES, accepts_host_tensors, current_trace
from ..trace.transfer import upload, uploading
from .host_errors import raise_matching
from .operands import NUMBER_TYPES, encode_number, located, starts_are_fixed, whole_operand
from .signature import Argument, Signature

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


_HELD = 1 << 10  # calls that CPU torch has accepted; a full table is cleared
_accepted: set[Any] = set()
_REFUSED = r"without overflow|outside the representable range|Converting complex Scalar"
_HUGE = {int: 2**63 - 1, float: 1e300}


def check_numbers(signature: Signature, values: Sequence[Any], key: Any) -> None:
    """Raise CPU torch's error for a Scalar that a dtype does not hold. For an unknown number of a compiled function the
    error becomes an assertion, unless the dtype has the range of float32.

    Args:
        signature: that of the operation.
        values: the arguments.
        key: that of the executable.
    """
    numbers = _elements([values[i] for i in signature.scalars])
    known = [n for n in numbers if type(n) in NUMBER_TYPES and (type(n) is complex or not 0 <= n <= 127)]
    unknown = [n for n in numbers if type(n) in SYMBOLIC_TYPES]
    if not known and not unknown:
        return
    leaves = _elements(values)
    dtypes = {v.dtype for v in leaves if isinstance(v, torch.Tensor)} | {v for v in leaves if type(v) is torch.dtype}
    kinds = [numpy_dtype(dtype) for dtype in dtypes]
    unfit = [n for n in known if not all(holds(kind, n) for kind in kinds)]
    if unfit and (call := (signature.name, key, repr(unfit))) not in _accepted:
        raise_matching(signature, values, _REFUSED, of_dtypes=True)
        if len(_accepted) >= _HELD:
            _accepted.clear()
        _accepted.add(call)
    trace = current_trace()
    for number in unknown if trace is not None and trace.asserts else ():
        huge = _HUGE.get(SYMBOLIC_TYPES[type(number)])
        narrow = [kind for kind in kinds if kind.name != "bfloat16" and (kind.kind in "iu" or kind.itemsize < 4)]
        if huge is not None and not all(holds(kind, huge) for kind in narrow):
            try:
                raise_matching(signature, _with_numbers(values, number, huge), _REFUSED, of_dtypes=True)
            except RuntimeError as error:
                fits = [_fits(number.node.array, kind) for kind in narrow]
                add_assertion(jnp.stack(fits).all(), "RuntimeError", str(error))


def _elements(values: Sequence[Any]) -> list[Any]:
    """The values, with the elements of lists in the place of the lists."""
    return [x for value in values for x in (value if value.__class__ is list else (value,))]


def _with_numbers(values: Sequence[Any], number: Any, value: Any) -> list[Any]:
    """The arguments with a value for one unknown number, and 1 for the others."""

    def known(x: Any) -> Any:
        return value if x is number else SYMBOLIC_TYPES[type(x)](1) if type(x) in SYMBOLIC_TYPES else x

    return [[known(x) for x in v] if v.__class__ is list else known(v) for v in values]


def _fits(number: jax.Array, dtype: np.dtype) -> jax.Array:
    low, high, infinite = number_limits(dtype, number.dtype.kind == "i")
    with jax.enable_x64(True):
        held = (number >= low) & (number <= high)
        return held if dtype.kind in "iu" else held | jnp.isnan(number) | (jnp.isinf(number) & infinite)
