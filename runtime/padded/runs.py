"""Runs a call by a program for larger sizes: pads its operands and cuts the results."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..dispatch.executable import Executable
from ..storage.avals import contiguous_strides
from ..storage.placement import no_jax_trace, put
from ..storage.spec import Operand
from ..storage.views import plan
from ..xla.ahead import PendingExecutable
from ..xla.options import has_one_tier
from .symbols import Dims

# A call costs as much more than that of a program for its sizes as copying the padded arrays and `_CALL` further bytes.
# After `_ENOUGH` bytes that program would have paid for its compilation, and is compiled.
_CALL, _ENOUGH = 1 << 19, 1 << 26


class PassedTensor(NamedTuple):
    """A tensor among the operands of a call, perhaps a view of the array that is passed."""

    position: int
    operand: Operand
    start: int | None  # the position of the operand that states where its view starts

    def padded(self, operands: Sequence[Any], shape: Dims) -> np.ndarray:
        """The elements of the tensor in a larger array, of which the rest is zeros."""
        operand = self.operand
        if operand.overwritten:
            return np.zeros(shape, operand.base.dtype)
        memory = np.asarray(operands[self.position])
        larger = np.zeros(shape, memory.dtype)
        larger[tuple(map(slice, operand.spec.size))] = self._view(memory, operands)
        return larger

    def replaced(self, operands: Sequence[Any], values: np.ndarray) -> np.ndarray:
        """A copy of the array of which the tensor is a view, with the elements of the tensor replaced."""
        memory = np.asarray(operands[self.position]).copy()
        self._view(memory, operands)[...] = values
        return memory

    def _view(self, memory: np.ndarray, operands: Sequence[Any]) -> np.ndarray:
        operand, spec = self.operand, self.operand.spec
        if spec.covers(operand.base):
            return memory
        offset = spec.offset if self.start is None else _offset(operand, operands[self.start])
        strides = [stride * memory.itemsize for stride in spec.stride]
        flat = memory.reshape(-1)[offset:].view(f"V{memory.itemsize}")  # NumPy's function does not know JAX's dtypes
        return as_strided(flat, spec.size, strides, writeable=memory.flags.writeable).view(memory.dtype)


def _offset(operand: Operand, starts: jax.Array) -> int:
    """The offset of a view whose starts are an operand."""
    found = plan(operand.base.shape, operand.spec.size, operand.spec.stride, 0)
    assert found is not None
    return int(np.dot(np.asarray(starts), contiguous_strides(found.refined)))


class PaddedRun:
    """Takes the place of an executable's function: it runs a program for larger sizes, and after many calls that
    function."""

    def __init__(
        self,
        executable: Executable,
        name: str,
        larger: Callable[..., Any],
        pads: Sequence[tuple[PassedTensor, Dims]],
        cuts: Sequence[tuple[slice, ...]],
        views: Mapping[int, PassedTensor],
        sizes: Dims,
        moved: int,
    ) -> None:
        """See the class.

        Args:
            executable: that of the call.
            name: the attribute of the executable in whose place this is.
            larger: the program for larger sizes, which is passed the true ones first.
            pads: the operands to be padded, and their larger shapes.
            cuts: the parts of the results that are true.
            views: the written tensors that are parts of their arrays, by the positions of their results.
            sizes: the true sizes that `larger` is passed.
            moved: the bytes of padded operands and results, and of the arrays that are written in part.
        """
        self._executable, self._name = weakref.ref(executable), name  # which holds this object
        self._exact: Callable[..., Any] = getattr(executable, name)
        self.larger, self._pads, self._cuts, self._views = larger, pads, cuts, views
        self._sizes = np.array(sizes, np.int32)
        self._starts = sorted((tensor.start for tensor, _ in pads if tensor.start is not None), reverse=True)
        # Which call is the first of the other program depends only on the shapes, so that results are reproducible.
        self._cost, self._left, self._begun = _CALL + moved, _ENOUGH, False

    @property
    def program(self) -> Any:
        """That of the exact sizes, as that of `xla.calls.program`."""
        return self._exact.program  # type: ignore[attr-defined]

    @property
    def __wrapped__(self) -> Any:
        return self._exact.__wrapped__  # type: ignore[attr-defined]

    def __call__(self, *operands: Any) -> Sequence[Any]:
        """The results, of their true sizes."""
        if not no_jax_trace() or has_one_tier():
            return self._exact(*operands)
        self._left -= self._cost
        if self._left < _ENOUGH // 2 and not self._begun:
            self._begun = True
            PendingExecutable.begin(self.program, operands)  # a thread compiles it meanwhile
        if self._left < 0:
            if (executable := self._executable()) is not None:
                setattr(executable, self._name, self._exact)
                executable.padded = False
            return self._exact(*operands)
        larger = list(operands)
        for tensor, shape in self._pads:
            array = tensor.padded(operands, shape)
            larger[tensor.position] = put(array, 0) if array.itemsize >= 8 else array  # JAX would narrow 64-bit dtypes
        for start in self._starts:
            del larger[start]
        results = list(self.larger(self._sizes, *larger))
        for i, cut in enumerate(self._cuts):
            array = results[i]
            if array is not None and i in self._views:
                results[i] = put(self._views[i].replaced(operands, np.asarray(array)[cut]), 0)
            elif array is not None and array.shape != tuple([s.stop for s in cut]):
                results[i] = put(np.ascontiguousarray(np.asarray(array)[cut]), 0)
        return results
