"""The tape that records the operations of a thread: in lazy mode, or while executables compile in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class _Recording(threading.local):
    make: Callable[[], Any] = lambda: None  # called once in each thread

    def __init__(self) -> None:
        self.tape = type(self).make()  # a `Tape` or an `AheadTape`; None in eager mode and in a trace


recording = _Recording()


def records_programs() -> bool:
    """Whether the operations of this thread become parts of a larger program: it is in lazy mode."""
    return recording.tape is not None and not recording.tape.ahead


def run_recorded() -> None:
    """Run all recorded operations of this thread, so that they come before the ones it dispatches next."""
    if recording.tape is not None:
        recording.tape.flush()


def run_compiled_ahead() -> None:
    """Run operations that are waiting for their executables. Operations recorded by lazy mode stay recorded."""
    if recording.tape is not None and recording.tape.ahead:
        recording.tape.flush()
