"""Start and end a recording of JAX's profiler.

The process is aborted if Python exits while a daemon thread is in one of these calls: Python ends the thread in the
middle of JAX's C++ code. The exit therefore waits for `calls`, and other threads can make no call afterwards.
"""

from __future__ import annotations

import atexit
import threading
from typing import Any

import jax

calls = threading.RLock()  # reentrant, so that the exit functions of a program may still end a recording
atexit.register(calls.acquire)
_exiting = threading.Event()
atexit.register(_exiting.set)  # runs first


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
