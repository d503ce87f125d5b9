"""A call of a collective as torch's `Work`, which has an error, or results that are written into tensors.

The thread of the group computes the results. The thread that waits for the call, or for a later one of its own, writes
them: a write to a part of a storage replaces the whole array, and would otherwise lose what the program writes to other
parts meanwhile.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from .._torch import pytree
from ..trace.core import current_trace, user_line
from .tensors import is_whole


class _Unwritten(threading.local):
    """The calls of this thread whose results are not written yet, in order."""

    def __init__(self) -> None:
        self.unwritten: dict[CollectiveWork, None] = {}


_calls = _Unwritten()


class CollectiveWork(dist.Work):
    """One call of a collective; `wait` returns when its results are in the tensors, or raises its error."""

    def __init__(self, result: Any, description: Callable[[], str]) -> None:
        super().__init__()
        self.description = description
        self.started = time.monotonic()
        self._result = result
        self.source = -1  # the rank from which the message of a `recv` came
        self._error: Exception | None = None
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._future: Any = None
        self._writing = threading.RLock()
        self._write: Callable[[], object] | None = None  # writes the results
        self._unwritten = _calls.unwritten  # of the thread that makes the call
        self._unwritten[self] = None

    def finish(self, error: Exception | None = None, write: Callable[[], object] | None = None) -> bool:
        """Finish the call, with an error or results that `write` writes; return False if it had already finished."""
        with self._lock:
            if self._done.is_set():
                return False
            self._error, self._write = error, write
            future = self._future
            if write is None:
                self._unwritten.pop(self, None)
            self._done.set()
        if future is not None:
            self._write_results()
            self._complete(future)
        return True

    @property
    def has_finished(self) -> bool:
        """Whether the call has finished; its results may not be in the tensors yet."""
        return self._done.is_set()

    def _write_results(self) -> None:
        with self._writing:
            write, self._write = self._write, None
            self._unwritten.pop(self, None)
            if write is not None:
                try:
                    write()
                except Exception as error:
                    self._error = error

    def _write_in_order(self) -> None:
        """Write the results of this call, and of other calls of this thread that have finished.

        Raises:
            NotImplementedError: a compiled function, which has not made the call, would write them.
        """
        if current_trace() is not None:
            if self._write is not None:
                raise NotImplementedError(
                    f"{self.description()}: wait(){user_line()} in a compiled function, of a call outside of it: not "
                    "supported; wait before the function is called"
                )
            return
        for work in [*_calls.unwritten, self]:
            if work.has_finished:
                work._write_results()

    def _complete(self, future: Any) -> None:
        if self._error is not None:
            future.set_exception(self._error)
        else:
            future.set_result(self._result)

    def join(self, seconds: float | None = None) -> None:
        """Wait until the call has finished, and raise its error; its results are not written."""
        if not self._done.wait(seconds or None):
            raise dist.DistBackendError(f"{self.description()}: not finished within the {seconds} s of wait()")
        if self._error is not None:
            raise self._error

    def wait(self, timeout: Any = None) -> bool:
        """Wait for the results.

        Raises:
            DistBackendError: another rank ended, did not take part in time, or called something else.
        """
        self.join(timeout.total_seconds() if timeout else None)
        self._write_in_order()
        self.join()  # raises if they cannot be written
        return True

    def is_completed(self) -> bool:
        """Whether the call has finished. If so, its results are in the tensors."""
        if self.has_finished:
            self._write_in_order()
        return self.has_finished

    def is_success(self) -> bool:
        """Whether the call has finished without an error."""
        return self.is_completed() and self._error is None

    def exception(self) -> Exception | None:
        """The error of the call."""
        return self._error

    def synchronize(self) -> None:
        """Wait for the results."""
        self.wait()

    def result(self) -> Any:
        """The tensors that were written."""
        return self._result

    def source_rank(self) -> int:
        """The rank from which the message of a `recv` came."""
        return self.source

    _source_rank = source_rank

    def get_future(self) -> torch.futures.Future:
        """A future for the tensors, for callbacks and for DDP.

        DDP waits for it in C++, so the thread of the group writes the results. If they are parts of storages, this
        thread waits and writes them here.
        """
        if not all(map(is_whole, pytree.tree_leaves(self._result))):
            with contextlib.suppress(Exception):  # which the future has
                self.wait()
        with self._lock:
            if self._future is None:
                self._future = _Future(self)
                if self.has_finished:
                    self._write_results()
                    self._complete(self._future)
            return self._future


class _Future(torch.futures.Future):
    """A future whose callbacks run on the thread that adds them, after the call, which it waits for.

    They may call collectives, as in PowerSGD: on the thread of the group these would wait for themselves, and on any
    other thread they would run in another order on each rank. It costs such callbacks the overlap with computation. DDP
    adds none by itself.
    """

    def __init__(self, work: CollectiveWork) -> None:
        super().__init__()
        self._work = work

    def then(self, callback: Callable[[Any], Any]) -> Any:
        self._await()
        return super().then(callback)

    def add_done_callback(self, callback: Callable[[Any], Any]) -> None:
        self._await()
        super().add_done_callback(callback)

    def _await(self) -> None:
        with contextlib.suppress(Exception):  # which the callback receives
            self._work.wait()
            self.wait()


def finished(result: Any) -> CollectiveWork:
    """A call that has finished."""
    work = CollectiveWork(result, lambda: "a finished call")
    work.finish()
    return work
