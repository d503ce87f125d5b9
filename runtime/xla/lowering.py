"""Lowered programs, created in MLIR contexts that are reused.

JAX creates a context for each program, which takes as long as lowering a small one. A context is used by one program at
a time, until that is compiled, because XLA may load dialects into it while other threads run.
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

import jax

from .. import patches
from .._jax import mlir_context
from ..platforms import platform
from .options import KEPT_BARRIERS, Code, first_code

_MOST = 128  # maximum programs per context, because it keeps their types and locations


class _ReusedContext:
    context: Any = None
    served = 0


class _Lowering(threading.local):
    context: _ReusedContext | None = None  # for the program that this thread is lowering


_free: list[_ReusedContext] = []  # contexts whose programs are compiled
_lowering = _Lowering()


def _make_ir_context() -> Any:
    reused = _lowering.context
    if reused is None:  # another program, such as one of the user
        return mlir_context()
    if reused.context is None:
        reused.context = mlir_context()
    return reused.context


patches.replace("jax._src.interpreters.mlir.make_ir_context", _make_ir_context)


class LoweredProgram:
    """A program in StableHLO, which can be compiled once."""

    def __init__(self, traced: jax.stages.Traced) -> None:
        try:
            self._context = _free.pop()
        except IndexError:
            self._context = _ReusedContext()
        _lowering.context = self._context
        try:
            self._lowered = traced.lower()
        finally:
            _lowering.context = None
        self.text = self._lowered.as_text()
        self._avals = (*traced.jaxpr.in_avals, *traced.jaxpr.out_avals)

    @cached_property
    def first_code(self) -> Code:
        """How to compile the program for its first calls."""
        return first_code(self.text, self._avals)

    def compile(self, options: dict[str, Any] | None) -> jax.stages.Compiled:
        """Compile the program, which frees it: it cannot be compiled again."""
        if "stablehlo.while" in self.text and "optimization_barrier" in self.text:  # in the step of a recurrence
            options = {**(options or {}), **KEPT_BARRIERS.get(platform(), {})}
        compiled = self._lowered.compile(options)
        del self._lowered
        self._context.served += 1
        if self._context.served < _MOST:
            _free.append(self._context)
        return compiled
