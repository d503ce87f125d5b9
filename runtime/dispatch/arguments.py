"""How arguments travel to an executable: what stands in its key, and what is an operand.

In the key: the geometry and dtype of each tensor, static arguments, the type of each number. Operands: the arrays, the
numbers, and the starts of views.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import jax
import numpy as np
import torch

from ..device.cell import Cell, Fill, Kind, untraced
from ..dtypes import torch_dtype
from .views import View, locate

# How a number travels. JAX makes 64-bit scalars 32-bit, which is exact enough beside tensors of at most 32 bits: torch
# rounds it to their dtype too. Elsewhere it travels as the 32-bit words of its 64-bit form.
NUMBER: dict[type, Any] = {bool: np.bool_, int: np.int32, float: np.float32, complex: np.complex64}
_WIDE_NUMBER: dict[type, Any] = {int: np.int64, float: np.float64, complex: np.complex128}
_WIDE_DTYPES = {torch.float64, torch.complex128}

# Entries of the caches below; a full one starts anew.
_PARTS_HELD, _SCALARS_HELD = 1 << 14, 1 << 10


@dataclass(frozen=True, eq=False, slots=True)
class Operand:
    """The static part of a tensor argument; interned by `operand`."""

    shape: tuple[int, ...]  # of the base
    dtype: torch.dtype
    base_dtype: np.dtype | None  # where it differs or may differ from `dtype`
    view: View | None
    bits: int  # 1: conjugated, 2: negated
    blind: bool  # written and not read: nothing is passed


@cache
def operand(
    shape: tuple[int, ...],
    dtype: torch.dtype,
    base_dtype: np.dtype | None = None,
    view: View | None = None,
    bits: int = 0,
    blind: bool = False,
) -> Operand:
    """The one `Operand` of these fields: keys compare it by identity."""
    return Operand(shape, dtype, base_dtype, view, bits, blind)


def whole(kind: Kind) -> Operand:
    """The operand of a tensor that is all of its storage."""
    if kind.operand is None:
        kind.operand = operand(kind.shape, torch_dtype(kind.dtype))
    return kind.operand


_parts: dict[Any, tuple[Operand, jax.Array | None]] = {}
_identity = jax.jit(lambda array: array)  # the cheapest way from NumPy to a device


def _place(array: Any) -> Any:
    """A small host array on the device; within a trace it stays a constant."""
    return _identity(array) if untraced() else array


def part(kind: Kind, size: torch.Size, stride: tuple[int, ...], offset: int) -> tuple[Operand, jax.Array | None]:
    """The operand of a view, and its starts where they are an operand of their own."""
    key = (kind, size, stride, offset)
    found = _parts.get(key)
    if found is None:
        view, starts = locate(kind.shape, tuple(size), stride, offset)
        if len(_parts) >= _PARTS_HELD:
            _parts.clear()
        held = None if starts is None else _place(starts)
        found = _parts[key] = operand(kind.shape, torch_dtype(kind.dtype), None, view), held
    return found


def odd_part(cell: Cell, value: torch.Tensor) -> tuple[Operand, jax.Array | None]:
    """As `part`, for a tensor that is lazily conjugated or negated, or shares its storage with other dtypes."""
    size, stride, offset = tuple(value.size()), value.stride(), int(value.storage_offset())
    bits = value.is_conj() + 2 * value.is_neg()
    if cell.mixed:  # sizes count elements of the tensor, and the base is read flat: its starts are no operand
        return operand(cell.shape, value.dtype, cell.dtype, View(size, stride, offset), bits), None
    view, starts = locate(cell.shape, size, stride, offset)
    return operand(cell.shape, value.dtype, None, view, bits), None if starts is None else _place(starts)


_scalars: dict[tuple[type, type, Any], Any] = {}


def scalar(value: Any, dtype: type | None = None) -> Any:
    """A number as an operand, of a NumPy type of at most 32 bits. One seen again stays on the device, ready to pass.

    Raises:
        KeyError: it is no Python number.
        OverflowError: it is an int of more than 32 bits.
    """
    kind = value.__class__
    dtype = dtype or NUMBER[kind]
    key = (dtype, kind, value if value and kind is not complex else repr(value))  # 0.0 and -0.0 are equal
    held = _scalars.get(key)
    if held is None:
        if len(_scalars) >= _SCALARS_HELD:
            _scalars.clear()
        with np.errstate(over="ignore"):
            held = _scalars[key] = dtype(value)
    elif isinstance(held, np.generic):
        held = _scalars[key] = _place(held)
    return held


def loan(cell: Cell) -> Any:
    """What the fast path passes for a cell without `value`; None where that path does not apply."""
    if cell.index or cell.mixed:
        return None
    number = lazy_scalar(cell)
    return cell.read() if number is None else number


def lazy_scalar(cell: Cell) -> Any:
    """A 0-dim array not yet made, as of `x[i] = 3`, passed as a number: no transfer of its own. None for others."""
    kind = cell.kind
    if kind.shape or kind.dtype.itemsize > 4 or cell.held.__class__ is not Fill:
        return None
    return scalar(cell.held.value, kind.dtype.type)


class Plain(NamedTuple):
    """A static argument, or a keyword number left at its default: 2, 2.0 and True are equal, and not the same."""

    value: Any
    kind: type


class Words(NamedTuple):
    """A number that travels as 32-bit words."""

    kind: type
    unsigned: bool

    @property
    def dtype(self) -> np.dtype:
        """What the words are."""
        return np.dtype(np.uint64 if self.unsigned else _WIDE_NUMBER[self.kind])


def number(value: Any, wide: bool) -> tuple[Any, Any]:
    """What stands in the key for a number, and its operand. With `wide` all its 64 bits travel."""
    if value is None:
        return None, None
    kind = value.__class__
    if kind in SYMBOLS:
        return _traced_number(value.node.array, SYMBOLS[kind], wide)
    if kind not in NUMBER:
        value, kind = float(value), float
    if kind is not bool and (wide or (kind is int and not -(2**31) <= value < 2**31)):
        unsigned = kind is int and value >= 2**63
        words = np.asarray(value, np.uint64 if unsigned else _WIDE_NUMBER[kind])
        return Words(kind, unsigned), words.reshape(1).view(np.uint32)
    return kind, scalar(value)


# Numbers that a trace computes (symbol.py), and the Python types that they stand for.
SYMBOLS: dict[type, type] = {torch.SymBool: bool, torch.SymInt: int, torch.SymFloat: float}


def _traced_number(array: jax.Array, kind: type, wide: bool) -> tuple[Any, Any]:
    if kind is bool or not wide:
        return kind, jax.lax.convert_element_type(array, NUMBER[kind])
    with jax.enable_x64(True):
        return Words(kind, False), jax.lax.bitcast_convert_type(array, np.uint32)


def is_wide(values: Sequence[Any]) -> bool:
    """Whether numbers must keep 64 bits: beside a 64-bit tensor, or where no tensor says otherwise."""
    dtypes = set()
    for value in values:
        if isinstance(value, torch.Tensor):
            dtypes.add(value.dtype)
        elif value.__class__ in SYMBOLS:
            continue
        elif isinstance(value, (list, tuple)):
            dtypes |= {v.dtype for v in value if isinstance(v, torch.Tensor)}
        elif value in _WIDE_DTYPES:
            return True
    return not dtypes or not _WIDE_DTYPES.isdisjoint(dtypes)


def frozen(value: Any) -> Any:
    """Lists as tuples, which can stand in a key."""
    return tuple(frozen(v) for v in value) if isinstance(value, (list, tuple)) else value
