"""The step, and its barrier, run by `xm.mark_step`, `torch_xla.sync` and the loaders at the end of a step.

In lazy mode (`tenax.lazy`, `TENAX_LAZY=1`) it runs the recorded operations, which eager mode has already run.
"""

from __future__ import annotations

import atexit
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from ..._lazy.mode import record_everywhere, record_nowhere, sync
from ...device.torch_jax import synchronize
from ...storage.recording import recording
from ..statistics import count, timed
from .collectives import reduce_gradients
from .settings import mode, refuse_variables

Closure = tuple[Callable[..., Any], tuple[Any, ...]]


class _Pending(threading.local):
    """The step closures of a thread, which run after its next barrier."""

    def __init__(self) -> None:
        self.now: list[Closure] = []
        self.later: list[Closure] = []


_pending = _Pending()


def mark_step(wait: bool = False, reset_scope: bool = True) -> None:
    """End the step: run the recorded operations, then the step closures in the order in which they were added.

    Args:
        wait: wait until the device has finished.
        reset_scope: not needed.

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


@contextmanager
def step() -> Iterator[None]:
    """A context manager for one step, which begins and ends with `mark_step()`."""
    mark_step()
    try:
        yield
    finally:
        mark_step()


def optimizer_step(
    optimizer: torch.optim.Optimizer,
    barrier: bool = False,
    optimizer_args: Mapping[str, Any] | None = None,
    groups: Any = None,
    pin_layout: bool = True,
) -> Any:
    """Average the gradients over the replicas, and step.

    Args:
        optimizer: an optimizer whose parameters are on the device.
        barrier: end the step with `mark_step`; loaders of `parallel_loader` do so themselves.
        optimizer_args: keyword arguments of `optimizer.step`.
        groups: lists of ordinals among which gradients are averaged.

    Returns:
        The result of `optimizer.step`.
    """
    reduce_gradients(optimizer, groups)
    loss = optimizer.step(**(optimizer_args or {}))
    if barrier:
        mark_step()
    return loss


def unlazy(tensors: Sequence[torch.Tensor]) -> None:
    """Run the recorded operations, so that the tensors have their values."""
    sync()


def set_replication(device: torch.device | str, devices: Sequence[torch.device | str]) -> None:
    """Do nothing: a process has one replica, on `device`, or with `xr.use_spmd()` on all of its devices.

    Raises:
        NotImplementedError: `devices` has several replicas.
    """
    if len(devices) > 1 and not mode.spmd:
        raise NotImplementedError(
            f"xm.set_replication: {len(devices)} devices; expected one in each process of torchrun"
        )


def optimization_barrier_(tensors: Sequence[torch.Tensor]) -> None:
    """Do nothing: XLA may fuse and move operations as in the rest of the program."""


def eager_mode(enable: bool) -> None:
    """Run operations when they are called, or record them until the end of the step."""
    (record_nowhere if enable else record_everywhere)()


def is_eager_mode() -> bool:
    """Whether operations run when they are called, and are not recorded by `install()`, `tenax xla` or `tenax.lazy`."""
    return recording.tape is None or recording.tape.ahead


@contextmanager
def eager_mode_context(enable: bool) -> Iterator[None]:
    """A context manager that sets `eager_mode(enable)` and restores the mode."""
    before = is_eager_mode()
    eager_mode(enable)
    try:
        yield
    finally:
        eager_mode(before)
