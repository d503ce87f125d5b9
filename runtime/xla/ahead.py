"""Executables that a thread pool compiles while the program continues: XLA releases the GIL meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from typing import Any, Generic, TypeVar

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


class BackgroundWork(Generic[T]):
    """Work for the pool. If the result is needed before a thread has begun, the thread that needs it does the work."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._results: list[T] = []  # one element, once it is done
        self._lock = threading.Lock()
        self._future: Future[T | None] | None = None

    def start(self) -> None:
        """Submit it to the pool."""
        with suppress(RuntimeError):  # the interpreter is shutting down
            self._future = _pool().submit(lambda: self._do() if threading.main_thread().is_alive() else None)

    def _do(self) -> T:
        with self._lock:
            if not self._results:
                self._results.append(self._work())
                del self._work  # and what it refers to
            return self._results[0]

    def is_done(self) -> bool:
        """Whether `result` returns or raises immediately."""
        return bool(self._results) or (self._future is not None and self._future.done())

    def result(self) -> T:
        """The result of the work."""
        if not self._results and self._future is not None and not self._future.cancel():
            self._future.result()
        return self._do()


class PendingExecutable:
    """The executable of a program, which may still be compiling."""

    def __init__(
        self, program: EagerProgram, results: Sequence[Any], work: BackgroundWork[jax.stages.Compiled] | None = None
    ) -> None:
        self.program = program
        self.results = results  # the avals of the results; None where a result is None
        self._work, self._executable = work, program.executable

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
            executable = program.load(signature)
            if executable is not None:
                program.keep(executable, signature)
            else:
                key, traced = program.key_for(signature), program.trace(operands)
                results = jax.tree.unflatten(jax.tree.structure(traced.out_info), traced.jaxpr.out_avals)
                lowered = LoweredProgram(traced)
                work = BackgroundWork(partial(_compiled, program, lowered, key, signature))
                program.calls = lowered.first_code.calls
                program.made_for, program.coming = signature, cls(program, results, work)
                work.start()
        if program.made_for != signature:
            return None
        coming: PendingExecutable | None = program.coming
        if coming is not None:
            return coming
        assert program.executable is not None
        return cls(program, result_avals(program.executable))

    def is_ready(self) -> bool:
        """Whether `wait` returns immediately."""
        return self._work is None or self._work.is_done()

    def wait(self) -> jax.stages.Compiled:
        """The executable."""
        executable = self._executable if self._work is None else self._work.result()
        assert executable is not None
        return executable

    def __call__(self, operands: tuple[Any, ...]) -> Sequence[jax.Array | None]:
        """Run the executable, waiting for it if necessary."""
        return observed(lambda *given: call_compiled(self.wait(), given), self.program)(*operands)


def _compiled(
    program: EagerProgram, lowered: LoweredProgram, key: str | None, signature: tuple[Any, ...]
) -> jax.stages.Compiled:
    try:
        with waiting_for(program.function.__name__):
            executable = program.compile(lowered, key)
        program.keep(executable, signature)
        return executable
    except BaseException:
        program.made_for = None  # the next call tries again
        raise
    finally:
        program.coming = None
