"""Encodes a call as the key of its executable and the operands that are passed to it.

The key contains the geometry and dtype of each tensor, static arguments, and the type of each number. The arrays, the
values of numbers, and the starts of views are operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ..errors import mixed_devices
from ..float32_products import float32_products
from ..storage.avals import Aval, LazyFill
from ..storage.cell import Cell
from ..storage.ordinals import NAME, current_index, device_index
from ..storage.random import next_key
from ..storage.recording import recording
from ..storage.spec import Operand, TensorSpec, operand_of
from ..trace.core import SYMBOLIC_TYPES, current_trace, require_known
from .operands import (
    NUMBER_TYPES,
    StaticValue,
    WideNumber,
    encode_number,
    is_in_key,
    lazy_scalar,
    needs_64_bits,
    view_operand,
    whole_operand,
)
from .signature import Argument, Signature, hashable

NO_KEY = np.zeros(2, np.uint32)
# What is printed in the text of a key.
_PRINTED = (type(None), bool, int, float, complex, str, torch.dtype, torch.layout, torch.memory_format, torch.device)


class EncodedCall:
    """An encoded call: the key of its executable and the operands that are passed to it."""

    __slots__ = (
        *("cells", "index", "key", "operands", "parts", "positions", "reads", "shared", "starts", "wide", "written"),
    )

    key: Any

    def __init__(self, wide: bool) -> None:
        self.wide = wide
        self.operands: list[Any] = []  # one for each tensor and number of the schema; None if nothing is passed
        self.starts: list[Any] = []  # starts of views, passed after the operands
        self.parts: list[Any] = []
        self.written: list[torch.Tensor] = []
        self.cells: list[Cell] = []  # of the written tensors
        self.positions: list[int] = []  # of their bases among the operands, -1 for a base that is not read
        self.reads: list[Cell] = []  # of the tensors that a foreach op only reads
        self.shared = False  # whether a foreach op writes a storage that it is passed more than once
        self.index: int | None = None

    def writes(self, tensor: torch.Tensor, cell: Cell, position: int) -> None:
        """Add a written tensor."""
        self.written.append(tensor)
        self.cells.append(cell)
        self.positions.append(position)


def encode(signature: Signature, values: Sequence[Any]) -> EncodedCall:
    """Split the arguments into the key and the operands."""
    call = EncodedCall(needs_64_bits(values))
    parts = call.parts
    for slot, value in zip(signature.arguments, values, strict=True):
        kind = slot.kind
        if kind == "tensor":
            parts.append(_tensor(signature, call, slot, value, values))
        elif kind == "static":
            if type(value) in NUMBER_TYPES:
                value = StaticValue(value, type(value))
            else:
                for part in value if value.__class__ is list else (value,):
                    if type(part) in SYMBOLIC_TYPES:
                        require_known(part.node.array, f"{signature.name}: {slot.name}")
                value = hashable(value) if value.__class__ is list else value
            parts.append(value)
        elif kind == "number":
            parts.append(_number(call, signature.name, slot, value))
        elif kind == "tensors":
            parts.append(None if value is None else _tensors(signature, call, slot, value))
        elif kind == "numbers":
            parts.append(None if value is None else tuple([_number(call, signature.name, slot, v) for v in value]))
        elif kind == "device":
            call.index = device_index(value) if call.index is None else call.index
            parts.append(None)
        else:
            parts.append(None if kind == "generator" else value)
    if signature.row.random:
        generator = next((v for s, v in zip(signature.arguments, values, strict=True) if s.kind == "generator"), None)
        call.operands.append(draw_key_for(signature, values, generator))
    if call.index is None:
        call.index = current_index()
    order: tuple[int, ...] = ()
    distinct = set(call.cells)
    call.shared = signature.foreach and _is_shared(call, distinct)
    if len(distinct) < len(call.cells):
        seen: dict[Cell, int] = {}
        order = tuple(seen.setdefault(c, len(seen)) for c in call.cells)
    call.key = (tuple(parts), torch.get_default_dtype(), call.index, order)
    return call


def _is_shared(call: EncodedCall, distinct: set[Cell]) -> bool:
    """Whether a foreach call writes a storage that it is passed more than once."""
    if len(distinct) < len(call.cells) or not distinct.isdisjoint(call.reads):
        return True
    if current_trace() is None:
        return False
    memories = {cell.memory for cell in call.cells}  # detached tensors of a pure function have their own cells
    return len(memories) < len(call.cells) or any(cell.memory in memories for cell in call.reads)


def draw_key_for(signature: Signature, values: Sequence[Any], generator: torch.Generator | None = None) -> Any:
    """Raw key data for a random op; nothing is drawn for a call that uses no random numbers."""
    return NO_KEY if signature.is_idle(values) else next_key(generator)


def is_always_idle(signature: Signature, call: EncodedCall) -> bool:
    """Whether a call of a random op draws no numbers because of arguments that are in the key."""
    decisive = [call.parts[i] for i in signature.draws_if]
    return any(p.__class__ is StaticValue and p.value is not None and not p.value for p in decisive)


def _number(call: EncodedCall, name: str, slot: Argument, value: Any) -> Any:
    """Encode a number: its type is in the key, and its value is an operand unless it is in the key as well."""
    if is_in_key(name, slot, value):
        call.operands.append(None)
        value = value.node.guard_float("", 0) if type(value) in SYMBOLIC_TYPES else value
        return StaticValue(value, type(value))
    words = slot.special or ()
    exact = call.wide and not (words and type(value) is int)  # 32 bits hold an int, or it is passed with 64 anyway
    part, operand = encode_number(value, exact or "wide" in words)
    call.operands.append(operand)
    return (part, not value >= 0) if "sign" in words and type(value) is not complex else part


def _tensor(signature: Signature, call: EncodedCall, slot: Argument, value: Any, values: Any) -> Operand | None:
    """Encode one of the tensors in `values`: its geometry is in the key; its base and its starts are operands."""
    operands = call.operands
    if value is None:
        operands.append(None)
        return None
    try:
        cell = value.untyped_storage().cell
    except AttributeError:
        from .unusual_arguments import not_of_device

        part, passed = not_of_device(signature.name, slot, value, values, call.index, call.wide)
        operands.append(passed)
        return part
    if cell.index != call.index:
        if call.index is not None:
            raise mixed_devices(signature.name, f"{NAME}:{cell.index}", f"{NAME}:{call.index}")
        call.index = cell.index
    aval = cell.aval
    if cell.mixed or (signature.sees_bits and (value.is_conj() or value.is_neg())):
        if slot.written and aval.dtype == bool and value.dtype != torch.bool:
            cell.write(cell.read().astype(np.uint8))  # a storage of bool could not hold the bytes that are written
        from .unusual_arguments import unusual_view

        operand, starts = unusual_view(cell, value)
    else:
        size, stride = value.size(), value.stride()
        if size == aval.shape and stride == aval.stride:
            operand = aval.whole_operand or whole_operand(aval)
            if slot.written and signature.overwrites:
                call.writes(value, cell, -1)
                operands.append(None)
                return operand_of(aval, operand.spec, overwritten=True)
            starts = None
        else:
            operand, starts = view_operand(aval, size, stride, value.storage_offset())
    content = cell.content if recording.tape is None else recording.tape.operand(cell)
    if content.__class__ is LazyFill:
        content = None if slot.written else lazy_scalar(cell)
        if content is None:
            content = cell.read()
    if slot.written:
        call.writes(value, cell, len(operands))
    elif signature.foreach:
        call.reads.append(cell)
    operands.append(content)
    if starts is not None:
        call.starts.append(starts)
    return operand


def _tensors(
    signature: Signature, call: EncodedCall, slot: Argument, values: Sequence[Any]
) -> tuple[Operand | None, ...]:
    """As `_tensor`, for a list, with a fast case for whole tensors: an optimizer passes hundreds of them."""
    try:
        cells = [v.untyped_storage().cell for v in values]
    except AttributeError:
        cells = []
    avals = [c.aval for c in cells]
    tape = recording.tape  # read first, because reading an array may close it
    arrays = [c.array for c in cells] if tape is None else [tape.plain_operand(c) for c in cells]
    parts = tuple([a.whole_operand for a in avals])
    if (
        not cells
        or call.index  # cells with an `array` are on device 0
        or signature.sees_bits
        or None in parts
        or any(array is None for array in arrays)
        or [v.size() for v in values] != [a.shape for a in avals]
        or [v.stride() for v in values] != [a.stride for a in avals]
    ):
        return tuple([_tensor(signature, call, slot, v, values) for v in values])
    call.index = 0
    if slot.written:
        call.written += values
        call.cells += cells
        call.positions += range(len(call.operands), len(call.operands) + len(cells))
    elif signature.foreach:
        call.reads += cells
    call.operands += arrays
    return parts


def stored_key(signature: Signature, call: EncodedCall) -> str | None:
    """The key of a call as text, under which its executable is stored for later processes; None if it cannot be.

    Only operators whose lowering is in a module of tenax have one. A lowering that a program registered may change
    between processes, and so may a function of `tenax::call` that tenax did not derive from such an operator.
    """
    name, parts = signature.lasting(call.key[0])
    if call.index or signature.host_values or name is None:
        return None
    try:
        return f"{name} {text((parts, call.key[1:], len(call.starts), float32_products.precision))}"
    except LookupError:
        return None


def text(part: Any) -> str:
    """A part of a key as text that is stable across processes; LookupError if there is none."""
    kind = part.__class__
    if kind in _PRINTED:
        return f"{kind.__name__}:{part!r}"
    if kind is Operand:
        return f"operand({text((part.base, part.spec, part.dynamic, part.overwritten))})"
    if kind is Aval and part.sharding is None:
        return f"{part.dtype}{list(part.shape)}"
    if kind in (tuple, list, torch.Size, StaticValue, WideNumber, TensorSpec):
        return f"{kind.__name__}({', '.join(map(text, part))})"
    if kind is type:
        return part.__name__
    if isinstance(part, np.dtype):
        return str(part)
    raise LookupError(kind)
