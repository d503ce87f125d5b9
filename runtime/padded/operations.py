"""An operation with symbols for the sizes that change, and its programs for rounded sizes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cached_property
from math import prod
from typing import Any
from weakref import WeakValueDictionary

import jax
import jax.numpy as jnp
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
from ..xla import stored
from ..xla.calls import program
from .evaluation import evaluate
from .parts import Shapes, structs, with_shapes
from .runs import PaddedRun, PassedTensor
from .sizes import Sizes
from .symbols import Dims, rounded, substituted

logger = logging.getLogger("tenax")

# Bytes of the padded operands and results, and of the arrays that are written in part, which are only copied. A larger
# call has a program of its own.
_LARGE, _LARGEST_COPY = 1 << 22, 1 << 25

Result = tuple[tuple[int | str, ...], str]  # the shape, with symbols in texts, and the dtype


class SymbolicOperation:
    """An operation with symbols for the sizes that change. It is traced only if a program has to be compiled."""

    def __init__(self, signature: Signature, call: EncodedCall, symbolic: Shapes, orders: Sequence[Any]) -> None:
        """See the class.

        Args:
            signature: that of the operation.
            call: one of its calls.
            symbolic: its shapes that contain changing sizes, as `symbols.pattern` writes them.
            orders: the memory orders of its results, empty if they are contiguous.
        """
        self.signature, self.symbolic, self.orders = signature, symbolic, orders
        names = [f"n{i}" for i in range(-min(place for shape in symbolic.values() for place in shape))]
        bounds = [f"{name} {bound}" for name in names for bound in (">= 2", f"<= {_LARGE}")]
        self.names, self._scope = names, export.SymbolicScope(bounds)
        symbols = export.symbolic_shape(", ".join(names), scope=self._scope)
        shapes: Any = {place: substituted(shape, symbols) for place, shape in symbolic.items()}
        changed = with_shapes(signature, call, shapes)
        run, check = trace_functions(signature, [], changed, "free")
        self._function: Any = with_checks(run, check) if signature.row.checks else run
        self._structs = structs(changed, shapes)
        self._written = [*call.positions]
        self._results: dict[Dims, list[tuple[Any, np.dtype]] | None] = {}  # by rounded sizes; None if impossible
        # An executable that uses a program holds it, so evicting these frees it.
        self._programs: WeakValueDictionary[Dims, Any] = WeakValueDictionary()

    def serve(
        self,
        executable: Executable,
        call: EncodedCall,
        operands: dict[int, Operand],
        specs: Sequence[TensorSpec],
        sizes: Dims,
    ) -> bool:
        """Let an executable run the program for its rounded sizes; return whether there is one.

        Args:
            executable: that of the call.
            call: the call.
            operands: its tensors, by position.
            specs: those of its results, or of the tensors that it writes.
            sizes: the values of the symbols.
        """
        larger = tuple(map(rounded, sizes))
        shapes: Any = {place: substituted(shape, larger) for place, shape in self.symbolic.items()}
        changed = with_shapes(self.signature, call, shapes)
        if larger not in self._results:
            self._results[larger] = self._described(self._name(changed), larger, structs(changed, shapes))
        results = self._results[larger]
        if results is None or not self._agree(results, specs, sizes):
            return False
        arrays = [(dtype, [_size(n, self.names, larger) for n in shape]) for shape, dtype in results]
        arrays += [(operands[i].base.dtype, shape) for i, shape in shapes.items() if isinstance(i, int)]
        moved = sum(dtype.itemsize * prod(shape) for dtype, shape in arrays)
        parts = [(i, place) for i, place in enumerate(call.positions) if place >= 0 and not _covers(operands[place])]
        copied = sum(operands[place].base.nbytes for _, place in parts)
        if moved > _LARGE or copied > _LARGEST_COPY:
            return False
        run = self._programs.get(larger)
        if run is None:
            run = self._programs[larger] = program(*narrowed(self._padded(larger), self._name(changed)))
        dynamic = [i for i, operand in operands.items() if operand.dynamic]
        starts = {i: len(call.operands) + k for k, i in enumerate(dynamic)}
        tensors = {i: PassedTensor(i, operand, starts.get(i)) for i, operand in operands.items()}
        pads = [(tensors[i], shape) for i, shape in shapes.items() if isinstance(i, int)]
        cuts = [tuple(map(slice, memory_shape(spec))) for spec in specs]
        views = {i: tensors[place] for i, place in parts}
        attribute = "checked" if self.signature.row.checks else "run"
        padded = PaddedRun(executable, attribute, run, pads, cuts, views, sizes, moved + copied)
        setattr(executable, attribute, padded)
        executable.padded = True
        return True

    def _name(self, larger: EncodedCall) -> str | None:
        """The text under which what belongs to rounded sizes is stored; None if it cannot be."""
        name = stored_key(self.signature, larger)
        return name and f"for many sizes {name} {self.symbolic} {self.orders}"

    @cached_property
    def _closed(self) -> ClosedJaxpr | None:
        """The jaxpr of the operation; None if its function needs to know the sizes."""
        try:
            with jax.enable_x64(True):  # without it, a ShapeDtypeStruct of int64 becomes int32
                return jax.make_jaxpr(self._function)(*self._structs)
        except Exception as error:  # whatever it raises for a symbol
            logger.debug("%s is compiled for each size: %s", self.signature.name, error)
            return None

    def _padded(self, larger: Dims) -> Callable[..., Any]:
        """The function that computes on arrays of rounded sizes, and is passed the true ones first."""
        names, orders = self.names, self.orders
        sizes = dict(zip(names, larger, strict=True))

        def padded(known: Any, *operands: Any) -> tuple[Any, ...]:
            closed = self._closed
            assert closed is not None
            with jax.enable_x64(True):
                true = {name: lax.convert_element_type(known[i], np.int64) for i, name in enumerate(names)}
                results = evaluate(Sizes(sizes, true), closed, [x for x in operands if x is not None])
                for i, order in enumerate(orders):
                    results[i] = lax.transpose(results[i], order) if order else results[i]
                return tuple([None if i in self._unchanged else x for i, x in enumerate(results)])

        padded.__name__ = padded.__qualname__ = self.signature.name
        return padded

    @cached_property
    def _unchanged(self) -> set[int]:
        """The results that are written tensors which do not change, and keep their arrays."""
        if self._closed is None:
            return set()
        passed = [i for i, x in enumerate(self._structs) if x is not None]
        variables = dict(zip(passed, self._closed.jaxpr.invars, strict=True))
        outcomes = enumerate(zip(self._closed.jaxpr.outvars, self._written, strict=False))
        return {i for i, (v, position) in outcomes if position >= 0 and v is variables[position]}

    def _described(self, name: str | None, larger: Dims, given: list[Any]) -> list[tuple[Any, np.dtype]] | None:
        """The symbolic shapes and the dtypes of the results; None if they cannot be computed on padded arrays."""

        def found() -> list[Result] | None:
            if self._closed is None:
                return None
            try:
                with jax.enable_x64(True):
                    known = jax.ShapeDtypeStruct((len(self.names),), np.int32)
                    jax.eval_shape(self._padded(larger), known, *given)
            except Exception as error:  # above all NotPaddableError; the program for exact sizes works in any case
                logger.debug("%s is compiled for each size: %s", self.signature.name, error)
                return None
            avals = [v.aval for v in self._closed.jaxpr.outvars]
            return [(tuple([n if isinstance(n, int) else str(n) for n in a.shape]), a.dtype.name) for a in avals]

        facts = stored.remembered(name and f"results {name}", found)
        if facts is None:
            return None
        scope = self._scope
        return [
            (export.symbolic_shape(", ".join(map(str, shape)), scope=scope) if shape else (), jnp.dtype(dtype))
            for shape, dtype in facts
        ]

    def _agree(self, results: list[tuple[Any, np.dtype]], specs: Sequence[TensorSpec], sizes: Dims) -> bool:
        """Whether the results of a call are those that torch expects, besides the flags of checks."""
        if len(results) != len(specs) + len(self.signature.row.checks):
            return False
        return all(
            tuple([_size(n, self.names, sizes) for n in shape]) == spec.size and dtype == numpy_dtype(spec.dtype)
            for (shape, dtype), spec in zip(results, specs, strict=False)
        )


def _covers(operand: Operand) -> bool:
    return operand.spec.covers(operand.base)


def _size(size: Any, names: Sequence[str], values: Dims) -> int:
    return size if isinstance(size, int) else int(size_with(size, dict(zip(names, values, strict=True))))
