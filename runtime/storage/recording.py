"""Whether the operations of a thread are recorded (lazy mode), and by what."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class _Recording(threading.local):
    make: Callable[[], Any] = lambda: None  # called once in each thread

    def __init__(self) -> None:
        self.tape = type(self).make()  # a `Tape` of _lazy/tape.py; None in eager mode and while a function is traced


recording = _Recording()
