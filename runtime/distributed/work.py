"""Collectives that run: a thread for each set of devices carries them out in order, and a monitor watches their time.

On the CPU, JAX computes a collective on the thread that calls it, and waits there for the other ranks, which Python
cannot interrupt. So that thread is not the caller's, at the cost of two thread switches for each collective.
"""

from __future__ import annotations

import atexit
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from .errors import DistributedError


class CollectiveWork(dist.Work):
    """One call of a collective; `wait` returns when its results are in the tensors, or raises why they are not."""

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
        """End the call, with an error or without one; False if it had ended before."""
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
        """Whether the call has ended."""
        return self._done.is_set()

    def is_success(self) -> bool:
        """Whether the call has ended without an error."""
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
        """The rank that the message of a `recv` came from."""
        return self._source

    def _source_rank(self) -> int:
        return self._source

    def came_from(self, rank: int) -> None:
        """Note the rank that the message of a `recv` came from."""
        self._source = rank

    def get_future(self) -> torch.futures.Future:
        """A future of the tensors, for callbacks and for DDP."""
        with self._lock:
            if self._future is None:
                self._future = torch.futures.Future()
                if self._done.is_set():
                    self._complete(self._future)
            return self._future


def finished(result: Any) -> CollectiveWork:
    """A call that has ended."""
    work = CollectiveWork(result, lambda: "a finished call")
    work.finish()
    return work


class Channel:
    """A thread that runs calls in the order in which they were submitted."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[tuple[CollectiveWork, Callable[[], None]]] = queue.SimpleQueue()
        self.busy: CollectiveWork | None = None
        self._process = os.getpid()
        threading.Thread(target=self._run, name="tenax collectives", daemon=True).start()
        _channels.append(self)

    def submit(self, work: CollectiveWork, job: Callable[[], None]) -> None:
        """Run a job after those that were submitted before it; it ends the work.

        Raises:
            RuntimeError: this process is a fork of that of the thread.
        """
        if os.getpid() != self._process:
            raise RuntimeError(
                f"{work.description()}: in a forked subprocess, which has no part in the group; expected the 'spawn' "
                "start method, and init_process_group in each process"
            )
        self.jobs.put((work, job))

    def _run(self) -> None:
        while True:
            work, job = self.jobs.get()
            self.busy = work
            try:
                job()
                work.finish()
            except Exception as error:
                work.finish(error)
            self.busy = None
            del work, job


_channels: list[Channel] = []


class Monitor:
    """Looks twice a second at the calls of this process that last for more than a second."""

    PERIOD = 0.5

    def __init__(self) -> None:
        self.checks: dict[CollectiveWork, Callable[[CollectiveWork], None]] = {}
        self.ticks: list[Callable[[], None]] = []
        self.wake = threading.Event()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="tenax collectives monitor", daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    def stop(self) -> None:
        """End the thread. While Python ends, one that comes back from torch's C++ code would abort the process."""
        self._stopped = True
        self.wake.set()
        self._thread.join(2)

    def watch(self, work: CollectiveWork, check: Callable[[CollectiveWork], None]) -> None:
        """Call a function again and again while a work lasts; it may end the work with an error."""
        self.checks[work] = check

    def _run(self) -> None:
        while not self._stopped:
            self.wake.wait(self.PERIOD)
            self.wake.clear()
            for work, check in list(self.checks.items()):
                if work.is_completed():
                    self.checks.pop(work, None)
                else:
                    check(work)
            for tick in list(self.ticks):
                tick()


def _stuck() -> bool:
    """Whether a thread waits inside XLA for other ranks, in a call that has ended with an error."""
    return any(channel.busy is not None and channel.busy.is_completed() for channel in _channels)


def _end_stuck() -> None:
    """End the process here if a thread is stuck and stays so: the end of JAX would wait for it."""
    deadline = time.monotonic() + 1
    while _stuck():
        if time.monotonic() > deadline:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(1)
        time.sleep(0.01)


atexit.register(_end_stuck)
