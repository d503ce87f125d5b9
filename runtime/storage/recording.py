"""Whether the operations of a thread are recorded, and by what: in lazy mode, and while executables are compiled ahead
of need."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class _Recording(threading.local):
    make: Callable[[], Any] = lambda: None  # called once in each thread

    def __init__(self) -> None:
        self.tape = type(self).make()  # a `Tape` or an `AheadTape`; None in eager mode and in a trace


recording = _Recording()


def run_recorded() -> None:
    """Run what this thread has recorded, so that what it dispatches next comes after that."""
    if recording.tape is not None:
        recording.tape.flush()


def run_compiled_ahead() -> None:
    """Run what waits for its executable. What lazy mode has recorded stays recorded."""
    if recording.tape is not None and recording.tape.ahead:
        recording.tape.flush()
