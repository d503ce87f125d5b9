"""Executables that a thread pool compiles while the program continues: XLA releases the GIL meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

import jax

from .._jax import call_compiled, result_avals
from .environment import cores
from .lowering import LoweredProgram
from .program import EagerProgram, observed
from .waiting import waiting_for

T = TypeVar("T")


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(2, cores() or 1), thread_name_prefix="tenax-compile")


def background(work: Callable[[], T]) -> Callable[[], T]:
    """Run `work` on the pool. The returned function waits for the result, or does the work if no thread has begun."""
    try:
        future = _pool().submit(lambda: work() if threading.main_thread().is_alive() else None)
    except RuntimeError:  # the interpreter is shutting down
        return work

    def result() -> T:
        found = None if future.cancel() else future.result()
        return work() if found is None else found

    return result


class PendingExecutable:
    """The executable of a program, which may still be compiling."""

    def __init__(self, program: EagerProgram, signature: tuple[Any, ...]) -> None:
        self.program, self.signature = program, signature
        self.results: Sequence[Any] = ()  # the avals of the results; None where a result is None
        self.executable: jax.stages.Compiled | None = None
        self._key: str | None = None
        self._lowered: LoweredProgram | None = None
        self._future: Future[None] | None = None
        self._lock = threading.Lock()

    @classmethod
    def begin(cls, program: EagerProgram, operands: tuple[Any, ...]) -> PendingExecutable | None:
        """Load a program; if it is not stored, trace and lower it and start its compilation.

        Args:
            program: the program.
            operands: those of the call: arrays, NumPy scalars, and avals of arrays that are not computed yet.

        Returns:
            None if `jax.jit` should handle the call.
        """
        signature = program.signature(operands)
        if signature is None:
            return None
        if program.made_for is None:
            key = program.key_for(signature)
            executable = program.load(signature)
            if executable is not None:
                program.keep(executable, signature)
            else:
                coming = cls(program, signature)
                traced = program.trace(operands)
                coming.results = jax.tree.unflatten(jax.tree.structure(traced.out_info), traced.jaxpr.out_avals)
                coming._key, coming._lowered = key, LoweredProgram(traced)
                program.calls = coming._lowered.first_code.calls
                program.made_for, program.coming = signature, coming
                coming._submit()
        if program.made_for != signature:
            return None
        coming = program.coming
        if coming is None:
            coming = cls(program, signature)
            coming.executable = executable = program.executable
            assert executable is not None
            coming.results = result_avals(executable)
        return coming

    def _submit(self) -> None:
        with suppress(RuntimeError):  # the interpreter is shutting down
            self._future = _pool().submit(self._work)

    def _work(self) -> None:
        if threading.main_thread().is_alive():  # otherwise nothing waits for the rest of the queue
            with self._lock:
                self._make()

    def _make(self) -> None:
        if self.executable is not None or self._lowered is None:
            return
        program, lowered = self.program, self._lowered
        try:
            with waiting_for(program.function.__name__):
                self.executable = program.compile(lowered, self._key)
            program.keep(self.executable, self.signature)
        except BaseException:
            program.made_for = None  # the next call tries again
            raise
        finally:
            self._lowered = None
            program.coming = None

    def is_ready(self) -> bool:
        """Whether `wait` returns immediately."""
        return self.executable is not None or (self._future is not None and self._future.done())

    def wait(self) -> jax.stages.Compiled:
        """The executable. If no thread has started to compile it, this thread does."""
        future = self._future
        if self.executable is None and future is not None and not future.cancel():
            future.result()
        if self.executable is None:
            with self._lock:
                self._make()
        assert self.executable is not None
        return self.executable

    def __call__(self, operands: tuple[Any, ...]) -> Sequence[jax.Array | None]:
        """Run the executable, waiting for it if necessary."""
        return observed(lambda *given: call_compiled(self.wait(), given), self.program)(*operands)
