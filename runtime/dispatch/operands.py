"""How tensors and numbers are passed to an executable: the part in its key, and the operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
import torch

from .._jax import put_on_first_device
from ..dtypes import holds, torch_dtype
from ..storage.avals import Aval, LazyFill, meshes
from ..storage.cell import Cell
from ..storage.ordinals import jax_devices
from ..storage.placement import no_jax_trace
from ..storage.recording import recording, records_programs
from ..storage.spec import Operand, TensorSpec, operand_of
from ..storage.views import locate
from ..trace.core import SYMBOLIC_TYPES, current_trace
from ..xla.memory import on_eviction

# How a number is passed. JAX narrows 64-bit scalars to 32 bits, which is exact enough with tensors of at most 32 bits:
# torch rounds the number to their dtype too. Otherwise it is passed as the 32-bit words of its 64-bit value.
NUMBER_TYPES: dict[type, Any] = {bool: np.bool_, int: np.int32, float: np.float32, complex: np.complex64}
_WIDE_NUMBER: dict[type, Any] = {int: np.int64, float: np.float64, complex: np.complex128}
_WIDE_DTYPES = {torch.float64, torch.complex128}

# Maximum entries of the caches below; a full one is cleared.
_MAX_VIEWS, _MAX_SCALARS = 1 << 14, 1 << 10


def whole_operand(aval: Aval) -> Operand:
    """The operand of a tensor that covers the whole array of its storage."""
    if aval.whole_operand is None:
        aval.whole_operand = operand_of(aval, TensorSpec.contiguous(aval.shape, torch_dtype(aval.dtype)))
    return aval.whole_operand


_views: dict[Any, tuple[Operand, Any]] = {}  # starts that were first computed in a trace are host arrays
on_eviction.append(_views.clear)


def _place(array: Any) -> Any:
    """Put a small host array on the device; within a trace it stays on the host, as a constant."""
    return put_on_first_device(array) if no_jax_trace() else array


def view_operand(
    aval: Aval, size: torch.Size, stride: tuple[int, ...], offset: int
) -> tuple[Operand, jax.Array | None]:
    """The operand of a view, and its starts if they are a separate operand."""
    key = (aval, size, stride, offset, fixed := starts_are_fixed())
    operand = _views.get(key)
    if operand is None:
        if len(_views) >= _MAX_VIEWS:
            _views.clear()
        spec = TensorSpec(tuple(size), stride, offset, torch_dtype(aval.dtype))
        operand = _views[key] = (operand_of(aval, spec), None) if fixed else located(aval, spec)
    elif isinstance(operand[1], np.ndarray) and no_jax_trace():  # cached by a trace
        operand = _views[key] = operand[0], _place(operand[1])
    return operand


def starts_are_fixed() -> bool:
    """Whether the starts of views are constants instead of operands: in programs on a mesh, because XLA gathers a whole
    array to slice it at an unknown position, and in those of several ranks, where they would depend on past calls."""
    if no_jax_trace():
        return records_programs() and recording.tape.devices is not None
    return meshes.used or meshes.ranks


def located(aval: Aval, spec: TensorSpec) -> tuple[Operand, jax.Array | None]:
    """The operand of a view, and its starts if they are a separate operand."""
    spec, starts = locate(aval.shape, spec)
    return operand_of(aval, spec, starts is not None), None if starts is None else _place(starts)


_scalars: dict[tuple[np.dtype | None, type, type, Any], Any] = {}


def device_scalar(value: Any, beside: np.dtype | None = None, dtype: type | None = None) -> Any:
    """A number as an operand, of a NumPy type of at most 32 bits. Numbers that were used before are kept on the device;
    in a trace they are literals, so that a jaxpr does not depend on what was used before.

    Raises:
        KeyError: it is not a Python number.
        OverflowError: it is an int of more than 32 bits, or tensors of the dtype `beside` may be unable to hold it.
    """
    kind = type(value)
    dtype = dtype or NUMBER_TYPES[kind]
    key = (beside, dtype, kind, value if value and kind is not complex else repr(value))  # 0.0 and -0.0 are equal
    known = _scalars.get(key)
    if known is not None and no_jax_trace():
        if isinstance(known, np.generic):
            known = _scalars[key] = put_on_first_device(known)
        return known
    if known is None and beside is not None and not holds(beside, value):
        raise OverflowError(value)
    if len(_scalars) >= _MAX_SCALARS:
        _scalars.clear()
    with np.errstate(over="ignore"):
        scalar = dtype(value)
    if not no_jax_trace():
        return scalar
    if jax.config.jax_transfer_guard_host_to_device not in (None, "allow"):  # type: ignore[attr-defined, unused-ignore]
        scalar = put_on_first_device(scalar)  # an explicit transfer
    return _scalars.setdefault(key, scalar)


def array_or_scalar(cell: Cell) -> Any:
    """What the fast path passes for a cell without `array`; None where that path does not apply."""
    if cell.index or cell.mixed:
        return None
    number = lazy_scalar(cell)
    return cell.read() if number is None else number


def lazy_scalar(cell: Cell) -> Any:
    """A lazy fill of a 0-d array, as in `x[i] = 3`, as a number, which saves a transfer. None for other cells."""
    aval = cell.aval
    if aval.shape or aval.dtype.itemsize > 4 or cell.content.__class__ is not LazyFill:
        return None
    return device_scalar(cell.content.value, None, aval.dtype.type)


class StaticValue(NamedTuple):
    """A static argument, or a keyword number at its default, with its type, because 2 == 2.0 and 1 == True."""

    value: Any
    kind: type


def is_in_key(name: str, slot: Any, value: Any) -> bool:
    """Whether the value of a number of an operator is part of the key: a keyword number at its default, or a special
    one. In a trace, where a number is a constant, all values of an argument with special ones are."""
    if slot.special is None:
        return slot.keyword and type(value) in NUMBER_TYPES and value == slot.default
    if type(value) in SYMBOLIC_TYPES:
        return value.node.asks(slot.special.__contains__, f"{name}: {slot.name}") or "cpu" in slot.special
    if value in slot.special or not no_jax_trace() or current_trace() is not None:
        return True
    return "cpu" in slot.special and jax_devices()[0].platform != "cpu"


def varying_scalar(value: Any, beside: np.dtype, wide: bool = False) -> Any:
    """As `device_scalar`, for an argument with special values; KeyError in a trace, where it is part of the key. With
    `wide`, the words of its 64 bits."""
    if not no_jax_trace() or current_trace() is not None:
        raise KeyError(value)
    return encode_number(value, True)[1] if wide else device_scalar(value, beside)


class WideNumber(NamedTuple):
    """The key part of a number that is passed as 32-bit words."""

    kind: type
    unsigned: bool

    @property
    def dtype(self) -> np.dtype:
        """The 64-bit dtype that the words represent."""
        return np.dtype(np.uint64 if self.unsigned else _WIDE_NUMBER[self.kind])


def encode_number(value: Any, wide: bool) -> tuple[Any, Any]:
    """The key part of a number, and its operand. With `wide` all its 64 bits are passed."""
    if value is None:
        return None, None
    kind = type(value)
    if kind in SYMBOLIC_TYPES:
        return _traced_number(value.node.array, SYMBOLIC_TYPES[kind], wide)
    if kind not in NUMBER_TYPES:
        value, kind = float(value), float
    if kind is not bool and (wide or (kind is int and not -(2**31) <= value < 2**31)):
        unsigned = kind is int and value >= 2**63
        words = np.asarray(value, np.uint64 if unsigned else _WIDE_NUMBER[kind])
        return WideNumber(kind, unsigned), words.reshape(1).view(np.uint32)
    return kind, device_scalar(value) if recording.tape is None else recording.tape.number(value)


def _traced_number(array: jax.Array, kind: type, wide: bool) -> tuple[Any, Any]:
    if kind is bool or (kind is float and not wide):  # an int may not fit into 32 bits
        return kind, jax.lax.convert_element_type(array, NUMBER_TYPES[kind])
    with jax.enable_x64(True):
        return WideNumber(kind, False), jax.lax.bitcast_convert_type(array, np.uint32)


def needs_64_bits(values: Sequence[Any]) -> bool:
    """Whether numbers must keep 64 bits: with a float64 or complex128 tensor or dtype, without any tensor, and with
    tensors of integers if the default dtype is float64."""
    dtypes = set()
    for value in values:
        if isinstance(value, torch.Tensor):
            dtypes.add(value.dtype)
        elif type(value) in SYMBOLIC_TYPES:
            continue
        elif isinstance(value, (list, tuple)):
            dtypes |= {v.dtype for v in value if isinstance(v, torch.Tensor)}
        elif value in _WIDE_DTYPES:
            return True
    exact = not any(d.is_floating_point or d.is_complex for d in dtypes)
    return not _WIDE_DTYPES.isdisjoint(dtypes) or (exact and (not dtypes or torch.get_default_dtype() == torch.float64))
