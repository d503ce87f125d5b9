"""The step barrier, run by `xm.mark_step`, `torch_xla.sync` and the loaders at the end of a step.

In lazy mode (`tenax.lazy`, `TENAX_LAZY=1`) it runs the recorded operations, which eager mode has already run.
"""

from __future__ import annotations

import atexit
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

from ..._lazy.mode import sync
from ...device.torch_jax import synchronize
from ..statistics import count, timed
from .reduced_precision import refuse_variables

Closure = tuple[Callable[..., Any], tuple[Any, ...]]


class _Pending(threading.local):
    """The step closures of a thread, which run after its next barrier."""

    def __init__(self) -> None:
        self.now: list[Closure] = []
        self.later: list[Closure] = []


_pending = _Pending()


def end_step(wait: bool = False) -> None:
    """End the step: run the recorded operations, then the step closures in the order in which they were added.

    Args:
        wait: wait until the device has finished.

    Raises:
        Exception: the exception of a closure, after which no further closures run.
    """
    refuse_variables()
    count("MarkStep")
    sync()
    if wait:
        with timed("ExecuteTime"):
            synchronize()
    _background.raise_failed()
    now, later = _pending.now, _pending.later
    _pending.now, _pending.later = [], []
    if later:
        _background.submit(later)
    for closure, args in now:
        closure(*args)


def add_step_closure(closure: Callable[..., Any], args: Sequence[Any] = (), run_async: bool = False) -> None:
    """Call a function once, after the next step barrier of this thread.

    Args:
        closure: the function.
        args: its arguments, which may contain tensors.
        run_async: call it in a background thread, after those already queued. Its exception is raised by a later
            barrier.
    """
    (_pending.later if run_async else _pending.now).append((closure, tuple(args)))


class _Background:
    """A thread that runs closures in order; if one raises, the rest of its step is skipped."""

    def __init__(self) -> None:
        self.queue: queue.Queue[list[Closure]] = queue.Queue()
        self.thread: threading.Thread | None = None
        self.errors: queue.Queue[BaseException] = queue.Queue()

    def submit(self, closures: list[Closure]) -> None:
        if self.thread is None:
            self.thread = threading.Thread(target=self._run, name="torch_xla step closures", daemon=True)
            self.thread.start()
            atexit.register(self.queue.join)  # queued closures run before the process ends
        self.queue.put(closures)

    def raise_failed(self) -> None:
        if not self.errors.empty():
            raise self.errors.get()

    def _run(self) -> None:
        while True:
            try:
                for closure, args in self.queue.get():
                    closure(*args)
            except BaseException as error:
                self.errors.put(error)
            finally:
                self.queue.task_done()


_background = _Background()
