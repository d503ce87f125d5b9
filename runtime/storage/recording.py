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
