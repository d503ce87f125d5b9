"""Which calls programs for many sizes serve.

If an operation is called with a third combination of sizes, all else being equal, it is traced with symbols for the
sizes that change (`operations.py`). Its program computes on arrays of rounded sizes, so most further sizes need no
compilation. The host copies the arguments into larger arrays, and the results are the first parts of larger ones
(`runs.py`); so only the CPU has such programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax

from ..dispatch.encode import EncodedCall
from ..dispatch.executable import Executable
from ..dispatch.signature import Signature
from ..float32_products import float32_products
from ..storage.access import memory_order
from ..storage.placement import no_jax_trace
from ..storage.recording import recording
from ..storage.spec import Operand
from ..storage.views import plan
from ..trace.core import current_trace
from ..xla.options import has_one_tier, has_tiers
from .parts import Shapes, shapes_of, written_operands
from .symbols import Dims, pattern, values_of

if TYPE_CHECKING:
    from .operations import SymbolicOperation

_FAMILIES, _OPERATIONS = 1024, 256  # of an operation, and of a family; a full table is cleared
_SEEN = 64  # combinations of sizes that a family remembers


def serve(dispatcher: Any, executable: Executable, call: EncodedCall) -> None:
    """Let the executable of a new combination of sizes run a program for many sizes, if there can be one.

    Args:
        dispatcher: that of the operation, with the executables of other calls.
        executable: that of the call.
        call: the call.
    """
    signature = dispatcher.signature
    if not has_tiers() or jax.local_devices()[0].platform != "cpu" or has_one_tier() or not _is_eager():
        return
    if dispatcher.families is None:
        dispatcher.families = {}
        for parts, *rest in dispatcher.entries:
            if _is_usual(signature, rest):
                shapes, key, _ = shapes_of(signature, parts)
                _family(dispatcher.families, (*key, *rest)).saw(shapes)
    rest = [*call.key[1:]]
    special = executable.surround is not None or executable.instead is not None or executable.resize
    if special or call.index or not _is_usual(signature, rest):
        return
    shapes, key, operands = shapes_of(signature, call.parts)
    if not any(o.reinterprets or o.base.sharding is not None for o in operands.values()):
        family = _family(dispatcher.families, (*key, *rest))
        dispatcher.sizes_change |= family.serve(executable, signature, call, shapes, operands)


def _is_eager() -> bool:
    tape = recording.tape
    return (tape is None or tape.ahead) and no_jax_trace() and current_trace() is None


def _is_usual(signature: Signature, rest: list[Any]) -> bool:
    """Whether programs for many sizes can serve an operation, given the part of a key that is not of its arguments."""
    row, writes = signature.row, any(slot.written for slot in signature.arguments)
    unusual = row.random or row.host_values or signature.foreach or writes == signature.fresh
    return bool(row.module) and not unusual and rest[2:] == [()]  # no storage is passed twice


def _is_slice(written: Operand) -> bool:
    """Whether each index of a written tensor has an element of its own, found by slicing its array."""
    spec = written.spec
    return spec.covers(written.base) or (
        not spec.is_expanded() and plan(written.base.shape, spec.size, spec.stride, spec.offset) is not None
    )


def _family(families: dict[Any, CallFamily], key: Any) -> CallFamily:
    if len(families) >= _FAMILIES:
        families.clear()
    return families.setdefault((*key, float32_products.precision), CallFamily())


class CallFamily:
    """The calls of an operation that differ in sizes only."""

    def __init__(self) -> None:
        self._seen: dict[Dims, None] = {}
        self._patterns: dict[Dims, None] = {}  # those that have served a call
        self._operations: dict[Any, SymbolicOperation] = {}

    def saw(self, shapes: Shapes) -> Dims:
        """Remember the sizes of a call."""
        dims = tuple([n for shape in shapes.values() for n in shape])
        if len(self._seen) < _SEEN:
            self._seen[dims] = None
        return dims

    def serve(
        self,
        executable: Executable,
        signature: Signature,
        call: EncodedCall,
        shapes: Shapes,
        operands: dict[int, Operand],
    ) -> bool:
        """Let the executable of a call run a program for many sizes; return whether there is one.

        `shapes` and `operands` are from `shapes_of`.
        """
        earlier = [*self._seen]
        dims = self.saw(shapes)
        fitting = (p for p in self._patterns if values_of(p, dims) is not None)
        changing = next(fitting, None) or pattern(earlier, dims)
        written = written_operands(signature, call.parts)
        # The host writes a part of an array, in the order of its indices.
        specs = [o.spec if o.spec.covers(o.base) else o.spec.resized(o.spec.size) for o in written] or executable.specs
        orders = [() if spec.is_contiguous() else memory_order(spec) for spec in specs]
        if changing is None or None in orders or not all(map(_is_slice, written)):
            return False
        symbolic: Shapes = {}
        rest = changing
        for place, shape in shapes.items():
            own, rest = rest[: len(shape)], rest[len(shape) :]
            if min(own, default=0) < 0:
                symbolic[place] = own
        fixed = tuple(operand for i, operand in operands.items() if i not in symbolic)
        key = changing, fixed, tuple(orders)
        if key not in self._operations:
            if len(self._operations) >= _OPERATIONS:
                self._operations.clear()
                self._patterns.clear()
            from .operations import SymbolicOperation  # only for programs that need it

            self._operations[key] = SymbolicOperation(signature, call, symbolic, orders)
        sizes = values_of(changing, dims)
        assert sizes is not None
        served = self._operations[key].serve(executable, call, operands, specs, sizes)
        if served:
            self._patterns[changing] = None
        return served
