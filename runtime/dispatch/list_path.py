"""The fast path for repeated calls of operators on lists of tensors, as in optimizers, and of operators that write some
arguments and also return new tensors.

A step has hundreds of tensors, so whole lists are processed by C functions such as `map`. Other calls go to
`Dispatcher.run`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import torch

from ..storage.avals import Aval
from ..storage.cell import Cell
from ..storage.mutation import mutation_epoch
from ..storage.placement import no_jax_trace
from ..storage.recording import recording
from ..trace.core import current_trace
from .dispatcher import Dispatcher
from .donation import MANY, is_held, is_worthwhile, repeat_until_done
from .executable import BoundExecutable, Executable
from .operands import is_in_key, varying_scalar
from .signature import hashable

_storage, _size, _stride = torch.Tensor.untyped_storage, torch.Tensor.size, torch.Tensor.stride
_cell, _aval, _array = attrgetter("cell"), attrgetter("aval"), attrgetter("array")
_shape, _strides = attrgetter("shape"), attrgetter("stride")
_NOTHING = type(None)


class UnusualArgumentError(Exception):
    """A call that the fast path does not cover."""


def _geometry(tensor: torch.Tensor, aval: Aval, size: torch.Size, stride: tuple[int, ...]) -> Any:
    """The key part of a tensor, which may be a view: a bias gradient still has the axis over which it was summed, and a
    channels-last result has another memory order."""
    if size == aval.shape and stride == aval.stride:
        return aval
    return aval, size, stride, tensor.storage_offset()


class ListCall:
    """A parsed call: the key of its executable, its operands, the cells that it writes, and their positions."""

    __slots__ = ("beside", "cells", "key", "operands", "positions")

    def __init__(self, dispatcher: Dispatcher, values: Sequence[Any]) -> None:
        """Parse a call; raises UnusualArgumentError, or any error caused by arguments of unexpected types."""
        self.cells: list[Cell] = []
        self.positions: list[int] = []
        self.operands: list[Any] = []
        self.beside: Any = None  # the dtype of the first tensor
        key: list[Any] = []
        read: list[Cell] = []
        for slot, value in zip(dispatcher.signature.arguments, values, strict=True):
            kind = slot.kind
            if kind == "static" or value is None:
                key.append((type(value), hashable(value)))
                if kind == "tensor" or kind == "number":
                    self.operands.append(None)
            elif kind == "tensors" or kind == "tensor":
                tensors = value if kind == "tensors" else (value,)
                if dispatcher.signature.sees_bits and any(t.is_conj() or t.is_neg() for t in tensors):
                    raise UnusualArgumentError
                cells = self._tensors(key, tensors)
                if slot.written:
                    start = len(self.operands) - len(cells)
                    self.cells += cells
                    self.positions += range(start, len(self.operands))
                else:
                    read += cells
            elif kind == "numbers":
                key.append(tuple([type(v) for v in value]))
                for v in value:
                    self._number(v, False)
            elif kind == "number":
                usual = is_in_key(dispatcher.signature.name, slot, value)
                key.append((type(value), usual))
                if slot.special is not None:
                    key.append(value if usual else "sign" in slot.special and not value >= 0)
                if usual:
                    self.operands.append(None)
                else:
                    self._number(value, slot.special is not None and "wide" in slot.special)
            else:
                raise UnusualArgumentError
        if dispatcher.signature.follows_default_dtype:
            key.append(torch.get_default_dtype())
        written = set(self.cells)
        if len(written) < len(self.cells) or not written.isdisjoint(read):
            raise UnusualArgumentError
        self.key = tuple(key)

    def _tensors(self, key: list[Any], tensors: Sequence[torch.Tensor]) -> list[Cell]:
        cells = list(map(_cell, map(_storage, tensors)))
        self.beside = self.beside or (cells[0].aval.dtype if cells else None)
        avals = tuple(map(_aval, cells))
        sizes, strides = list(map(_size, tensors)), list(map(_stride, tensors))
        if sizes != list(map(_shape, avals)) or strides != list(map(_strides, avals)):
            key.append(tuple(map(_geometry, tensors, avals, sizes, strides)))
        else:
            key.append(avals)
        self.operands += self._arrays(cells)
        return cells

    def _number(self, value: Any, wide: bool) -> None:
        self.operands.append(varying_scalar(value, self.beside, wide))

    def _arrays(self, cells: Sequence[Cell]) -> list[Any]:
        arrays = list(map(_array, cells))
        if _NOTHING in map(type, arrays):  # a lazy fill, or a cell that is excluded from the fast path
            if any(c.mixed or c.index for c in cells):
                raise UnusualArgumentError
            arrays = [c.read() for c in cells]
        return arrays


class ListKernel:
    """The kernel of an operator on lists of tensors that writes them or returns new tensors."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self.dispatcher.signature.bind(args, kwargs)
        prepared = self.prepared(values)
        return self.dispatcher.call(values) if prepared is None else prepared()

    def prepared(self, values: list[Any]) -> Callable[[], Any] | None:
        """Return a function that executes a call, given its arguments in schema order; None off the fast path."""
        tape = recording.tape
        if not no_jax_trace() or current_trace() is not None:  # cells of a trace may present the memory of others
            return None
        try:
            if tape is not None and tape.ahead:
                return (lambda: self.dispatcher.call(values)) if self.is_apart(values) else None
            if tape is not None:
                return tape.list_call(self.dispatcher, values)
            call = ListCall(self.dispatcher, values)
        except (AttributeError, KeyError, OverflowError, RuntimeError, TypeError, UnusualArgumentError):
            return None
        return lambda: self.run(values, call)

    def is_apart(self, values: list[Any]) -> bool:
        """Whether no written tensor shares its storage with another argument."""
        written: list[Cell] = []
        read: list[Cell] = []
        for slot, value in zip(self.dispatcher.signature.arguments, values, strict=True):
            if slot.kind in ("tensors", "tensor") and value is not None:
                tensors = value if slot.kind == "tensors" else (value,)
                (written if slot.written else read).extend(map(_cell, map(_storage, tensors)))
        return len(set(written)) == len(written) and set(written).isdisjoint(read)

    def run(self, values: list[Any], call: ListCall) -> Any:
        """Execute the operator. Nothing but `call` may hold references to its operands."""
        dispatcher = self.dispatcher
        executable: Any = dispatcher.fast.get(call.key)
        cells, operands = call.cells, call.operands
        if executable.__class__ is BoundExecutable and not cells:  # with operands for the starts of its views
            try:
                results = executable.run(*operands)
            except (RuntimeError, ValueError) as error:
                return dispatcher.call(values, None, error)
            if results is not None:
                return executable.finish(results, 0)
        if executable.__class__ is not Executable:
            operands.clear()  # these references would prevent donation
            return dispatcher.call(values, call.key)
        count = executable.count
        ran: list[Any] = []
        donate = (
            bool(cells)
            and (len(cells) >= MANY or is_worthwhile(sum([c.aval.nbytes for c in cells]), len(cells)))
            and not is_held(operands, executable.donate, call.positions, cells, at_hand=True)
        )
        try:
            if donate:
                executable.donate_to(operands, ran)
            else:
                ran.append(executable.run(*operands))
            if cells:
                _write(cells, ran[0], count)
        except (RuntimeError, ValueError) as error:
            return dispatcher.call(values, None, error)
        except BaseException:
            if ran and cells:  # Ctrl-C: the old arrays are donated, so the cells must get the new ones
                repeat_until_done(lambda: _write(cells, ran[0], count))
            raise
        made = executable.finish(ran[0][:count], 0) if count or not cells else None
        return dispatcher.returned(values, made) if cells else made


def _write(cells: Sequence[Cell], results: Sequence[Any], count: int) -> None:
    """Write the results after the first `count` into their cells."""
    try:
        for cell, array in zip(cells, results[count:] if count else results, strict=True):
            if array is not None:
                cell.content = cell.array = array
    finally:
        mutation_epoch.advance()
