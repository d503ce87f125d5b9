"""The threads of process groups: one per set of devices runs its collectives in order, and one monitors timeouts.

On the CPU, JAX computes a collective on the calling thread, which waits for the other ranks without being
interruptible. So collectives run on a separate thread, at the cost of two thread switches each.

All these threads must end before Python does: one that returns from C++ code during finalization aborts the process.
"""

from __future__ import annotations

import atexit
import functools
import os
import queue
import sys
import threading
import time
from collections.abc import Callable

from .work import CollectiveWork

Job = Callable[[], Callable[[], object] | None]  # computes results, and returns a function that writes them


class GroupThread(threading.Thread):
    """A thread of a process group, which is woken and joined when the process ends."""

    def __init__(self, name: str, run: Callable[[], None], wake: Callable[[], object]) -> None:
        super().__init__(target=run, name=name, daemon=True)
        self.wake = wake
        self.work: CollectiveWork | None = None  # the work that it is running in XLA
        _threads.append(self)


_threads: list[GroupThread] = []
_ending = threading.Event()
_process = os.getpid()


def is_ending() -> bool:
    """Whether the process is ending."""
    return _ending.is_set()


def end_thread_if_ending() -> None:
    """End this thread if it belongs to a process group and the process is ending; polling threads call this."""
    if _ending.is_set() and isinstance(threading.current_thread(), GroupThread):
        raise SystemExit


class Channel:
    """A thread that runs calls in the order in which they were submitted."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[tuple[CollectiveWork, Job] | None] = queue.SimpleQueue()
        self._process = os.getpid()
        self._thread = GroupThread("tenax collectives", self._run, wake=lambda: self.jobs.put(None))
        self._thread.start()

    def submit(self, work: CollectiveWork, job: Job) -> None:
        """Run a job after those submitted before it, and then finish the work with what it returns.

        Raises:
            RuntimeError: this process is a fork of the one with the thread.
        """
        if os.getpid() != self._process:
            raise RuntimeError(
                f"{work.description()}: in a forked subprocess, which has no part in the group; expected the 'spawn' "
                "start method, and init_process_group in each process"
            )
        self.jobs.put((work, job))

    def _run(self) -> None:
        while (submitted := self.jobs.get()) is not None:
            work, job = submitted
            self._thread.work = work
            try:
                work.finish(write=job())
            except Exception as error:
                work.finish(error)
            self._thread.work = None
            del submitted, work, job


class Monitor:
    """Checks the running calls of this process twice a second."""

    PERIOD = 0.5

    def __init__(self) -> None:
        self.checks: dict[CollectiveWork, Callable[[CollectiveWork], None]] = {}
        self.ticks: list[Callable[[], None]] = []
        self.wake = threading.Event()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="tenax collectives monitor", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stopped = True
        self.wake.set()
        self._thread.join(2)

    def watch(self, work: CollectiveWork, check: Callable[[CollectiveWork], None]) -> None:
        """Call `check` periodically until the work has finished; it may finish the work with an error."""
        self.checks[work] = check

    def _run(self) -> None:
        while not self._stopped:
            self.wake.wait(self.PERIOD)
            self.wake.clear()
            for work, check in list(self.checks.items()):
                if work.has_finished:
                    self.checks.pop(work, None)
                else:
                    check(work)
            for tick in list(self.ticks):
                tick()


@functools.cache
def monitor() -> Monitor:
    """The monitor of this process."""
    return Monitor()


_PATIENCE = 1.0  # seconds


def _end_threads() -> None:
    """Join the threads before Python ends, after their current calls.

    A thread that waits in XLA for other ranks, in a call that has finished with an error, cannot be stopped, and the
    shutdown of JAX would wait for it; in this case the process exits here.
    """
    if os.getpid() != _process:  # a fork has no threads, but their locks in the state of the fork
        return
    _ending.set()
    for thread in _threads:
        thread.wake()
    deadline = time.monotonic() + _PATIENCE
    while alive := [thread for thread in _threads if thread.is_alive()]:
        if any(thread.work is not None and not thread.work.has_finished for thread in alive):
            deadline = time.monotonic() + _PATIENCE
        elif time.monotonic() > deadline:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(1)
        time.sleep(0.01)
    if monitor.cache_info().currsize:
        monitor().stop()


atexit.register(_end_threads)
