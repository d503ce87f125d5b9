"""Ctrl-C while torch's C++ code calls the device guard.

The guard is a Python object. C++ functions that must not raise ask it for its type: before and after each operation
that autograd records, and for each node of a backward pass. On the way CPython handles signals, and a handler that
raises there ends the process. So Ctrl-C within torch's code becomes an exception that the interpreter raises at the
next instruction of a Python function. Elsewhere it does what it did.
"""

from __future__ import annotations

import ctypes
import functools
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import torch

_DEPTH = 256  # frames of the native stack


class _Info(ctypes.Structure):
    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def _within_torch(library: Any, folder: bytes) -> bool:
    """Whether a function of torch's libraries is on the native stack of this thread."""
    frames = (ctypes.c_void_p * _DEPTH)()
    info = _Info()
    for address in frames[: library.backtrace(frames, _DEPTH)]:
        found = library.dladdr(ctypes.c_void_p(address), ctypes.byref(info))
        if found and info.file and info.file.startswith(folder):
            return True
    return False


class _RaisedLater(dict[int, Any]):
    """Its look-up raises KeyboardInterrupt in the main thread, at a later instruction.

    The interpreter looks for such an exception after each call, but not after a look-up; so the function that ends
    with one returns first.
    """

    __missing__ = staticmethod(
        functools.partial(
            ctypes.pythonapi.PyThreadState_SetAsyncExc,
            ctypes.c_ulong(threading.main_thread().ident or 0),
            ctypes.py_object(KeyboardInterrupt),
        )
    )


def install() -> None:
    """Replace Python's own handler of SIGINT. A handler of the program stays."""
    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        return
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    library = ctypes.PyDLL(None)
    if not (hasattr(library, "backtrace") and hasattr(library, "dladdr")):
        return
    folder = bytes(Path(torch.__file__).parent / "lib")
    library.backtrace((ctypes.c_void_p * 1)(), 1)  # the first call loads the unwinder

    raise_later = _RaisedLater()
    busy: list[int] = []

    def handler(number: int, frame: Any) -> Any:
        if busy:  # within this function, which must not raise under torch
            return None
        busy.append(number)
        within = _within_torch(library, folder)
        busy.clear()
        return raise_later[number] if within else signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, handler)
