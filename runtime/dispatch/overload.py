"""One overload of the device: binds a call to its schema, finds or builds its executable, applies the result.

The key of an executable holds all that a trace depends on (see arguments.py).
"""

from __future__ import annotations

import builtins
import importlib
import keyword
import sys
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch

from ..device.backend import current_index, device_index
from ..device.cell import Cell, Fill, cell_of, put, untraced
from ..device.convert import upload
from ..device.random import next_key
from ..dtypes import numpy_dtype
from ..errors import mixed_devices
from ..tracing.deferred import Condition
from ..tracing.trace import at_line, current, refuse, takes_host
from . import dynamic
from .arguments import (
    NUMBER,
    SYMBOLS,
    Operand,
    Plain,
    Words,
    frozen,
    is_wide,
    lazy_scalar,
    number,
    odd_part,
    operand,
    part,
    whole,
)
from .executable import Bound, Executable, build
from .meta import LOWERING_ERRORS, Output, has_meta, raise_of_host, warn_of_resize
from .overlap import overlaps, shares
from .prepare import PREPARE, Done
from .release import fit, known

_DROPPED = {"layout", "pin_memory", "memory_format", "generator", "non_blocking"}
# In-place ops that overwrite without reading.
_BLIND = {
    *("fill_", "zero_", "copy_", "normal_", "uniform_", "random_", "bernoulli_"),
    *("exponential_", "geometric_", "cauchy_", "log_normal_"),
}
# Arguments that, when false or 0, say that a random op draws nothing.
_IDLE = {"dropout", "dropout_p", "train", "training"}
_NO_KEY = np.zeros(2, np.uint32)
_DONATE_FROM = 1 << 16  # bytes on average; below it a fresh buffer costs less than finding out
_HELD = 1 << 14  # executables of an overload, and entries of its fast path; a full table starts anew


class Slot(NamedTuple):
    """One argument of a schema. Kinds: tensor, tensors, number, numbers, static, device, dropped."""

    name: str
    kind: str
    default: Any
    written: bool
    keyword: bool  # keyword-only
    parameter: str  # of the lowering


def argument_kind(argument: Any, name: str, static: Sequence[str]) -> str:
    kind = str(argument.type)
    if name == "device" and "Device" in kind:
        return "device"
    if name in _DROPPED and not kind.startswith("List"):
        return "generator" if "Generator" in kind else "dropped"
    if "Tensor" in kind:
        return "tensors" if "List" in kind else "tensor"
    if name in static:
        return "static"
    if kind in ("number", "float", "Optional[number]", "Optional[float]"):
        return "number"
    if kind == "List[number]":
        return "numbers"
    return "static"


class Call:
    """One call, encoded: the key of its executable and what is passed to it."""

    __slots__ = ("cells", "index", "key", "operands", "parts", "positions", "starts", "wide", "written")

    key: Any

    def __init__(self, wide: bool) -> None:
        self.wide = wide
        self.operands: list[Any] = []  # one for each tensor and number of the schema, None where there is none
        self.starts: list[Any] = []  # passed after them
        self.parts: list[Any] = []
        self.written: list[torch.Tensor] = []
        self.cells: list[Cell] = []  # of the written tensors
        self.positions: list[int] = []  # of their bases among the operands, -1 for one that is not read
        self.index: int | None = None

    def writes(self, tensor: torch.Tensor, cell: Cell, position: int) -> None:
        """Note a written tensor."""
        self.written.append(tensor)
        self.cells.append(cell)
        self.positions.append(position)


class Overload:
    """A callable registered with torch's dispatcher for one overload."""

    def __init__(self, name: str, row: Any) -> None:
        packet, _, overload = name.partition(".")
        namespace, _, packet = packet.rpartition("::")
        self.name = name
        self.row = row
        self.packet = packet
        self.op = getattr(getattr(getattr(torch.ops, namespace or "aten"), packet), overload or "default")
        schema = self.op._schema
        writes = set(row.writes)
        now = {before: parameter for parameter, before in row.renamed}
        names = [now.get(a.name, a.name) for a in schema.arguments]
        self.slots = [
            Slot(
                a.name,
                argument_kind(a, name, row.static),
                frozen(a.default_value) if a.has_default_value() else None,
                (a.alias_info is not None and a.alias_info.is_write) or name in writes,
                a.kwarg_only,
                f"{name}_" if keyword.iskeyword(name) else name,
            )
            for a, name in zip(schema.arguments, names, strict=True)
        ]
        self.positional = sum(not a.kwarg_only for a in schema.arguments)
        self.names = [s.name for s in self.slots]
        self.returns = [str(r.type) for r in schema.returns]
        self.outs = [i for i, s in enumerate(self.slots) if s.written and s.keyword] if row.form == "out" else []
        # Whether the op makes new tensors; else it returns its written arguments, or nothing.
        self.fresh = bool(schema.returns) and all(r.alias_info is None for r in schema.returns)
        self.blind = row.form == "inplace" and packet in _BLIND
        self.foreach = row.form == "inplace" and any(s.kind == "tensors" and s.written for s in self.slots)
        self.sees_bits = name in bit_ops()
        self.idle = [i for i, n in enumerate(self.names) if n in _IDLE or (packet, n) == ("native_dropout", "p")]
        self.prepare = PREPARE.get(name)
        self.entries: dict[Any, Executable] = {}
        self.fast: dict[Any, Executable | Bound] = {}
        self._lowering: Any = None

    # -- the lowering ------------------------------------------------------------------------------------------------

    @property
    def lowering(self) -> Any:
        """The generated function."""
        if self._lowering is None:
            module = importlib.import_module(f"tenax.generated.{self.row.module}")
            self._lowering = getattr(module, self.row.function)
        return self._lowering

    @cached_property
    def known(self) -> tuple[frozenset[str], frozenset[str]] | None:
        """The parameters of a generated function, and those that it needs; any other lowering takes what comes."""
        return known(self.lowering) if self.row.module else None

    @cached_property
    def has_meta(self) -> bool:
        """Whether torch says what a call gives; else the lowering does."""
        return has_meta(self.op)

    @property
    def takes_dtype(self) -> bool:
        """Whether the lowering of an `out=` form wants the dtype that its schema leaves to the out tensor."""
        code = self.lowering.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        return "dtype" in names and "dtype" not in self.names

    @property
    def checks(self) -> Any:
        """The generated function that computes the conditions of `check:`."""
        module = importlib.import_module(f"tenax.generated.{self.row.module}")
        return getattr(module, f"{self.row.function}__checks")

    def parameters(self, values: Sequence[Any]) -> dict[str, Any]:
        """Keyword arguments of the lowering: what the runtime keeps to itself is left out."""
        given = {
            s.parameter: v
            for i, (s, v) in enumerate(zip(self.slots, values, strict=True))
            if s.kind not in ("dropped", "device", "generator") and i not in self.outs
        }
        if self.known is None or self.known[1] <= given.keys() <= self.known[0]:
            return given
        return fit(self.name, given, {s.parameter: s.default for s in self.slots}, *self.known)

    def packed(self, results: list[Any]) -> Any:
        """Results, one after another, as the schema returns them."""
        if len(self.returns) == 1:
            return results[0] if self.returns[0] == "Tensor" else results
        return tuple(results[: len(self.returns)])

    # -- a call ------------------------------------------------------------------------------------------------------

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments in schema order, defaults filled in."""
        values = list(args)
        for slot in self.slots[len(args) :]:
            values.append(kwargs.get(slot.name, slot.default))
        return values

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.run(self.bind(args, kwargs))

    def run(self, values: list[Any], fast_key: Any = None, resized: bool = False) -> Any:
        """Execute the op on bound arguments."""
        if self.row.dynamic:
            return dynamic.run(self, values)
        if self.prepare is not None:
            prepared = self.prepare(values)
            if isinstance(prepared, Done):
                return prepared.result
            values = prepared
        call = self.encode(values)
        if call.written and not self.foreach and shares(call):
            reads = [v for s, v in zip(self.slots, values, strict=True) if not s.written]
            call.key = (*call.key, *overlaps(call.written, reads))
        key = call.key
        executable = self.entries.get(key)
        if executable is None:
            executable = build(self, values, call)
            if len(self.entries) >= _HELD:
                self.entries.clear()
            self.entries[key] = executable
        if executable.resize:
            if resized:  # an input that is the out tensor changed with it
                raise RuntimeError(
                    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
                    "single memory location. Please clone() the tensor before performing the operation."
                )
            self.resize_outs(values, executable.resize)
            return self.run(values, resized=True)
        if fast_key is not None and self.is_fast(call, executable.outputs):
            if len(self.fast) >= _HELD:
                self.fast.clear()
            self.fast[fast_key] = executable.bound(call.starts)
        if executable.check is not None:
            if untraced():
                self.verify(executable, call, values)
            else:  # a program that JAX traces cannot raise of its values
                self.defer(executable, call)
        donate = bool(call.written) and self.donatable(call)  # before anything else holds an operand
        operands = (*call.operands, *call.starts)
        try:
            results = executable.donate_to(operands) if donate else executable.run(*operands)
        except LOWERING_ERRORS:
            raise_of_host(self.op, self.names, values, self.positional, blank=True)
            raise
        if not call.written:
            return executable.finish(results, call.index or 0)
        n = executable.count
        cells = call.cells if not executable.order else dict.fromkeys(call.cells)
        for cell, array in zip(cells, results[n:], strict=True):
            if array is not None:
                cell.replace(array)
        return self.returned(values, call, executable, results[:n])

    def is_fast(self, call: Call, outputs: Sequence[Output]) -> bool:
        """Whether the key of the fast path decides the executable and its operands are the plain arrays in order."""
        if call.index or call.wide or any(c.mixed or c.nbytes >= _DONATE_FROM for c in call.cells):
            return False
        if any(p.__class__ is Words or (p.__class__ is Operand and p.bits) for p in call.parts):
            return False
        # Integers with a float number or result follow the default dtype, which that key does not hold.
        operands = [p.dtype for p in call.parts if p.__class__ is Operand]
        results = [o.dtype for o in outputs]
        follows = any(p is float or p is complex for p in call.parts) or any(map(_is_inexact, results))
        return not follows or any(map(_is_inexact, operands))

    def returned(self, values: Sequence[Any], call: Call, executable: Executable, results: Sequence[Any]) -> Any:
        """What the op gives back: its written arguments, fresh results, or nothing."""
        if executable.count:
            return executable.finish(results, call.index or 0)
        written = [values[i] for i in self.outs or [i for i, s in enumerate(self.slots) if s.written]]
        if any(isinstance(w, (list, tuple)) for w in written):
            tensors = [t for w in written for t in (w if isinstance(w, (list, tuple)) else [w]) if t is not None]
            torch.autograd.graph.increment_version(tensors)
        if not self.returns:
            return None
        return written[0] if len(self.returns) == 1 else tuple(written)

    def encode(self, values: Sequence[Any]) -> Call:
        """Sort the arguments into the key and the operands."""
        call = Call(is_wide(values))
        parts = call.parts
        for slot, value in zip(self.slots, values, strict=True):
            kind = slot.kind
            if kind == "tensor":
                parts.append(self.tensor_part(call, slot, value))
            elif kind == "static":
                if value.__class__ in NUMBER:
                    value = Plain(value, value.__class__)
                else:
                    for part in value if value.__class__ is list else (value,):
                        if part.__class__ in SYMBOLS:
                            refuse(part.node.array, f"{self.name}: {slot.name}")  # type: ignore[attr-defined]
                    value = frozen(value) if value.__class__ is list else value
                parts.append(value)
            elif kind == "number":
                plain = slot.keyword and value.__class__ in NUMBER and value == slot.default
                if plain:
                    call.operands.append(None)
                parts.append(Plain(value, value.__class__) if plain else self.number_part(call, value))
            elif kind == "tensors":
                parts.append(None if value is None else self.tensors_part(call, slot, value))
            elif kind == "numbers":
                parts.append(None if value is None else tuple([self.number_part(call, v) for v in value]))
            elif kind == "device":
                call.index = device_index(value) if call.index is None else call.index
                parts.append(None)
            else:
                parts.append(None if kind == "generator" else value)
        if self.row.random:
            generator = next((v for s, v in zip(self.slots, values, strict=True) if s.kind == "generator"), None)
            call.operands.append(self.key(values, generator))
        if call.index is None:
            call.index = current_index()
        order: tuple[int, ...] = ()
        if len(set(call.cells)) < len(call.cells):
            seen: dict[Cell, int] = {}
            order = tuple(seen.setdefault(c, len(seen)) for c in call.cells)
        call.key = (tuple(parts), torch.get_default_dtype(), call.index, order)
        return call

    def key(self, values: Sequence[Any], generator: torch.Generator | None = None) -> Any:
        """Raw key data for a random op; none is drawn for a call that needs no number."""
        return _NO_KEY if self.is_idle(values) else next_key(generator)

    def is_idle(self, values: Sequence[Any]) -> bool:
        """Whether a call of a random op draws nothing."""
        return any(values[i] is not None and not values[i] for i in self.idle)

    def number_part(self, call: Call, value: Any) -> Any:
        """A traced number: its type is in the key, its value an operand."""
        held, passed = number(value, call.wide)
        call.operands.append(passed)
        return held

    def tensor_part(self, call: Call, slot: Slot, value: Any) -> Operand | None:
        """A tensor argument: its geometry is in the key, its base (and the starts of a view) are operands."""
        operands = call.operands
        if value is None:
            operands.append(None)
            return None
        try:
            cell = value.untyped_storage().cell
        except AttributeError:
            return self.foreign_part(call, slot, value)
        if cell.index != call.index:
            if call.index is not None:
                raise mixed_devices(self.name, f"jax:{cell.index}", f"jax:{call.index}")
            call.index = cell.index
        kind = cell.kind
        if cell.mixed or (self.sees_bits and (value.is_conj() or value.is_neg())):
            found, starts = odd_part(cell, value)
        else:
            size, stride = value.size(), value.stride()
            if size == kind.shape and stride == kind.stride:
                found = kind.operand or whole(kind)
                if slot.written and self.blind:
                    call.writes(value, cell, -1)
                    operands.append(None)
                    return operand(found.shape, found.dtype, blind=True)
                starts = None
            else:
                found, starts = part(kind, size, stride, value.storage_offset())
        held = cell.held
        if held.__class__ is Fill:
            held = None if slot.written else lazy_scalar(cell)
            if held is None:
                held = cell.read()
        if slot.written:
            call.writes(value, cell, len(operands))
        operands.append(held)
        if starts is not None:
            call.starts.append(starts)
        return found

    def tensors_part(self, call: Call, slot: Slot, values: Sequence[Any]) -> tuple[Operand | None, ...]:
        """As `tensor_part`, for a list: an optimizer passes hundreds of tensors, nearly always all of them whole."""
        try:
            cells = [v.untyped_storage().cell for v in values]
        except AttributeError:
            cells = []
        kinds = [c.kind for c in cells]
        held = [c.value for c in cells]
        parts = tuple([k.operand for k in kinds])
        if (
            not cells
            or call.index  # and where `value` is not None, the index is 0
            or self.sees_bits
            or None in parts
            or any(h is None for h in held)
            or [v.size() for v in values] != [k.shape for k in kinds]
            or [v.stride() for v in values] != [k.stride for k in kinds]
        ):
            return tuple([self.tensor_part(call, slot, v) for v in values])
        call.index = 0
        if slot.written:
            call.written += values
            call.cells += cells
            call.positions += range(len(call.operands), len(call.operands) + len(cells))
        call.operands += held
        return parts

    def foreign_part(self, call: Call, slot: Slot, value: Any) -> Any:
        """A number or 0-dim CPU tensor in a tensor's place; any CPU tensor where a pure function is traced."""
        if not isinstance(value, torch.Tensor):
            return self.number_part(call, value)
        device = value.device.type
        if device == "jax":
            cell_of(value)  # raises: there is no cell
        if slot.written or device != "cpu" or (value.dim() and not takes_host()):
            raise mixed_devices(self.name, value.device, f"jax:{call.index or 0}")
        if value.dim():
            call.operands.append(upload(value, None))
            return operand(tuple(value.size()), value.dtype)
        call.operands.append(put(np.asarray(value.item(), numpy_dtype(value.dtype)), call.index or 0))
        return operand((), value.dtype)

    def donatable(self, call: Call) -> bool:
        """Whether the executable may reuse the written arrays: nobody else holds one, and none is passed twice."""
        operands = call.operands
        cells = call.cells
        if sum([c.kind.nbytes for c in cells]) < _DONATE_FROM * len(cells) or any(c.mixed for c in cells):
            return False
        if not untraced():
            return False
        for cell, position in zip(cells, call.positions, strict=True):
            if position < 0:
                continue
            array = operands[position]
            # Held by: the cell (twice on the fast path), the operands, `array`, and getrefcount's own argument.
            if sys.getrefcount(array) > 4 + (cell.value is not None):
                return False
        return True

    def verify(self, executable: Executable, call: Call, values: Sequence[Any]) -> None:
        """Raise when a `check:` does not hold: what the CPU kernel raises of the same values, else the spec's error."""
        assert executable.check is not None
        for holds, (kind, message) in zip(executable.check(*call.operands, *call.starts), self.row.checks, strict=True):
            if not holds:
                raise_of_host(self.op, self.names, values, self.positional)
                raise (getattr(builtins, kind, None) or getattr(torch.linalg, kind))(message)

    def defer(self, executable: Executable, call: Call) -> None:
        """Have a compiled function find out whether its `check:` holds; in other traces the values stay unchecked."""
        trace = current()
        if trace is not None and trace.lifts:
            assert executable.check is not None
            flags, where = executable.check(*call.operands, *call.starts), at_line()
            trace.conditions += zip(
                flags, (Condition(kind, message, where) for kind, message in self.row.checks), strict=True
            )

    def resize_outs(self, values: Sequence[Any], outputs: Sequence[Output]) -> None:
        """Give `out=` tensors the result's shape and strides, with torch's warning when they were not empty."""
        wrong = [(values[i], o) for i, o in zip(self.outs, outputs, strict=True) if tuple(values[i].shape) != o.size]
        if any(out.numel() for out, _ in wrong):
            warn_of_resize(self.op, self.names, values, self.positional)
        for out, (size, stride, _) in wrong:
            out.resize_(size)
            if stride is not None:
                out.as_strided_(size, stride)


def _is_inexact(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex


@lru_cache(maxsize=1)
def bit_ops() -> frozenset[str]:
    """The ops that get lazily conjugated or negated tensors as they are; for all others torch resolves them first."""
    registered = torch._C._dispatch_get_registrations_for_dispatch_key
    return frozenset(n.removeprefix("aten::") for key in ("Conjugate", "Negative") for n in registered(key))
