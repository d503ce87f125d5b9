"""An operation traced with symbols for the sizes that change, and its programs for rounded sizes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from math import prod
from typing import Any
from weakref import WeakValueDictionary

import jax
import numpy as np
from jax import export, lax
from jax.extend.core import ClosedJaxpr

from .._jax import size_with
from ..dispatch.encode import EncodedCall
from ..dispatch.executable import Executable
from ..dispatch.lowering_trace import trace_functions
from ..dispatch.signature import Signature
from ..dispatch.stored_key import stored_key
from ..dispatch.value_checks import with_checks
from ..dtypes import numpy_dtype
from ..holding import narrowed
from ..storage.access import memory_shape
from ..storage.spec import Operand, TensorSpec
from ..xla.calls import program
from .evaluation import evaluate
from .parts import Shapes, structs, with_shapes
from .runs import Pad, PaddedRun
from .sizes import Sizes
from .symbols import Dims, rounded, substituted

logger = logging.getLogger("tenax")

_LARGE = 1 << 22  # bytes of the padded operands and results; a larger call has a program of its own


def traced(
    signature: Signature, call: EncodedCall, symbolic: Shapes, orders: Sequence[Any]
) -> SymbolicOperation | None:
    """Trace an operation with symbols for its changing sizes; None if its function needs to know them.

    Args:
        signature: that of the operation.
        call: one of its calls.
        symbolic: its shapes that contain changing sizes, as `symbols.pattern` writes them.
        orders: the memory orders of its results, empty if they are contiguous.
    """
    names = [f"n{i}" for i in range(-min(place for shape in symbolic.values() for place in shape))]
    bounds = [f"{name} {bound}" for name in names for bound in (">= 2", f"<= {_LARGE}")]
    symbols = export.symbolic_shape(", ".join(names), constraints=bounds)
    shapes: Any = {place: substituted(shape, symbols) for place, shape in symbolic.items()}
    changed = with_shapes(signature, call, shapes)
    run, check, _ = trace_functions(signature, [], changed, "free")
    function: Any = with_checks(run, check) if signature.row.checks else run
    try:
        with jax.enable_x64(True):  # without it, a ShapeDtypeStruct of int64 becomes int32
            closed = jax.make_jaxpr(function)(*structs(changed, shapes))
    except Exception as error:  # whatever it raises for a symbol
        logger.debug("%s is compiled for each size: %s", signature.name, error)
        return None
    return SymbolicOperation(signature, names, closed, symbolic, orders)


class SymbolicOperation:
    """An operation, traced with symbols for the sizes that change."""

    def __init__(
        self, signature: Signature, names: list[str], closed: ClosedJaxpr, symbolic: Shapes, orders: Sequence[Any]
    ) -> None:
        """`names` are those of the symbols in `closed`; the rest is as in `traced`."""
        self.signature, self.names, self.closed = signature, names, closed
        self.symbolic, self.orders = symbolic, orders
        # An executable that uses a program holds it, so evicting these frees it.
        self._programs: WeakValueDictionary[Dims, Any] = WeakValueDictionary()
        self._impossible: set[Dims] = set()

    def serve(
        self,
        executable: Executable,
        call: EncodedCall,
        operands: dict[int, Operand],
        specs: Sequence[TensorSpec],
        sizes: Dims,
    ) -> None:
        """Let an executable run the program for its rounded sizes.

        Args:
            executable: that of the call.
            call: the call.
            operands: its tensors, by position.
            specs: those of its results, or of the tensors that it writes.
            sizes: the values of the symbols.
        """
        true = dict(zip(self.names, sizes, strict=True))
        avals = [v.aval for v in self.closed.jaxpr.outvars]
        checks = len(self.signature.row.checks)
        if len(avals) != len(specs) + checks:
            return
        for aval, spec in zip(avals, specs, strict=False):
            if tuple([_size(n, true) for n in aval.shape]) != spec.size or aval.dtype != numpy_dtype(spec.dtype):
                return
        larger = tuple(map(rounded, sizes))
        moved = self._moved(operands, larger)
        if moved > _LARGE:
            return
        run = None if larger in self._impossible else self._programs.get(larger) or self._program(call, larger)
        if run is None:
            self._impossible.add(larger)
            return
        self._programs[larger] = run
        dynamic = [i for i, operand in operands.items() if operand.dynamic]
        starts = {i: len(call.operands) + k for k, i in enumerate(dynamic)}
        pads = [
            Pad(place, operands[place], starts.get(place), substituted(shape, larger))
            for place, shape in self.symbolic.items()
            if isinstance(place, int)
        ]
        cuts = [tuple(map(slice, memory_shape(spec))) for spec in specs]
        name = "checked" if checks else "run"
        setattr(executable, name, PaddedRun(executable, name, run, pads, cuts, sizes, moved))
        executable.padded = True

    def _moved(self, operands: dict[int, Operand], larger: Dims) -> int:
        """The bytes of the padded operands and results."""
        sizes = dict(zip(self.names, larger, strict=True))
        arrays = [(v.aval.dtype, [_size(n, sizes) for n in v.aval.shape]) for v in self.closed.jaxpr.outvars]
        for place, shape in self.symbolic.items():
            if isinstance(place, int):
                arrays.append((operands[place].base.dtype, [*substituted(shape, larger)]))
        return sum(dtype.itemsize * prod(shape) for dtype, shape in arrays)

    def _program(self, call: EncodedCall, larger: Dims) -> Callable[..., Any] | None:
        """The program for rounded sizes; None if an operation cannot be computed on padded arrays."""
        signature, names, closed, orders = self.signature, self.names, self.closed, self.orders
        jaxpr = closed.jaxpr
        sizes = dict(zip(names, larger, strict=True))
        shapes: Any = {place: substituted(shape, larger) for place, shape in self.symbolic.items()}
        changed = with_shapes(signature, call, shapes)
        given = structs(changed, shapes)
        moved = [(v.aval.dtype, [_size(n, sizes) for n in v.aval.shape]) for v in jaxpr.outvars]
        moved += [(given[place].dtype, shape) for place, shape in shapes.items() if isinstance(place, int)]
        if sum(dtype.itemsize * prod(shape) for dtype, shape in moved) > _LARGE:
            return None
        # A written tensor that does not change keeps its array.
        unchanged = set() if signature.fresh else {i for i, v in enumerate(jaxpr.outvars) if v in jaxpr.invars}

        def padded(known: Any, *operands: Any) -> tuple[Any, ...]:
            with jax.enable_x64(True):
                true = {name: lax.convert_element_type(known[i], np.int64) for i, name in enumerate(names)}
                results = evaluate(Sizes(sizes, true), closed, [x for x in operands if x is not None])
                for i, order in enumerate(orders):
                    results[i] = lax.transpose(results[i], order) if order else results[i]
                return tuple([None if i in unchanged else x for i, x in enumerate(results)])

        padded.__name__ = padded.__qualname__ = signature.name
        try:
            with jax.enable_x64(True):
                jax.eval_shape(padded, jax.ShapeDtypeStruct((len(names),), np.int32), *given)
        except Exception as error:  # above all NotPaddableError; the program for exact sizes works in any case
            logger.debug("%s is compiled for each size: %s", signature.name, error)
            return None
        name = stored_key(signature, changed)
        return program(*narrowed(padded, name and f"for many sizes {name} {self.symbolic} {orders}"))


def _size(size: Any, values: dict[str, int]) -> int:
    return size if isinstance(size, int) else int(size_with(size, values))
