"""Profile the device with JAX's profiler: operations have torch's names, and compiled programs also module names.

The process is aborted if Python exits while a daemon thread starts or ends a recording: Python ends the thread in the
middle of JAX's C++ code. The exit therefore waits for `calls`, and other threads can make no call afterwards.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax

from .device.torch_jax import synchronize

calls = threading.RLock()  # reentrant, so that the exit functions of a program may still end a recording
atexit.register(calls.acquire)
_exiting = threading.Event()
atexit.register(_exiting.set)  # runs first


@contextmanager
def trace(folder: str | Path, **options: Any) -> Iterator[None]:
    """Record host and device for TensorBoard or Perfetto: `with tenax.profiler.trace("folder"): ...`.

    Args:
        folder: the output folder.
        options: options of `jax.profiler.trace`, such as `create_perfetto_trace=True`.
    """
    start(str(folder), **options)
    try:
        yield
        with calls:
            synchronize()  # include all work that was started within the context
    finally:
        stop()


def start(folder: str, **options: Any) -> None:
    """Start recording, with options of `jax.profiler.start_trace`."""
    with calls:
        jax.profiler.start_trace(folder, **options)


def stop() -> None:
    """Write the recording."""
    with calls:
        jax.profiler.stop_trace()


def wait(seconds: float) -> None:
    """Wait, but not beyond the exit of Python."""
    _exiting.wait(seconds)
