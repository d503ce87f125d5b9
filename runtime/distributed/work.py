"""A call of a collective as torch's `Work`, which finishes when its results are in the tensors, or with an error."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from .errors import DistributedError


class CollectiveWork(dist.Work):
    """One call of a collective; `wait` returns when its results are in the tensors, or raises its error."""

    def __init__(self, result: Any, description: Callable[[], str]) -> None:
        super().__init__()
        self.description = description
        self.started = time.monotonic()
        self._result = result
        self._source = -1
        self._error: Exception | None = None
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._future: Any = None

    def finish(self, error: Exception | None = None) -> bool:
        """Finish the call, with or without an error; return False if it had already finished."""
        with self._lock:
            if self._done.is_set():
                return False
            self._error = error
            self._done.set()
            future = self._future
        if future is not None:
            self._complete(future)
        return True

    def _complete(self, future: Any) -> None:
        if self._error is not None:
            future.set_exception(self._error)
        else:
            future.set_result(self._result)

    def wait(self, timeout: Any = None) -> bool:
        """Wait for the results.

        Raises:
            DistBackendError: another rank ended, did not take part in time, or called something else.
        """
        seconds = timeout.total_seconds() if timeout else None
        if not self._done.wait(seconds or None):
            raise DistributedError(f"{self.description()}: not finished within the {seconds} s of wait()")
        if self._error is not None:
            raise self._error
        return True

    def is_completed(self) -> bool:
        """Whether the call has finished."""
        return self._done.is_set()

    def is_success(self) -> bool:
        """Whether the call has finished without an error."""
        return self._done.is_set() and self._error is None

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
        return self._source

    def _source_rank(self) -> int:
        return self._source

    def came_from(self, rank: int) -> None:
        """Record the rank from which the message of a `recv` came."""
        self._source = rank

    def get_future(self) -> torch.futures.Future:
        """A future for the tensors, for callbacks and for DDP."""
        with self._lock:
            if self._future is None:
                self._future = _Future(self)
                if self._done.is_set():
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
